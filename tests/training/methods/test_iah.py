"""IAH against float64 loops and finite differences."""

import numpy as np
import pytest
import torch
from finite_differences import loss_and_gradient, slopes
from test_triplets import LABELS, walk

from softhash.training.methods import create
from softhash.training.methods.iah import class_groups

BITS, CLASSES = 6, LABELS.shape[1]
U = np.random.default_rng(2).uniform(-0.95, 0.95, (len(LABELS), BITS))
OWN = [[0], [1, 2], [3], [4, 5]]  # of four classes, six bits


def created(**settings):
    torch.manual_seed(0)
    return create("iah", BITS, CLASSES, **settings).double()


def reference(u, weight, bias, margin, gamma):
    """Means over each anchor's weighted triplets, and the classes by their own bits."""
    f, by_anchor = (u + 1) / 2, {}
    for a, i, j in walk(LABELS):
        r_i, r_j = LABELS[a] @ LABELS[i], LABELS[a] @ LABELS[j]
        hinge = max(0.0, margin + ((f[a] - f[i]) ** 2).sum() - ((f[a] - f[j]) ** 2).sum())
        by_anchor.setdefault(a, []).append((2.0**r_i - 2.0**r_j, hinge))
    ranking = np.mean([np.average([h for _, h in of], weights=[w for w, _ in of])
                       for of in by_anchor.values()])  # fmt: skip
    classes = 0.0
    for row, y in zip(u, LABELS, strict=True):
        for c, own in enumerate(OWN):
            p = 1 / (1 + np.exp(-(sum(weight[c, bit] * row[bit] for bit in own) + bias[c])))
            classes -= np.log(p if y[c] else 1 - p) / LABELS.size
    return ranking + gamma * classes


@pytest.mark.parametrize("settings", [{}, {"margin": 0.3, "gamma": 4.0}])
def test_iah_is_that_of_the_loops(settings):
    chosen = {"margin": 1.0, "gamma": 0.1} | settings
    method = created(**settings)
    weight, bias = (p.detach().numpy() for p in method.classifier.parameters())
    loss, gradient = loss_and_gradient(method, U, LABELS)
    assert loss == pytest.approx(reference(U, weight, bias, **chosen), rel=1e-6)
    expected = slopes(lambda u: reference(u, weight, bias, **chosen), U)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-7)


def test_gradients_of_the_classifier_are_those_of_finite_differences():
    method = created(gamma=1.0)
    weight, bias = (p.detach().numpy().copy() for p in method.classifier.parameters())
    loss_and_gradient(method, U, LABELS)
    found = method.classifier.weight.grad.numpy()
    expected = slopes(lambda w: reference(U, w, bias, 1.0, 1.0), weight)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-8)
    others = np.ones_like(found, dtype=bool)
    for c, own in enumerate(OWN):
        others[c, own] = False
    assert not found[others].any()


@pytest.mark.parametrize(("bits", "classes"), [(48, 20), (12, 5), (12, 38), (1, 20), (7, 7)])
def test_every_class_has_bits_and_every_bit_a_class(bits, classes):
    groups = class_groups(bits, classes)
    sizes = groups.sum(dim=1)
    assert groups.sum(dim=0).min() >= 1
    assert sizes.min() >= max(bits // classes, 1)
    assert sizes.max() <= -(-bits // classes)
    if bits >= classes:
        assert (groups.sum(dim=0) == 1).all()
