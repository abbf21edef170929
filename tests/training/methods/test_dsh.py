"""DSH against float64 loops and finite differences."""

import numpy as np
import pytest
from finite_differences import loss_and_gradient, slopes

from softhash.training.methods import create

BITS = 6
RNG = np.random.default_rng(2)
U = RNG.normal(0, 1.2, (8, BITS))
LABELS = (RNG.random((8, 4)) < 0.35).astype(int)


def reference(u, margin, alpha):
    """The paper's sum over pairs, divided by their number."""
    total = 0.0
    for i, a in enumerate(u):
        for j, b in enumerate(u):
            distance = np.sum((a - b) ** 2)
            similar = LABELS[i] @ LABELS[j] > 0
            total += distance / 2 if similar else max(margin - distance, 0) / 2
            total += alpha * (np.sum(np.abs(np.abs(a) - 1)) + np.sum(np.abs(np.abs(b) - 1)))
    return total / len(u) ** 2


@pytest.mark.parametrize("settings", [{}, {"margin": 30.0, "alpha": 0.3}, {"margin": 3.0}])
def test_dsh_is_that_of_the_loops(settings):
    method = create("dsh", BITS, 4, **settings)
    chosen = {"margin": 2 * BITS, "alpha": 0.1} | settings
    loss, gradient = loss_and_gradient(method, U, LABELS)
    assert loss == pytest.approx(reference(U, **chosen), rel=1e-9)
    expected = slopes(lambda u: reference(u, **chosen), U)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-8)


def test_dsh_leaves_dissimilar_pairs_alone_beyond_the_margin():
    code = np.ones(BITS)
    far = np.stack([code, -code])  # 4q apart, where the margin is 2q
    loss, gradient = loss_and_gradient(create("dsh", BITS, 2), far, np.eye(2, dtype=int))
    assert loss == 0
    assert (gradient == 0).all()
