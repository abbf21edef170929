"""The reconstruction of DMSSPH against float64 loops and finite differences."""

import numpy as np
import pytest
from finite_differences import loss_and_gradient, slopes

from softhash.training.methods import create, describe

BITS = 6
RNG = np.random.default_rng(8)
U = RNG.normal(0, 1.2, (8, BITS))
LABELS = (RNG.random((8, 4)) < 0.4).astype(int)
LABELS[1] = LABELS[0]


def reference(u, margin, alpha):
    total = 0.0
    for i, a in enumerate(u):
        for j, b in enumerate(u):
            distance = np.sum((a - b) ** 2)
            shared = LABELS[i] @ LABELS[j]
            if shared:
                s = shared / np.sqrt(LABELS[i].sum() * LABELS[j].sum())
                total += max(distance - margin * (1 - s), 0) / 2
            else:
                total += max(margin - distance, 0) / 2
            total += alpha * (np.sum(np.abs(np.abs(a) - 1)) + np.sum(np.abs(np.abs(b) - 1)))
    return total / len(u) ** 2


@pytest.mark.parametrize("settings", [{"alpha": 0.2}, {"margin": 30.0, "alpha": 0.0}])
def test_dmssph_is_that_of_the_loops(settings):
    method = create("dmssph", BITS, 4, **settings)
    chosen = {"margin": 2 * BITS} | settings
    loss, gradient = loss_and_gradient(method, U, LABELS)
    assert loss == pytest.approx(reference(U, **chosen), rel=1e-6)  # the cosine is float32
    expected = slopes(lambda u: reference(u, **chosen), U)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)


def test_dmssph_says_what_it_is():
    assert "a reconstruction" in describe()["dmssph"]
