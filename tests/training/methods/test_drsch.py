"""DRSCH against float64 loops and finite differences."""

import numpy as np
import pytest
import torch
from finite_differences import loss_and_gradient, slopes
from test_triplets import LABELS, walk

from softhash.training.methods import create

BITS = 6
U = np.random.default_rng(1).uniform(-0.95, 0.95, (len(LABELS), BITS))
W = np.random.default_rng(2).uniform(0.5, 1.5, (1, BITS))


def reference(u, w, margin, lambda_):
    """The mean over anchors of the mean hinge, and the Laplacian as a product of matrices."""
    v = w * (u + 1) / 2
    by_anchor = {}
    for a, p, n in walk(LABELS):
        further = np.sum((v[a] - v[p]) ** 2) - np.sum((v[a] - v[n]) ** 2)
        by_anchor.setdefault(a, []).append(max(0.0, margin + further))
    s = (LABELS @ LABELS.T > 0).astype(float)
    laplacian = np.trace(v.T @ (np.diag(s.sum(axis=1)) - s) @ v) / len(u) ** 2
    return np.mean([np.mean(of) for of in by_anchor.values()]) + lambda_ * laplacian


@pytest.mark.parametrize("settings", [{}, {"margin": 1.5, "lambda_": 0.6}])
def test_drsch_is_that_of_the_loops(settings):
    chosen = {"margin": 5 * BITS / 64, "lambda_": 0.01} | settings
    method = create("drsch", BITS, 4, **settings).double()
    with torch.no_grad():
        method.weights.copy_(torch.tensor(W[0]))
    loss, gradient = loss_and_gradient(method, U, LABELS)
    assert loss == pytest.approx(reference(U, W, **chosen), rel=1e-9)
    for found, expected in (
        (gradient, slopes(lambda u: reference(u, W, **chosen), U)),
        (method.weights.grad.numpy()[None], slopes(lambda w: reference(U, w, **chosen), W)),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)


def test_drsch_laplacian_alone_draws_pictures_that_share_a_label_together():
    labels = np.array([[1, 0], [1, 0], [0, 1]])
    u = np.array([[0.5], [-0.5], [0.1]])
    method = create("drsch", 1, 2, margin=-1e9, lambda_=1.0)  # no triplet costs anything
    _, gradient = loss_and_gradient(method, u, labels)
    assert gradient[0] > 0 > gradient[1]
    assert gradient[2] == 0
