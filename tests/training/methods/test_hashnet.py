"""HashNet against float64 loops and finite differences; its weights by counting; its β by hand."""

import math

import numpy as np
import pytest
import torch
from finite_differences import loss_and_gradient, slopes

from softhash import Hasher
from softhash.training.fit import fit_features
from softhash.training.methods import create, hashnet
from softhash.training.recipe import Recipe

BITS = 7
RNG = np.random.default_rng(4)
Z = RNG.normal(0, 1, (6, BITS))
TRAIN = (RNG.random((30, 5)) < 0.3).astype(int)
LABELS = TRAIN[:6]


def started(**settings):
    method = create("hashnet", BITS, 5, **settings)
    method.start(torch.tensor(TRAIN))
    return method


def reference(z, alpha, beta):
    counts = [0, 0]
    for a in TRAIN:
        for b in TRAIN:
            counts[int(a @ b > 0)] += 1
    u = np.tanh(beta * z)
    total = 0.0
    for i, a in enumerate(LABELS):
        for j, b in enumerate(LABELS):
            similar = int(a @ b > 0)
            jaccard = np.sum(a & b) / np.sum(a | b) if similar else 1.0
            omega = alpha * float(u[i] @ u[j])
            weight = jaccard * sum(counts) / counts[similar]
            total += weight * (np.log(1 + np.exp(omega)) - similar * omega)
    return total / len(z) ** 2


@pytest.mark.parametrize(("step", "beta"), [(0, 1.0), (20, 2**0.5), (480, 5.0), (1000, 51**0.5)])
def test_hashnet_is_that_of_the_loops_at_any_step_of_a_thousand(step, beta):
    method = started()
    method.plan(1000)
    method.step.fill_(step)
    loss, gradient = loss_and_gradient(method, Z, LABELS)
    assert loss == pytest.approx(reference(Z, 10 / BITS, beta), rel=1e-6)  # Jaccard is float32
    expected = slopes(lambda z: reference(z, 10 / BITS, beta), Z)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-7)


def test_beta_is_that_of_the_authors_at_the_same_share_of_their_run():
    """Their code has √(1 + 0.005·step) in a run of 10,000 steps."""
    method = started()
    method.plan(40)
    for step in range(40):
        assert float(method.beta()) == pytest.approx(math.sqrt(1 + 0.005 * 250 * step), rel=1e-6)
        method(torch.tensor(Z).float(), torch.tensor(LABELS), torch.arange(6))
    assert float(method.beta()) == pytest.approx(math.sqrt(51), rel=1e-6)


def test_a_head_trained_on_features_ends_at_the_last_beta(monkeypatch):
    steps = []
    finish = hashnet.HashNet.finish
    monkeypatch.setattr(
        hashnet.HashNet, "finish", lambda self, *rest: (steps.append(self), finish(self, *rest))
    )
    features = RNG.normal(0, 1, (30, 8)).astype(np.float32)
    recipe = Recipe(method="hashnet", bits=BITS, epochs=3, batch_size=10, hidden=4)
    hasher = Hasher.from_features(8, BITS)
    fit_features(hasher, features, TRAIN.astype(np.uint8), recipe=recipe)
    rows = int((TRAIN.sum(axis=1) > 0).sum())
    assert int(steps[0].step) == 3 * rows // 10
    assert float(steps[0].beta()) == pytest.approx(math.sqrt(51), rel=1e-6)


def test_pairs_are_counted_in_pieces(monkeypatch):
    whole = started().weights
    monkeypatch.setattr(hashnet, "COUNTED_AT_ONCE", 7)
    assert torch.equal(started().weights, whole)
