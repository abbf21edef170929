"""OrthoHash against an independent version by loops, and by finite differences."""

import numpy as np
import pytest
import torch

from softhash.training.methods import create

BITS, CLASSES, N = 16, 5, 9
RNG = np.random.default_rng(1)
U = RNG.normal(size=(N, BITS))
LABELS = (RNG.random((N, CLASSES)) < 0.5).astype(int)
LABELS[4] = 0
LABELS[5] = 1


def made(**settings):
    torch.manual_seed(0)
    return create("orthohash", BITS, CLASSES, **settings)


@pytest.mark.parametrize(("scale", "margin"), [(8.0, 0.2), (3.0, 0.5)])
def test_value_is_that_of_the_reference(scale, margin):
    method = made(scale=scale, margin=margin)
    centres = method.centres.double().numpy()
    total = 0.0
    for u, y in zip(U, LABELS, strict=True):
        logits = []
        for centre, has in zip(centres, y, strict=True):
            cosine = u @ centre / np.sqrt((u @ u) * (centre @ centre))
            logits.append(scale * (cosine - margin * has))
        chances = np.exp(logits) / np.exp(logits).sum()
        shares = y / y.sum() if y.sum() else np.full(CLASSES, 1 / CLASSES)
        total -= (shares * np.log(chances)).sum()
    loss = method(torch.tensor(U), torch.tensor(LABELS), torch.arange(N))
    assert loss.item() == pytest.approx(total / N, rel=1e-9)


def test_gradient_is_that_of_finite_differences():
    method, u = made(), torch.tensor(U, requires_grad=True)
    labels, index = torch.tensor(LABELS), torch.arange(N)
    assert torch.autograd.gradcheck(lambda u: method(u, labels, index), (u,))


def test_the_length_of_outputs_does_not_matter():
    method, labels = made(), torch.tensor(LABELS)
    losses = [method(k * torch.tensor(U), labels, torch.arange(N)).item() for k in (1, 10)]
    assert losses[0] == pytest.approx(losses[1])


def test_a_picture_of_one_class_has_its_smallest_loss_at_the_class_code():
    method = made()
    label, index = torch.eye(CLASSES)[:1], torch.arange(1)
    best = method(method.centres[:1], label, index)
    others = [method(method.centres[c : c + 1], label, index) for c in range(1, CLASSES)]
    noise = method(method.centres[:1] + 0.5 * torch.randn(1, BITS), label, index)
    assert best < min([*others, noise])
