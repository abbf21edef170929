"""Sums over the triplets of a batch against a walk over all of them."""

from functools import partial

import numpy as np
import pytest
import torch
from finite_differences import loss_and_gradient
from torch.nn.functional import softplus

from softhash.training.methods import _triplets, create
from softhash.training.methods._triplets import hinge, triplet_mean, triplet_sums

RNG = np.random.default_rng(3)
LABELS = (RNG.random((7, 4)) < 0.5).astype(int)
SCORES = RNG.normal(size=(7, 7))


def walk(labels):
    """List (anchor, positive, negative): three pictures, the first two share more labels."""
    n = len(labels)
    return [
        (a, p, m)
        for a in range(n)
        for p in range(n)
        for m in range(n)
        if len({a, p, m}) == 3 and labels[a] @ labels[p] > labels[a] @ labels[m]
    ]


def test_every_anchor_counts_the_same():
    """The mean is over anchors of means, not over triplets."""
    by_anchor = {}
    for a, p, m in walk(LABELS):
        by_anchor.setdefault(a, []).append(max(0.2 + SCORES[a, p] - SCORES[a, m], 0))
    assert len({len(of) for of in by_anchor.values()}) > 2
    expected = np.mean([np.mean(of) for of in by_anchor.values()])
    found = triplet_mean(hinge(0.2), torch.tensor(SCORES), torch.tensor(LABELS))
    assert found.item() == pytest.approx(expected, rel=1e-12)


def test_triplets_count_as_much_as_their_gains_differ():
    labels = torch.tensor([[1, 1, 1], [1, 1, 1], [1, 0, 0], [0, 0, 0]])
    gains = torch.exp2((labels @ labels.T).float())
    scores = torch.tensor(RNG.normal(size=(4, 4)))
    sums, totals = triplet_sums(lambda x: x, scores, labels, gains)
    # Of anchor 0: (1, 2) weighs 8 − 2, (1, 3) weighs 8 − 1, (2, 3) weighs 2 − 1.
    assert totals.tolist() == [14, 14, 2, 0]
    own = scores[0].tolist()
    expected = 6 * (own[1] - own[2]) + 7 * (own[1] - own[3]) + own[2] - own[3]
    assert sums[0].item() == pytest.approx(expected)
    assert sums[3] == 0


def test_a_batch_without_triplets_costs_nothing():
    scores = torch.tensor(SCORES, requires_grad=True)
    loss = triplet_mean(softplus, scores, torch.ones(7, 2, dtype=torch.uint8))
    loss.backward()
    assert loss == 0
    assert not scores.grad.any()


@pytest.mark.parametrize("at_once", [1, 2 * 49, 3 * 49 + 5])
@pytest.mark.parametrize("name", ["dnnh", "drsch", "dsrh", "dtsh", "iah"])
def test_a_few_anchors_at_a_time_are_all_of_them(monkeypatch, name, at_once):
    u = RNG.uniform(-0.95, 0.95, (7, 6))
    torch.manual_seed(0)
    found = partial(loss_and_gradient, create(name, 6, 4).double(), u, LABELS)
    whole, gradient = found()
    monkeypatch.setattr(_triplets, "TRIPLETS", at_once)
    taken = []
    sums = _triplets._sums

    def counted(loss, scores, *known):
        taken.append(len(scores))
        return sums(loss, scores, *known)

    monkeypatch.setattr(_triplets, "_sums", counted)
    parts, slopes = found()
    assert taken == {1: [1] * 7, 98: [2, 2, 2, 1], 152: [3, 3, 1]}[at_once]
    assert parts == pytest.approx(whole, rel=1e-9)
    np.testing.assert_allclose(slopes, gradient, rtol=1e-9)
