"""MLH: its inference against all codes, its bound, its step by finite differences."""

from itertools import product

import numpy as np
import pytest
import torch

from softhash.model.heads import Head
from softhash.training.methods import create
from softhash.training.methods.mlh import descent, worst_codes

RNG = np.random.default_rng(0)


def cost(m, similar, bits, rho, lam):
    """The hinge of one pair with m bits different."""
    if similar:
        return max(m - rho + 1, 0) / np.sqrt(lam) / bits
    return np.sqrt(lam) * max(rho - m + 1, 0) / bits


def worst(v, w, similar, method):
    """max over all 4^q pairs of codes."""
    codes = [np.array(c) for c in product([-1, 1], repeat=len(v))]
    return max(
        cost((g != h).sum(), similar, len(v), method.rho, method.lambda_) + g @ v + h @ w
        for g in codes
        for h in codes
    )


@pytest.mark.parametrize("bits", [1, 2, 4, 5])
@pytest.mark.parametrize("scale", [0.01, 0.1, 1.0])
def test_inference_finds_the_worst_of_all_codes(bits, scale):
    method = create("mlh", bits, 3, lambda_=1.7)
    v, w = scale * RNG.standard_normal((2, 6, bits))
    similar = torch.tensor([True, False] * 3)
    g, h = worst_codes(torch.tensor(v), torch.tensor(w), method.costs(similar))
    for i in range(6):
        a, b = g[i].numpy(), h[i].numpy()
        assert set(np.abs([*a, *b])) == {1}
        m = (a != b).sum()
        reached = cost(m, similar[i], bits, method.rho, 1.7) + a @ v[i] + b @ w[i]
        assert reached == pytest.approx(worst(v[i], w[i], similar[i], method), abs=1e-6)


def bound(w, x, z, similar, method):
    """The mean bound of the pairs, and their mean loss."""
    total = loss = 0.0
    for a, b, s in zip(x, z, similar, strict=True):
        total += worst(w @ a, w @ b, s, method) - np.abs(w @ a).sum() - np.abs(w @ b).sum()
        m = (np.sign(w @ a) != np.sign(w @ b)).sum()
        loss += cost(m, s, len(w), method.rho, method.lambda_)
    return total / len(x), loss / len(x)


def test_bound_is_above_the_loss_and_the_step_is_its_gradient():
    bits, d = 4, 3
    method = create("mlh", bits, 3)
    w = 0.1 * RNG.standard_normal((bits, d))
    x, z = RNG.standard_normal((2, 5, d))
    similar = np.array([True, False, True, True, False])
    total, loss = bound(w, x, z, similar, method)
    assert total >= loss > 0
    costs = method.costs(torch.tensor(similar)).double()
    found = descent(torch.tensor(w), torch.tensor(x), torch.tensor(z), costs)
    assert (found != 0).any()
    step = 1e-6
    for i, j in ((0, 0), (1, 2), (3, 1)):
        moved = w.copy(), w.copy()
        moved[0][i, j] += step
        moved[1][i, j] -= step
        slopes = [bound(one, x, z, similar, method)[0] for one in moved]
        assert -found[i, j].item() == pytest.approx((slopes[0] - slopes[1]) / (2 * step), abs=1e-5)


def test_training_lowers_the_loss_of_pairs():
    labels = torch.eye(4).int().repeat(30, 1)
    torch.manual_seed(0)
    x = labels.float() @ torch.randn(4, 16) + 0.7 * torch.randn(120, 16)
    method = create("mlh", 16, 4, steps=300)
    losses = []
    for steps in (0, 300):
        method.steps = steps
        head = Head(16, 16, **method.head_options(0, 0.0))
        torch.manual_seed(0)
        method.fit_head(head, x, labels)
        on = head(x) > 0
        apart = (on[:, None] != on).sum(-1)
        costs = method.costs(((labels @ labels.T) > 0).flatten())
        losses.append(costs.gather(1, apart.flatten()[:, None]).mean().item())
    assert losses[1] < 0.3 * losses[0]
