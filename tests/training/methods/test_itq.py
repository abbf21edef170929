"""ITQ: what the two steps promise."""

import numpy as np
import pytest
import torch

from softhash.model.heads import Head
from softhash.training.methods import create
from softhash.training.methods.itq import improved, quantisation_error

BITS = 8


def clusters(n=600, d=20):
    """Points about the corners of a turned cube, which principal directions alone do not find."""
    rng = np.random.default_rng(0)
    corners = rng.choice([-1.0, 1.0], (n, BITS))
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0][:BITS]
    return torch.tensor(corners @ turn + 0.1 * rng.standard_normal((n, d)) + 3)


def projections(x):
    x = x - x.mean(0)
    _, _, right = torch.linalg.svd(x, full_matrices=False)
    return x @ right[:BITS].T


def error(v, rotation):
    """‖sign(VR) − VR‖², number by number."""
    rotated = v.numpy() @ rotation.numpy()
    return sum(((1 if value > 0 else -1) - value) ** 2 for value in rotated.ravel())


def test_error_falls_at_every_iteration_and_ends_below_that_of_principal_directions():
    v = projections(clusters())
    rotation = torch.linalg.qr(torch.randn(BITS, BITS, dtype=torch.float64)).Q
    errors = []
    for _ in range(50):
        errors.append(float(quantisation_error(v, rotation)))
        rotation = improved(v, rotation)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(BITS), atol=1e-9)
    changes = np.diff(errors)
    assert (changes <= 1e-9 * errors[0]).all()
    assert errors[-1] < 0.6 * errors[0]
    assert errors[-1] < 0.8 * float(quantisation_error(v, torch.eye(BITS).double()))
    assert float(quantisation_error(v, rotation)) == pytest.approx(error(v, rotation))


def test_step_is_the_best_rotation_for_its_codes():
    v = projections(clusters())
    start = torch.eye(BITS).double()
    codes = torch.where(v @ start > 0, 1.0, -1.0).double()
    best = (codes - v @ improved(v, start)).square().sum()
    torch.manual_seed(0)
    for spread in (0.01, 0.1, 10.0):
        for _ in range(20):
            turned = improved(v, start) + spread * torch.randn(BITS, BITS).double()
            other = torch.linalg.qr(turned).Q
            other = other * torch.sign((other * turned).sum(0))
            assert best <= (codes - v @ other).square().sum() + 1e-9


def test_head_finds_the_corners():
    """The codes of a turned cube are those of its corners, up to the order and sign of bits."""
    x = clusters().float()
    method = create("itq", BITS, 1)
    head = Head(20, BITS, **method.head_options(0, 0.0))
    torch.manual_seed(1)
    method.fit_head(head, x, torch.zeros(len(x), 1))
    rng = np.random.default_rng(0)
    corners = rng.choice([-1.0, 1.0], (600, BITS))
    agreement = np.abs(np.sign(head(x).detach().numpy()).T @ corners) / 600
    assert (agreement.max(axis=1) > 0.95).all()
    np.testing.assert_array_equal(np.sort(agreement.argmax(axis=1)), np.arange(BITS))


def test_more_bits_than_features_all_carry_something():
    x = torch.randn(200, 5)
    method = create("itq", 32, 1)
    head = Head(5, 32, **method.head_options(0, 0.0))
    method.fit_head(head, x, torch.zeros(200, 1))
    on = (head(x) > 0).float().mean(0)
    assert ((on > 0.1) & (on < 0.9)).all()
    np.testing.assert_allclose(
        (head.output.weight.T @ head.output.weight).detach(), np.eye(5), atol=1e-5
    )
