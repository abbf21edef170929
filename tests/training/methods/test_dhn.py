"""DHN against float64 loops and finite differences."""

import numpy as np
import pytest
from finite_differences import loss_and_gradient, slopes

from softhash.training.methods import create

BITS = 8
RNG = np.random.default_rng(1)
U = RNG.uniform(-0.95, 0.95, (7, BITS))
LABELS = (RNG.random((7, 4)) < 0.4).astype(int)
LABELS[2] = 0


def reference(u, alpha, lam):
    total = 0.0
    for i, a in enumerate(u):
        for j, b in enumerate(u):
            similar = float(LABELS[i] @ LABELS[j] > 0)
            omega = alpha * float(a @ b)
            total += np.log(1 + np.exp(omega)) - similar * omega
    return total / len(u) ** 2 + lam * np.mean(np.log(np.cosh(np.abs(u) - 1)))


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.4, "lambda_": 2.0}])
def test_dhn_is_that_of_the_loops(settings):
    method = create("dhn", BITS, 4, **settings)
    alpha, lam = method.settings()["alpha"], method.settings()["lambda_"]
    loss, gradient = loss_and_gradient(method, U, LABELS)
    assert loss == pytest.approx(reference(U, alpha, lam), rel=1e-7)
    expected = slopes(lambda u: reference(u, alpha, lam), U)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-8)


def test_dhn_has_the_defaults_of_the_authors():
    assert create("dhn", 48, 20).settings()["alpha"] == 10 / 48
    assert create("dhn", 48, 20).activation == "tanh"
