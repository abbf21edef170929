"""IDHN and its ablations against an independent numpy version, and by finite differences."""

import numpy as np
import pytest
import torch

from softhash.training.methods import create

BITS = 12
RNG = np.random.default_rng(0)
U = RNG.uniform(-0.95, 0.95, (9, BITS))
LABELS = (RNG.random((9, 5)) < 0.4).astype(int)
LABELS[3] = LABELS[1]
LABELS[4] = 0


def reference(u, labels, name, alpha, gamma, lam):
    """The objective, pair by pair, in float64, written from the paper alone."""
    n, q = u.shape
    total = 0.0
    for i in range(n):
        for j in range(n):
            shared = float(labels[i] @ labels[j])
            norm = np.sqrt(labels[i].sum() * labels[j].sum())
            s = shared / norm if norm else 0.0
            if "coarse" in name:
                s = float(shared > 0)
            product = float(u[i] @ u[j])
            ce = np.log1p(np.exp(alpha * product)) - s * alpha * product
            mse = gamma * ((product + q) / 2 - s * q) ** 2
            hard = s < 0.01 or s > 0.99
            use_ce = "-ce" in name or ("mse" not in name and hard)
            total += ce if use_ce else mse
    quantisation = np.mean(np.abs(np.abs(u) - 1))
    return total / n**2 + lam * quantisation


NAMES = ["idhn", "idhn-fine-ce", "idhn-fine-mse", "idhn-coarse-ce", "idhn-coarse-mse"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("settings", [{}, {"alpha": 0.7, "gamma": 0.02, "lambda_": 0.5}])
def test_value_is_that_of_the_reference(name, settings):
    method = create(name, BITS, 5, **settings)
    loss = method(torch.tensor(U), torch.tensor(LABELS), torch.arange(9))
    chosen = {"alpha": 5 / BITS, "gamma": 0.1 / BITS, "lambda_": 0.1} | settings
    expected = reference(U, LABELS, name, chosen["alpha"], chosen["gamma"], chosen["lambda_"])
    assert loss.item() == pytest.approx(expected, rel=1e-6)  # the label cosine is float32


@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_that_of_finite_differences(name):
    method = create(name, BITS, 5)
    u = torch.tensor(U, requires_grad=True)
    method(u, torch.tensor(LABELS), torch.arange(9)).backward()
    step = 1e-6
    for i, k in ((0, 0), (3, 7), (4, 11), (8, 2)):
        moved = []
        for sign in (1, -1):
            v = U.copy()
            v[i, k] += sign * step
            moved.append(reference(v, LABELS, name, 5 / BITS, 0.1 / BITS, 0.1))
        slope = (moved[0] - moved[1]) / (2 * step)
        assert u.grad[i, k].item() == pytest.approx(slope, rel=1e-4, abs=1e-8)


def test_defaults_are_those_of_the_paper():
    assert create("idhn", 48, 20).settings() == {
        "alpha": 5 / 48,
        "gamma": 0.1 / 48,
        "lambda_": 0.1,
    }


def test_perfect_codes_of_hard_pairs_have_a_small_loss():
    """Opposite codes for pictures that share nothing, equal ones for those that share all."""
    labels = torch.tensor([[1, 0], [1, 0], [0, 1]])
    code = torch.ones(BITS)
    good = torch.stack([code, code, -code])
    bad = torch.stack([code, -code, code])
    method = create("idhn", BITS, 2)
    index = torch.arange(3)
    assert method(good, labels, index) < 0.01 < method(bad, labels, index)
