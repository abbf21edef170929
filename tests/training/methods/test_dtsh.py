"""DTSH against float64 loops and finite differences."""

import numpy as np
import pytest
from finite_differences import loss_and_gradient, slopes
from test_triplets import LABELS, walk

from softhash.training.methods import create

BITS = 6
U = np.random.default_rng(1).normal(0, 1.2, (len(LABELS), BITS))


def reference(u, alpha, lambda_):
    """The mean over queries of the mean over their triplets, and the quantisation."""
    by_query = {}
    for q, p, n in walk(LABELS):
        x = u[q] @ u[p] / 2 - u[q] @ u[n] / 2 - alpha
        by_query.setdefault(q, []).append(-np.log(1 / (1 + np.exp(-x))))
    quantisation = np.mean([np.sum((np.sign(row) - row) ** 2) for row in u])
    return np.mean([np.mean(of) for of in by_query.values()]) + lambda_ * quantisation


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.5, "lambda_": 0.7}])
def test_dtsh_is_that_of_the_loops(settings):
    chosen = {"alpha": BITS / 2, "lambda_": 0.02} | settings
    loss, gradient = loss_and_gradient(create("dtsh", BITS, 4, **settings), U, LABELS)
    assert loss == pytest.approx(reference(U, **chosen), rel=1e-9)
    expected = slopes(lambda u: reference(u, **chosen), U)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-8)


def test_dtsh_stands_large_outputs():
    """A likelihood of 0 in floating point costs as much as its exponent says."""
    labels = np.array([[1, 0], [1, 0], [0, 1]])
    u = np.array([[100.0], [-100.0], [100.0]]).repeat(BITS, axis=1)
    loss, gradient = loss_and_gradient(create("dtsh", BITS, 2, lambda_=0.0), u, labels)
    wrong = 1e4 * BITS + BITS / 2  # of (0, 1, 2); of (1, 0, 2), Θ_qp = Θ_qn
    assert loss == pytest.approx((wrong + np.log1p(np.exp(BITS / 2))) / 2)
    assert np.isfinite(gradient).all()
