"""CNNH: its factorisation by enumeration and against numpy, and its regression by hand."""

import numpy as np
import pytest
import torch
from finite_differences import loss_and_gradient, slopes

from softhash.training.methods import create
from softhash.training.methods._factorisation import factorise

BITS, ITEMS = 5, 14
RNG = np.random.default_rng(7)
LABELS = (RNG.random((ITEMS, 4)) < 0.4).astype(int)
LABELS[5] = LABELS[6] = 0


def signs():
    return RNG.choice([-1, 1], (ITEMS, BITS))


def objective(h):
    similarity = np.where(LABELS @ LABELS.T > 0, 1, -1)
    return np.sum((similarity - h @ h.T / h.shape[1]) ** 2)


def test_no_sweep_raises_the_objective():
    for _ in range(20):
        h = signs()
        values = [objective(h)]
        for _ in range(6):
            h = factorise(LABELS, h, sweeps=1)
            values.append(objective(h))
        assert (np.diff(values) <= 1e-9).all()
        assert values[-1] < values[0]


def test_codes_settle_where_no_single_bit_can_be_bettered():
    h = factorise(LABELS, signs(), sweeps=100)
    assert set(np.unique(h)) == {-1, 1}
    for place in np.ndindex(h.shape):
        turned = h.copy()
        turned[place] *= -1
        assert objective(turned) >= objective(h) - 1e-9


def test_a_sweep_is_that_of_one_entry_after_the_other():
    """Each entry in turn, column by column, takes the sign with the lower objective."""
    start = signs()
    h = start.copy()
    for j in range(BITS):
        for i in range(ITEMS):
            turned = h.copy()
            turned[i, j] *= -1
            if objective(turned) < objective(h) - 1e-9:
                h = turned
    np.testing.assert_array_equal(factorise(LABELS, start, sweeps=1), h)


def test_two_kinds_of_pictures_are_factorised_without_error():
    labels = np.repeat(np.eye(2, dtype=int), 6, axis=0)
    h = factorise(labels, RNG.choice([-1, 1], (12, 3)), sweeps=50)
    assert (h @ h.T / 3 == np.where(labels @ labels.T > 0, 1, -1)).all()


def test_cnnh_regresses_the_codes_of_the_batch():
    torch.manual_seed(0)
    method, batch = create("cnnh", BITS, 4), np.array([9, 0, 5])
    method.start(torch.tensor(LABELS))
    h, u = method.codes.numpy(), RNG.uniform(-0.9, 0.9, (3, BITS))

    def reference(v):
        return np.mean([(v[i, k] - h[batch[i], k]) ** 2 for i in range(3) for k in range(BITS)])

    loss, gradient = loss_and_gradient(method, u, LABELS[batch], batch)
    assert loss == pytest.approx(reference(u), rel=1e-9)
    np.testing.assert_allclose(gradient, slopes(reference, u), rtol=1e-6, atol=1e-9)
