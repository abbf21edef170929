"""DLBHC against float64 loops and finite differences."""

import numpy as np
import pytest
import torch
from finite_differences import loss_and_gradient, slopes

from softhash.training.methods import create

BITS, CLASSES = 5, 3
RNG = np.random.default_rng(3)
U = RNG.normal(0, 1, (6, BITS))
LABELS = (RNG.random((6, CLASSES)) < 0.4).astype(int)


def reference(u, weight, bias):
    total = 0.0
    for i, row in enumerate(u):
        h = 1 / (1 + np.exp(-row))
        for c in range(CLASSES):
            p = 1 / (1 + np.exp(-(weight[c] @ h + bias[c])))
            total -= np.log(p if LABELS[i, c] else 1 - p)
    return total / (len(u) * CLASSES)


def test_dlbhc_is_that_of_the_loops_and_so_is_its_classifier():
    torch.manual_seed(0)
    method = create("dlbhc", BITS, CLASSES)
    loss, gradient = loss_and_gradient(method, U, LABELS)
    classifier = method.classifier
    weight, bias = classifier.weight.detach().numpy(), classifier.bias.detach().numpy()
    assert loss == pytest.approx(reference(U, weight, bias), rel=1e-9)
    expected = slopes(lambda u: reference(u, weight, bias), U)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-9)
    expected = slopes(lambda w: reference(U, w, bias), weight)
    np.testing.assert_allclose(classifier.weight.grad.numpy(), expected, rtol=1e-5, atol=1e-9)


def test_dlbhc_cuts_its_sigmoids_at_a_half():
    """A head without an activation has the sign of h − 0.5."""
    options = create("dlbhc", BITS, CLASSES).head_options(hidden=1024, dropout=0.5)
    assert options == {"hidden": 0, "dropout": 0.5, "activation": "identity"}
    assert ((1 / (1 + np.exp(-U)) >= 0.5) == (U >= 0)).all()
