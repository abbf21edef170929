"""The items nearest to an encoded query: ranked by the store, perhaps rescored, then fetched."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes
from softhash.errors import IndexDamagedError, UnknownItemError, UsageError
from softhash.hamming.asymmetric import POOL, reranked
from softhash.index.items import Filter, Hit, Item, Near
from softhash.index.store import Store

Outputs = npt.NDArray[np.floating]
Ranked = list[tuple[Near, float | None]]  # with the asymmetric distance, where there is one


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

    """

    code: bytes
    labels: tuple[str, ...] = ()
    likely: Mapping[str, float] = {}
    itself: Item | None = None
    outputs: Outputs | None = None


def find_hits(
    store: Store, query: Query, window: Window, where: Filter, *, rescore: bool = False
) -> tuple[Hit, ...]:
    """Find the items nearest to a query, but not the item that it is.

    Args:
        store: what is searched.
        query: what is searched for.
        window: the part of the ranking that is wanted.
        where: the items that count.
        rescore: whether to rank the nearest again by the query's outputs.

    Raises:
        IndexDamagedError: it ranks an item that it does not have, and did not change meanwhile.

    """
    compared = query.labels if query.labels or query.itself else where.any_of
    seen: int | None = None
    while True:
        try:
            if rescore and query.outputs is not None:
                ranked = _rescored(store, query, query.outputs, window, where)
            else:
                ranked = _plain(store, query, window, where)
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
        return tuple(_hit(one, rescored, item, compared) for (one, rescored), item in pairs)


def _plain(store: Store, query: Query, window: Window, where: Filter) -> Ranked:
    codes = _row(query)
    k, offset, radius = window
    if query.itself is None:
        near = store.search(codes, k, offset=offset, radius=radius, where=where)[0]
    else:  # one more than is asked for, since the item itself is somewhere among the nearest
        found = store.search(codes, offset + k + 1, radius=radius, where=where)[0]
        near = [one for one in found if one.id != query.itself.id][offset : offset + k]
    return [(one, None) for one in near]


def _rescored(
    store: Store, query: Query, outputs: Outputs, window: Window, where: Filter
) -> Ranked:
    """Rank the whole pool again, whatever part of it is wanted, so that pages fit together."""
    k, offset, radius = window
    if offset >= POOL:
        return _plain(store, query, window, where)
    near = store.search(_row(query), max(POOL, offset + k), radius=radius, where=where)[0]
    pool = near[:POOL]
    order, distances = reranked(outputs, store.codes([one.id for one in pool]))
    wanted = slice(offset, offset + k)
    ranked = zip(order[wanted].tolist(), distances[wanted].tolist(), strict=True)
    rest: Ranked = [(one, None) for one in near[POOL : offset + k]]
    return [(pool[place], distance) for place, distance in ranked] + rest


def _row(query: Query) -> Codes:
    return np.frombuffer(query.code, np.uint8)[np.newaxis]


def _hit(near: Near, rescored: float | None, item: Item, compared: Sequence[str]) -> Hit:
    labels = item.entry.labels
    shared = tuple(label for label in labels if label in compared)
    return Hit(item.id, near.distance, item.file_name, labels, shared, item.code, rescored)
