"""HashNet against float64 loops and finite differences; its weights by counting; its β by hand."""

import math

import numpy as np
import pytest
import torch
from finite_differences import loss_and_gradient, slopes

from softhash.training.methods import create, hashnet

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


@pytest.mark.parametrize(("step", "beta"), [(0, 1.0), (199, 1.0), (200, 2**0.5), (650, 2.0)])
def test_hashnet_is_that_of_the_loops_at_any_step(step, beta):
    method = started()
    method.step.fill_(step)
    loss, gradient = loss_and_gradient(method, Z, LABELS)
    assert loss == pytest.approx(reference(Z, 10 / BITS, beta), rel=1e-6)  # Jaccard is float32
    expected = slopes(lambda z: reference(z, 10 / BITS, beta), Z)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-7)


def test_beta_is_renewed_every_so_many_steps():
    method = started(growth=0.5, renewed=2)
    betas = []
    for _ in range(5):
        betas.append(float(method.beta()))
        method(torch.tensor(Z).float(), torch.tensor(LABELS), torch.arange(6))
    assert betas == pytest.approx([1, 1, math.sqrt(2), math.sqrt(2), math.sqrt(3)])


def test_pairs_are_counted_in_pieces(monkeypatch):
    whole = started().weights
    monkeypatch.setattr(hashnet, "COUNTED_AT_ONCE", 7)
    assert torch.equal(started().weights, whole)
