"""DNNH against float64 loops and finite differences."""

import numpy as np
import pytest
import torch
from finite_differences import loss_and_gradient, slopes
from test_triplets import LABELS, walk

from softhash.training.methods import create

BITS = 6
U = np.random.default_rng(1).uniform(-0.95, 0.95, (len(LABELS), BITS))


def reference(u, margin, epsilon):
    """The mean over anchors of the mean hinge over their triplets."""
    f = np.array([[threshold((x + 1) / 2, epsilon) for x in row] for row in u])
    by_anchor = {}
    for a, p, n in walk(LABELS):
        nearer = np.sum((f[a] - f[n]) ** 2) - np.sum((f[a] - f[p]) ** 2)
        by_anchor.setdefault(a, []).append(max(0.0, margin - nearer))
    return np.mean([np.mean(of) for of in by_anchor.values()])


def threshold(share, epsilon):
    """The paper's piece-wise function."""
    if share < 0.5 - epsilon:
        return 0.0
    return 1.0 if share > 0.5 + epsilon else share


@pytest.mark.parametrize("settings", [{}, {"margin": 0.3}, {"epsilon": 0.3}])
def test_dnnh_is_that_of_the_loops(settings):
    chosen = {"margin": 1.0, "epsilon": 0.5} | settings
    loss, gradient = loss_and_gradient(create("dnnh", BITS, 4, **settings), U, LABELS)
    assert loss == pytest.approx(reference(U, **chosen), rel=1e-9)
    expected = slopes(lambda u: reference(u, **chosen), U)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-8)


def test_dnnh_counts_bits_of_binary_codes():
    """A negative that is one bit farther away is far enough, and one as near costs a bit."""
    labels = torch.tensor([[1, 0], [1, 0], [0, 1]])
    near = torch.tensor([[1.0, 1, 1], [1, 1, -1], [-1, -1, 1]])
    method = create("dnnh", 3, 2)
    assert method(near, labels, torch.arange(3)) == 0
    tied = torch.tensor([[1.0, 1, 1], [1, 1, -1], [1, -1, 1]])
    assert method(tied, labels, torch.arange(3)) == 0.5  # the mean of 1, of (0, 1, 2), and 0
