"""From a code to hits: ranked by the store, then fetched with their labels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from softhash.index.items import Filter, Hit, Item, Near, UnknownItemError
from softhash.index.store import Store


class Window(NamedTuple):
    """The part of a ranking that is wanted: k hits after `offset`, none further than `radius`."""

    k: int
    offset: int
    radius: int | None


def find_hits(
    store: Store,
    code: bytes,
    known: Sequence[str],
    window: Window,
    where: Filter,
    *,
    itself: int | None = None,
) -> list[Hit]:
    """Find the items nearest to a code, but not `itself`; `known` are the labels of the query."""
    while True:
        near = _ranked(store, code, window, where, itself)
        try:
            items = store.get([one.id for one in near])
        except UnknownItemError:  # somebody removed it meanwhile
            continue
        return [_hit(one.distance, item, known) for one, item in zip(near, items, strict=True)]


def _ranked(
    store: Store, code: bytes, window: Window, where: Filter, itself: int | None
) -> list[Near]:
    codes = np.frombuffer(code, np.uint8)[np.newaxis]
    k, offset, radius = window
    if itself is None:
        return store.search(codes, k, offset=offset, radius=radius, where=where)[0]
    # One more than is asked for, since the item itself is somewhere among the nearest.
    near = store.search(codes, offset + k + 1, radius=radius, where=where)[0]
    return [one for one in near if one.id != itself][offset : offset + k]


def _hit(distance: int, item: Item, known: Sequence[str]) -> Hit:
    labels = item.entry.labels
    shared = tuple(label for label in labels if label in known)
    return Hit(item.id, distance, item.entry.file_name, labels, shared, item.code)
