"""HyP² against an independent version by loops, finite differences, and known codes."""

import numpy as np
import pytest
import torch

from softhash.training.methods import create
from softhash.training.methods.hyp2 import best_distance

BITS, CLASSES, N = 12, 6, 10
RNG = np.random.default_rng(2)
U = RNG.normal(size=(N, BITS))
LABELS = (RNG.random((N, CLASSES)) < 0.35).astype(int)
LABELS[3] = [1, 1, 0, 0, 0, 0]
LABELS[4] = [0, 0, 1, 1, 0, 0]
LABELS[5] = 0


def made(**settings):
    torch.manual_seed(0)
    return create("hyp2", BITS, CLASSES, **settings).double()


def cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


def reference(u, labels, proxies, alpha, beta, zeta):
    near, far, pairs = [], [], []
    for i in range(len(u)):
        for c in range(CLASSES):
            cos = cosine(u[i], proxies[c])
            near += [1 - cos] if labels[i, c] else []
            far += [] if labels[i, c] else [max(0, cos - zeta)]
        for j in range(len(u)):
            if min(labels[i].sum(), labels[j].sum()) > 1 and not labels[i] @ labels[j]:
                pairs.append(max(0, cosine(u[i], u[j]) - zeta))
    return np.mean(near) + alpha * np.mean(far) + beta * (np.mean(pairs) if pairs else 0)


@pytest.mark.parametrize(
    ("alpha", "beta", "margin"), [(1.0, 0.5, None), (0.3, 2.0, 0.1), (1.0, 1.0, -0.4)]
)
def test_value_is_that_of_the_reference(alpha, beta, margin):
    method = made(alpha=alpha, beta=beta, margin=margin)
    proxies = method.proxies.detach().numpy()
    expected = reference(U, LABELS, proxies, alpha, beta, method.margin)
    loss = method(torch.tensor(U), torch.tensor(LABELS), torch.arange(N))
    assert loss.item() == pytest.approx(expected, rel=1e-9)


def test_gradients_of_outputs_and_proxies_are_those_of_finite_differences():
    method = made(margin=-0.2)
    labels, index = torch.tensor(LABELS), torch.arange(N)

    def loss(u, proxies):
        parameters = {"proxies": proxies}
        return torch.func.functional_call(method, parameters, (u, labels, index))

    u = torch.tensor(U, requires_grad=True)
    assert torch.autograd.gradcheck(loss, (u, method.proxies))


def test_unrelated_pairs_are_pushed_apart_by_the_pair_term_alone():
    labels = torch.tensor([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0]])
    u = torch.ones(2, BITS, dtype=torch.double)
    index = torch.arange(2)
    without, with_it = (made(beta=beta)(u, labels, index).item() for beta in (0.0, 0.5))
    assert with_it - without == pytest.approx(0.5 * (1 - made().margin))
    labels[1, 0] = 1  # now they share a label
    without, with_it = (made(beta=beta)(u, labels, index).item() for beta in (0.0, 0.5))
    assert with_it == without


@pytest.mark.parametrize(
    ("bits", "classes", "distance"),
    [
        (7, 16, 3),  # Hamming
        (8, 16, 4),  # Hamming, extended
        (15, 16, 8),  # simplex
        (16, 32, 8),  # Reed–Muller
        (31, 32, 16),  # simplex
        (9, 32, 3),
        (10, 32, 4),
        (12, 32, 4),
        (13, 32, 5),
        (24, 32, 12),
        (3, 2, 3),  # repetition
        (5, 1, 5),
    ],
)
def test_distance_is_that_of_the_best_linear_codes(bits, classes, distance):
    assert best_distance(bits, classes) == distance


def test_margin_comes_from_the_distance():
    assert create("hyp2", 48, 20).margin == 0
    assert create("hyp2", 12, 20).margin == pytest.approx(1 / 3)
