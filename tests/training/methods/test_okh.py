"""OKH: its codes against all there are, its step against scipy, and what it learns."""

from itertools import product

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from softhash.model.heads import Head
from softhash.training.methods import create
from softhash.training.methods.okh import costless_codes, stream

BITS, M = 4, 3
RNG = np.random.default_rng(6)
SIGNS = np.array(list(product([-1, 1], repeat=BITS)))


def definition(codes, similar, alpha, beta):
    """R of the paper, with thresholds in whole bits."""
    distance = (codes[0] != codes[1]).sum()
    if similar:
        return max(0, distance - alpha)
    return max(0, beta - distance)


def pairs_that_cost(count, alpha, beta):
    """Draw (w, k, similar) whose codes are wrong."""
    found = []
    while len(found) < count:
        w, k = RNG.standard_normal((M, BITS)), RNG.standard_normal((2, M))
        similar = bool(RNG.integers(2))
        if definition(np.sign(k @ w), similar, alpha, beta):
            found.append((w, k, similar))
    return found


@pytest.mark.parametrize("similar", [True, False])
@pytest.mark.parametrize(("alpha", "beta", "bits"), [(0, 0.5, 4), (0.3, 0.4, 7), (0.2, 1, 5)])
def test_cost_is_that_of_the_definition(alpha, beta, bits, similar):
    method = create("okh", bits, 2, alpha=alpha, beta=beta)
    for distance in range(bits + 1):
        codes = np.ones((2, bits))
        codes[0, :distance] = -1
        expected = definition(codes, similar, int(alpha * bits), -int(-beta * bits // 1))
        assert method.cost(distance, similar) == expected


@pytest.mark.parametrize(("alpha", "beta"), [(0, 2), (1, 3)])
def test_costless_codes_are_the_best_of_all(alpha, beta):
    for w, k, similar in pairs_that_cost(40, alpha, beta):
        f = k @ w
        cost = definition(np.sign(f), similar, alpha, beta)
        g = costless_codes(torch.tensor(f), similar, int(cost)).numpy()
        assert definition(g, similar, alpha, beta) == 0
        best = max(
            (f * np.array(codes)).sum()
            for codes in product(SIGNS, SIGNS)
            if definition(np.array(codes), similar, alpha, beta) == 0
        )
        assert (f * g).sum() == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("c", [0.02, 0.3, 100.0])
def test_a_step_is_the_minimum_that_scipy_finds(c):
    """½‖W − W_t‖² + Cξ with ℓ(W) ≤ ξ and 0 ≤ ξ, as a quadratic programme."""
    method = create("okh", BITS, 2, c=c)
    for w, k, similar in pairs_that_cost(5, 0, 2):
        h = np.sign(k @ w)
        cost = definition(h, similar, 0, 2)
        g = costless_codes(torch.tensor(k @ w), similar, int(cost)).numpy()

        def loss(values, k=k, h=h, g=g, cost=cost):
            return ((h - g) * (k @ values.reshape(M, BITS))).sum() + np.sqrt(cost)

        def target(both, w=w):
            return ((both[:-1] - w.ravel()) ** 2).sum() / 2 + c * both[-1]

        limits = [{"type": "ineq", "fun": lambda both: both[-1] - loss(both[:-1])}]
        bounds = [(None, None)] * w.size + [(0, None)]
        start = np.append(w.ravel(), loss(w.ravel()))
        found = minimize(target, start, bounds=bounds, constraints=limits, method="SLSQP")
        moved = w + method.step(torch.tensor(w), torch.tensor(k), similar).numpy()
        np.testing.assert_allclose(moved.ravel(), found.x[:-1], atol=2e-5)


def test_a_pair_without_cost_changes_nothing():
    w = torch.eye(BITS, dtype=torch.float64)
    k = torch.tensor([[1.0, 1, 1, 1], [1, 1, -1, -1]], dtype=torch.float64)
    method = create("okh", BITS, 2)
    assert not method.step(w, k, similar=False).any()
    assert method.step(w, k, similar=True).any()


def test_pairs_of_the_stream_are_two_pictures_and_all_take_their_turn():
    torch.manual_seed(0)
    pairs = stream(11, 23)
    assert pairs.shape == (23, 2)
    assert (pairs[:, 0] != pairs[:, 1]).all()
    for start in (0, 5, 10):  # five pairs are one order of the eleven, but one
        assert len(pairs[start : start + 5].unique()) == 10
    assert stream(1, 5).shape == stream(8, 0).shape == (0, 2)


@pytest.mark.parametrize("bits", [1, 12])
def test_codes_of_a_planted_set_get_better_with_the_pairs(bits):
    """Two classes that differ along one axis of six: most pairs end up on their side of q/4."""
    rng = np.random.default_rng(bits)
    labels = torch.tensor(rng.integers(0, 2, 300))
    x = torch.tensor(rng.standard_normal((300, 6)), dtype=torch.float32)
    x[:, 0] = 0.3 * x[:, 0] + 3 * labels
    right = []
    for pairs in (0, 2000):
        method = create("okh", bits, 2, pairs=pairs, anchors=40)
        head = Head(6, bits, **method.head_options(0, 0.0))
        torch.manual_seed(0)
        method.fit_head(head, x, torch.eye(2)[labels])
        b = torch.sign(head(x).detach())
        far = (bits - b @ b.T) / 2 > bits / 4
        right.append((far == (labels[:, None] != labels)).float().mean().item())
    assert right[1] > 0.9
    assert right[1] > right[0] + 0.2


def test_a_train_set_smaller_than_the_anchors_leaves_them_without_weight():
    method = create("okh", 8, 2, anchors=50)
    head = Head(5, 8, **method.head_options(0, 0.0))
    x = torch.randn(20, 5)
    method.fit_head(head, x, torch.eye(2).repeat(10, 1))
    assert not head.output.weight[:, 20:].any()
    assert head.output.weight[:, :20].any()
    assert torch.isfinite(head(x)).all()
