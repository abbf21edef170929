"""Rankings of the items of an index: by distance, perhaps rescored, by words, or by both."""

from collections.abc import Callable, Sequence
from math import isnan
from typing import NamedTuple

import numpy as np

from softhash.codes import Codes
from softhash.hamming import cosine
from softhash.hamming.asymmetric import POOL, asymmetric_distances
from softhash.hamming.rescoring import BITS, FEATURES, Floats, reranked
from softhash.index.features import need_features
from softhash.index.items import Near
from softhash.index.query import Outputs, Query, Window
from softhash.index.stages import choose_search
from softhash.index.store import Store
from softhash.index.where import Where
from softhash.index.words import need_word_store

CANDIDATES = 1000  # of the nearest, and of the best by words, that are ranked by both


class Ranked(NamedTuple):
    """An item and its place in a ranking, before anything else of it is fetched.

    Attributes:
        id: of the item.
        distance: Hamming distance; None in a ranking by words alone.
        rescored: the distance it was ranked again by, where it was.
        score: what it was ranked by where words were asked for.

    """

    id: int
    distance: int | None
    rescored: float | None = None
    score: float | None = None


class Rescoring(NamedTuple):
    """How many of the nearest are ranked again, and the distances of these ids to rank by."""

    pool: int
    distances: Callable[[Sequence[int]], Floats]


NOTHING = Rescoring(0, lambda ids: np.empty(0))


def rank(store: Store, query: Query, window: Window, where: Where) -> list[Ranked]:
    """Rank items for a query, without the item that it is.

    Args:
        store: what is searched.
        query: what is searched for.
        window: the part of the ranking that is wanted.
        where: the items that count.

    """
    if not query.code:
        return _by_words(store, query, window, where)
    if query.asked.weights:
        return _by_both(store, query, window, where)[window.places]
    again = _choose_rescoring(store, query)
    if window.offset >= again.pool:
        return [Ranked(one.id, one.distance) for one in _nearest(store, query, window, where)]
    return _rescored(store, query, window, where, again)


def _by_words(store: Store, query: Query, window: Window, where: Where) -> list[Ranked]:
    """Rank by Σ p of the words, less those that are not wanted: how many of them one expects."""
    weights, (k, offset, _) = query.asked.weights, window
    found = need_word_store(store).rank_by_words(weights, k, offset=offset, where=where)
    return [Ranked(id, None, score=score) for score, id in found]


def _by_both(store: Store, query: Query, window: Window, where: Where) -> list[Ranked]:
    """Rank candidates by (1 − 2·distance/bits) + Σ p(more) − Σ p(less), then distance and id."""
    words, radius = need_word_store(store), window.radius
    near = _nearest(store, query, Window(CANDIDATES, 0, radius), where)
    distances = {one.id: one.distance for one in near}
    if query.asked.more:
        wanted = dict.fromkeys(query.asked.more, 1.0)
        itself = None if query.itself is None else query.itself.id
        best = words.rank_by_words(wanted, CANDIDATES + 1, where=where)
        others = [id for _, id in best if id != itself][:CANDIDATES]
        far = np.bitwise_count(store.codes(others) ^ _row(query)).sum(axis=1).tolist()
        pairs = zip(others, far, strict=True)
        distances |= {id: d for id, d in pairs if radius is None or d <= radius}
    by_words = words.word_scores(list(distances), query.asked.weights).tolist()
    scores = zip(distances.items(), by_words, strict=True)
    bits = store.meta.bits
    ranked = [Ranked(id, d, score=1 - 2 * d / bits + score) for (id, d), score in scores]
    return sorted(ranked, key=lambda one: (-(one.score or 0), one.distance, one.id))


def _choose_rescoring(store: Store, query: Query) -> Rescoring:
    if query.rescore == BITS and query.outputs is not None:
        u = query.outputs
        return Rescoring(POOL, lambda ids: asymmetric_distances(u, store.codes(ids)))
    if query.rescore == FEATURES and query.features is not None:
        x = query.features
        return Rescoring(cosine.POOL, lambda ids: _cosine_distances(store, x, ids))
    return NOTHING


def _nearest(store: Store, query: Query, window: Window, where: Where) -> list[Near]:
    """Rank by (Hamming distance, id), without the item that the query is."""
    codes = _row(query)
    k, offset, radius = window
    search = choose_search(store, radius, exact=query.exact)
    if query.itself is None:
        return search(codes, k, offset=offset, where=where)[0]
    # one more than is asked for, since the item itself is somewhere among the nearest
    found = search(codes, offset + k + 1, where=where)[0]
    return [one for one in found if one.id != query.itself.id][window.places]


def _rescored(
    store: Store, query: Query, window: Window, where: Where, again: Rescoring
) -> list[Ranked]:
    """Rank the whole pool again, whatever part of it is wanted, so that pages fit together."""
    (k, offset, radius), pool = window, again.pool
    near = _nearest(store, query, Window(max(pool, offset + k), 0, radius), where)
    order, distances = reranked(again.distances([one.id for one in near[:pool]]))
    pairs = zip(order[window.places].tolist(), distances[window.places].tolist(), strict=True)
    ranked = [
        Ranked(near[place].id, near[place].distance, None if isnan(value) else value)
        for place, value in pairs
    ]
    return ranked + [Ranked(one.id, one.distance) for one in near[pool : offset + k]]


def _cosine_distances(store: Store, features: Outputs, ids: Sequence[int]) -> Floats:
    """Return the cosine distance of each item; NaN for one without features."""
    found = need_features(store).get([(item.id, item.entry) for item in store.get(ids)])
    distances = np.full(len(ids), np.nan)
    if len(found.places):
        distances[found.places] = cosine.cosine_distances(features, found.rows)
    return distances


def _row(query: Query) -> Codes:
    return np.frombuffer(query.code, np.uint8)[np.newaxis]
