"""The items nearest to an encoded query: ranked by the store, perhaps rescored, then fetched."""

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes
from softhash.errors import IndexDamagedError, UnknownItemError, UsageError
from softhash.hamming import cosine
from softhash.hamming.asymmetric import POOL, asymmetric_distances
from softhash.hamming.rescoring import BITS, FEATURES, Floats, reranked
from softhash.index.features import need_features
from softhash.index.items import Hit, Item, Near
from softhash.index.stages import choose_search
from softhash.index.store import Store
from softhash.index.where import Where, literals

Outputs = npt.NDArray[np.floating]
Ranked = list[tuple[Near, float | None]]  # with the distance it was rescored by, if it was


class Rescoring(NamedTuple):
    """How many of the nearest are ranked again, and the distances of these ids to rank by."""

    pool: int
    distances: Callable[[Sequence[int]], Floats]


NOTHING = Rescoring(0, lambda ids: np.empty(0))


class Window(NamedTuple):
    """The part of a ranking that is wanted.

    Attributes:
        k: how many hits.
        offset: hits to skip before them.
        radius: the largest distance, None for any.

    """

    k: int
    offset: int
    radius: int | None

    def check(self) -> None:
        """Raise unless it has room for a hit."""
        if self.k < 1 or self.offset < 0:
            raise UsageError(f"k is {self.k} and offset {self.offset}", "give at least 1 and 0")


class Query(NamedTuple):
    """What is searched for, encoded.

    Attributes:
        code: its code, in packed bytes.
        labels: its labels, as far as they are known.
        likely: labels that the model finds likely, with probabilities.
        itself: the item it is, which is not among the hits.
        outputs: the real-valued u (bits,) whose signs are the code.
        features: those of the picture (d,).
        exact: whether its code is compared with all codes in full, see `softhash.index.stages`.

    """

    code: bytes
    labels: tuple[str, ...] = ()
    likely: Mapping[str, float] = {}
    itself: Item | None = None
    outputs: Outputs | None = None
    features: Outputs | None = None
    exact: bool = True


def find_hits(
    store: Store, query: Query, window: Window, where: Where, *, rescore: str = ""
) -> tuple[Hit, ...]:
    """Find the items nearest to a query, but not the item that it is.

    Args:
        store: what is searched.
        query: what is searched for.
        window: the part of the ranking that is wanted.
        where: the items that count.
        rescore: what to rank the nearest again by: "bits", "features", or "" for nothing.

    Raises:
        IndexDamagedError: it ranks an item that it does not have, and did not change meanwhile.

    """
    compared = query.labels if query.labels or query.itself else _asked_for(where)
    seen: int | None = None
    while True:
        try:
            ranked = _rank(store, query, window, where, rescore)
            items = store.get([one.id for one, _ in ranked])
        except UnknownItemError as error:  # another process removed it meanwhile?
            if (now := store.version) == seen:
                raise IndexDamagedError(
                    f"{store.location} is damaged: it ranks what it does not have, {error.detail}",
                    "check it with verify(), which names the file",
                ) from error
            seen = now
            continue
        pairs = zip(ranked, items, strict=True)
        return tuple(
            _hit(item, compared, one.distance, rescored) for (one, rescored), item in pairs
        )


def list_hits(store: Store, window: Window, where: Where) -> tuple[Hit, ...]:
    """List the items that a filter keeps in id order, without distances.

    Args:
        store: what is searched.
        window: the part of the list that is wanted.
        where: the items that count.

    """
    items = store.items(limit=window.k, offset=window.offset, where=where)
    return tuple(_hit(item, _asked_for(where)) for item in items)


def _asked_for(where: Where) -> Sequence[str]:
    return [name for name, wanted in literals(where) if wanted]


def _rank(store: Store, query: Query, window: Window, where: Where, rescore: str) -> Ranked:
    if rescore == BITS and query.outputs is not None:
        u = query.outputs
        again = Rescoring(POOL, lambda ids: asymmetric_distances(u, store.codes(ids)))
    elif rescore == FEATURES and query.features is not None:
        x = query.features
        again = Rescoring(cosine.POOL, lambda ids: _cosine_distances(store, x, ids))
    else:
        again = NOTHING
    if window.offset >= again.pool:
        return [(one, None) for one in _nearest(store, query, window, where)]
    return _rescored(store, query, window, where, again)


def _nearest(store: Store, query: Query, window: Window, where: Where) -> list[Near]:
    """Rank by (Hamming distance, id), without the item that the query is."""
    codes = _row(query)
    k, offset, radius = window
    search = choose_search(store, radius, exact=query.exact)
    if query.itself is None:
        return search(codes, k, offset=offset, where=where)[0]
    # one more than is asked for, since the item itself is somewhere among the nearest
    found = search(codes, offset + k + 1, where=where)[0]
    return [one for one in found if one.id != query.itself.id][offset : offset + k]


def _rescored(store: Store, query: Query, window: Window, where: Where, again: Rescoring) -> Ranked:
    """Rank the whole pool again, whatever part of it is wanted, so that pages fit together."""
    (k, offset, radius), pool = window, again.pool
    near = _nearest(store, query, Window(max(pool, offset + k), 0, radius), where)
    order, distances = reranked(again.distances([one.id for one in near[:pool]]))
    wanted = slice(offset, offset + k)
    pairs = zip(order[wanted].tolist(), distances[wanted].tolist(), strict=True)
    ranked: Ranked = [(near[place], None if isnan(value) else value) for place, value in pairs]
    return ranked + [(one, None) for one in near[pool : offset + k]]


def _cosine_distances(store: Store, features: Outputs, ids: Sequence[int]) -> Floats:
    """Return the cosine distance of each item; NaN for one without features."""
    found = need_features(store).get([(item.id, item.entry) for item in store.get(ids)])
    distances = np.full(len(ids), np.nan)
    if len(found.places):
        distances[found.places] = cosine.cosine_distances(features, found.rows)
    return distances


def _row(query: Query) -> Codes:
    return np.frombuffer(query.code, np.uint8)[np.newaxis]


def _hit(
    item: Item, compared: Sequence[str], distance: int | None = None, rescored: float | None = None
) -> Hit:
    labels = item.entry.labels
    shared = tuple(label for label in labels if label in compared)
    return Hit(item.id, distance, item.file_name, labels, shared, item.code, rescored)
