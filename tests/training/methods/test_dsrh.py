"""DSRH against float64 loops and finite differences."""

import numpy as np
import pytest
from finite_differences import loss_and_gradient, slopes
from test_triplets import LABELS, walk

from softhash.training.methods import create

BITS = 6
U = np.random.default_rng(1).uniform(-0.95, 0.95, (len(LABELS), BITS))


def reference(u, rho, alpha):
    """The sum over each query's triplets, weighted, and the balance of bits."""
    n, total = len(u), 0.0
    for q, i, j in walk(LABELS):
        r = [int(LABELS[q] @ LABELS[k]) for k in range(n)]
        gains = sorted((2.0 ** r[k] - 1 for k in range(n) if k != q), reverse=True)
        z = sum(g / np.log2(2 + rank) for rank, g in enumerate(gains))
        hinge = max(0.0, (u[q] @ u[j] - u[q] @ u[i]) / 2 + rho)
        total += (2.0 ** r[i] - 2.0 ** r[j]) / z * hinge
    return total / n / (n - 1) + alpha / 2 * np.sum(u.mean(axis=0) ** 2)


@pytest.mark.parametrize("settings", [{}, {"rho": 2.0, "alpha": 3.0}])
def test_dsrh_is_that_of_the_loops(settings):
    chosen = {"rho": 5 * BITS / 64, "alpha": 0.01} | settings
    loss, gradient = loss_and_gradient(create("dsrh", BITS, 4, **settings), U, LABELS)
    assert loss == pytest.approx(reference(U, **chosen), rel=1e-6)  # weights are float32
    expected = slopes(lambda u: reference(u, **chosen), U)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-8)


def test_dsrh_bounds_what_binary_codes_lack_in_weighted_order():
    """With ρ = 1 every pair in the wrong order, or tied, costs its weight or more."""
    u = np.sign(U)
    n, wrong = len(u), 0.0
    for q, i, j in walk(LABELS):
        r = LABELS @ LABELS[q]
        z = sum(g / np.log2(2 + k) for k, g in enumerate(sorted(2.0 ** np.delete(r, q) - 1)[::-1]))
        wrong += (2.0 ** r[i] - 2.0 ** r[j]) / z * (u[q] @ u[i] <= u[q] @ u[j])
    loss, _ = loss_and_gradient(create("dsrh", BITS, 4, rho=1.0, alpha=0.0), u, LABELS)
    assert loss >= wrong / n / (n - 1) > 0
