"""Items counted and ranked by words: by given labels, which are certain, and by likely ones."""

from collections.abc import Mapping

import numpy as np

from softhash.index.local._columns import Ids
from softhash.index.local._likely_kernels import Scores
from softhash.index.local._snapshot import Snapshot
from softhash.index.where import EVERYTHING, Where, canonical


def likely_counts(now: Snapshot, at_least: float) -> dict[str, int]:
    """Count the items of each word that is so probable for some, and not given to them."""
    described, pending = now.describe(EVERYTHING, likely=True), now.pending
    likely, kept = described.likely, now.kept(EVERYTHING, described)
    counts = likely.counts(at_least, now.masks.labels, now.numbers, kept)
    if len(pending.ids):
        kept = now.kept_late(EVERYTHING, described)
        late = likely.take(pending.ids)
        counts += late.counts(at_least, pending.labels, now.numbers, kept)
    pairs = sorted(zip(likely.vocabulary, counts.tolist(), strict=True))
    return {name: count for name, count in pairs if count}


def rank_by_words(
    now: Snapshot, weights: Mapping[str, float], k: int, where: Where
) -> list[tuple[float, int]]:
    """Rank the k first items by (Σ weight·p, the largest first, id), of those above 0.

    Args:
        now: what is ranked.
        weights: of words.
        k: how many to return.
        where: the items that count.

    """
    pending, where = now.pending, canonical(where)
    described = now.describe(where, likely=True)
    likely, kept = described.likely, now.kept(where, described)
    scores = likely.scores(weights, now.masks.labels, now.numbers, kept)
    if len(pending.ids):
        kept, late = now.kept_late(where, described), likely.take(pending.ids)
        scores[pending.ids] = late.scores(weights, pending.labels, now.numbers, kept)
    return _largest(scores, k)


def word_scores(now: Snapshot, ids: Ids, weights: Mapping[str, float]) -> Scores:
    """Return Σ weight·p of some items.

    Args:
        now: what they are of.
        ids: of the items.
        weights: of words.

    """
    _, labels = now.records(ids)
    everything = np.full((len(ids) + 63) // 64, ~np.uint64(0))
    likely = now.describe(EVERYTHING, likely=True).likely.take(ids)
    return likely.scores(weights, labels, now.numbers, everything)


def _largest(scores: Scores, k: int) -> list[tuple[float, int]]:
    """Return the k largest scores above 0 with their places; of equal ones, the first."""
    places = np.flatnonzero(scores > 0)
    if len(places) > k:
        least = np.partition(scores[places], len(places) - k)[len(places) - k]
        places = places[scores[places] >= least]
    order = places[np.argsort(-scores[places], kind="stable")][:k]
    return list(zip(scores[order].tolist(), order.tolist(), strict=True))
