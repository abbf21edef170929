"""The triplets of a batch against a walk over all of them."""

import numpy as np
import torch

from softhash.training.methods._triplets import anchor_mean, differences, ranked_triplets

RNG = np.random.default_rng(3)
LABELS = (RNG.random((7, 4)) < 0.5).astype(int)


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


def test_triplets_are_those_of_the_walk():
    found = ranked_triplets(torch.tensor(LABELS)).nonzero().tolist()
    assert [tuple(one) for one in found] == walk(LABELS)
    assert len(found) > 20


def test_every_anchor_counts_the_same():
    """The mean is over anchors of means, not over triplets."""
    values = torch.tensor(RNG.normal(size=(7, 7)))
    chosen = ranked_triplets(torch.tensor(LABELS))
    by_anchor = {}
    for a, p, m in walk(LABELS):
        by_anchor.setdefault(a, []).append((values[a, p] - values[a, m]).item())
    expected = np.mean([np.mean(of) for of in by_anchor.values()])
    assert np.isclose(anchor_mean(differences(values), chosen).item(), expected, rtol=1e-12)
