"""CSQ against an independent version by loops, and by finite differences."""

import numpy as np
import pytest
import torch

from softhash.training.methods import create

BITS, CLASSES, N = 12, 5, 9
RNG = np.random.default_rng(0)
U = RNG.uniform(-0.95, 0.95, (N, BITS))
LABELS = (RNG.random((N, CLASSES)) < 0.5).astype(int)
LABELS[4] = 0
LABELS[5] = 1


def made(**settings):
    torch.manual_seed(0)
    return create("csq", BITS, CLASSES, **settings)


def target(label, centres, ties):
    """The bitwise majority, vote by vote."""
    code = []
    for k in range(BITS):
        ones = sum(centres[c][k] > 0 for c in range(CLASSES) if label[c])
        zeros = sum(centres[c][k] < 0 for c in range(CLASSES) if label[c])
        code.append(1 if ones > zeros else 0 if zeros > ones else int(ties[k] > 0))
    return code


@pytest.mark.parametrize("lambda_", [0.05, 0.7])
def test_value_is_that_of_the_reference(lambda_):
    method = made(lambda_=lambda_)
    centres, ties = method.centres.tolist(), method.ties.tolist()
    total = 0.0
    for u, label in zip(U, LABELS, strict=True):
        for k, bit in enumerate(target(label, centres, ties)):
            p = (u[k] + 1) / 2
            total -= bit * np.log(p) + (1 - bit) * np.log(1 - p)
            total += lambda_ * (abs(u[k]) - 1) ** 2
    loss = method(torch.tensor(U), torch.tensor(LABELS), torch.arange(N))
    assert loss.item() == pytest.approx(total / U.size, rel=1e-9)


def test_gradient_is_that_of_finite_differences():
    method, u = made(), torch.tensor(U, requires_grad=True)
    labels, index = torch.tensor(LABELS), torch.arange(N)
    assert torch.autograd.gradcheck(lambda u: method(u, labels, index), (u,))


def test_the_centre_of_one_class_is_the_target_of_its_pictures():
    method = made()
    assert torch.equal(method.targets(torch.eye(CLASSES)), method.centres)


def test_ties_fall_the_same_way_each_time():
    method = made()
    pair = torch.zeros(1, CLASSES)
    pair[0, :2] = 1
    agree = method.centres[0] == method.centres[1]
    assert not agree.all()
    expected = torch.where(agree, method.centres[0], method.ties)
    assert torch.equal(method.targets(pair)[0], expected)
    assert {"centres", "ties"} <= set(method.state_dict())


def test_saturated_wrong_bits_have_a_finite_loss():
    method = made()
    wrong = -method.targets(torch.tensor(LABELS))
    assert torch.isfinite(method(wrong, torch.tensor(LABELS), torch.arange(N)))
