"""DQN against an independent version by loops; what it keeps, and what it hands to the head."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from softhash.model.heads import make_head
from softhash.model.quantiser import assign, reconstruct
from softhash.training.methods import create

BITS, CLASSES, N, WIDTH = 12, 5, 30, 24
RNG = np.random.default_rng(3)
Z = RNG.uniform(-0.9, 0.9, (N, WIDTH))
LABELS = (RNG.random((N, CLASSES)) < 0.4).astype(int)
LABELS[4] = 0


def started(**settings):
    torch.manual_seed(0)
    method = create("dqn", BITS, CLASSES, embedding=WIDTH, words=8, **settings)
    method.start(torch.tensor(LABELS))
    return method


def pair_loss(z, labels):
    total = 0.0
    for i in range(len(z)):
        for j in range(len(z)):
            s = 1 if labels[i] @ labels[j] else -1
            cos = z[i] @ z[j] / np.sqrt((z[i] @ z[i]) * (z[j] @ z[j]))
            total += (s - cos) ** 2
    return total / len(z) ** 2


def test_value_before_and_after_the_first_codebooks():
    method, index = started(lambda_=0.3), torch.arange(N)
    inputs = torch.tensor(Z), torch.tensor(LABELS), index
    pairs = pair_loss(Z, LABELS)
    assert method(*inputs).item() == pytest.approx(pairs, rel=1e-6)
    method.epoch()
    books, codes = method.codebooks.double().numpy(), method.codes.numpy()
    words = np.array([[books[m, codes[i, m]] for m in range(len(books))] for i in range(N)])
    error = ((Z - words.sum(1)) ** 2).sum(1).mean()
    assert error > 0.1
    assert method(*inputs).item() == pytest.approx(pairs + 0.3 * error, rel=1e-5)


def test_gradient_is_that_of_finite_differences():
    method, z = started(lambda_=0.3), torch.tensor(Z, requires_grad=True)
    labels, index = torch.tensor(LABELS), torch.arange(N)
    method(z, labels, index)
    method.epoch()
    assert torch.autograd.gradcheck(lambda z: method(z, labels, index), (z,))


def test_pictures_not_seen_yet_have_no_target():
    method, half = started(lambda_=1.0), N // 2
    z, labels = torch.tensor(Z), torch.tensor(LABELS)
    method(z[:half], labels[:half], torch.arange(half))
    method.epoch()
    rest = method(z[half:], labels[half:], torch.arange(half, N)).item()
    assert rest == pytest.approx(pair_loss(Z[half:], LABELS[half:]), rel=1e-6)


def test_epochs_do_not_raise_the_error_while_vectors_stay():
    method = started()
    method(torch.tensor(Z), torch.tensor(LABELS), torch.arange(N))
    errors = []
    for _ in range(6):
        method.epoch()
        errors.append((method.vectors - method.targets).square().sum().item())
    assert all(later <= before * (1 + 1e-5) for before, later in pairwise(errors))
    assert errors[-1] < errors[0]


def test_buffers_are_changed_in_place():
    """A captured step reads them from where they were when it was captured."""
    method = started()
    places = {name: buffer.data_ptr() for name, buffer in method.named_buffers()}
    method(torch.tensor(Z), torch.tensor(LABELS), torch.arange(N))
    method.epoch()
    assert places == {name: buffer.data_ptr() for name, buffer in method.named_buffers()}


def test_the_head_gets_codebooks_for_its_own_vectors():
    method = started()
    head = make_head(7, BITS, **method.head_options(hidden=99, dropout=0.5)).eval()
    features = torch.randn(N, 7) * 30
    method.finish(head, lambda: features)
    z = head.embed(features)
    error = (z - reconstruct(assign(z, head.codebooks), head.codebooks)).square().sum()
    assert error < 0.3 * (z - z.mean(0)).square().sum()
    bits = head(features)
    assert bits.shape == (N, BITS)
    assert set(bits.unique().tolist()) == {-1.0, 1.0}


@pytest.mark.parametrize(("bits", "words"), [(12, 64), (24, 64), (36, 64), (48, 64), (32, 256)])
def test_codebooks_fill_the_bits(bits, words):
    method = create("dqn", bits, CLASSES)
    assert method.settings() == {"lambda_": 1e-4, "embedding": 300, "words": words}
    assert words ** len(method.codebooks) == 2**bits
    assert method.ranking == "quantiser"
