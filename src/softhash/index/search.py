"""From a query to hits: ranked by the store, perhaps ranked again, then fetched with labels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes, code_bytes, pack
from softhash.errors import InputError, UnknownItemError, UsageError
from softhash.hamming.asymmetric import POOL, reranked
from softhash.index.items import Filter, Hit, Item, Near
from softhash.index.store import Store

if TYPE_CHECKING:
    from softhash.index import HammingIndex
    from softhash.model.inputs import Item as Picture

Ranked = list[tuple[Near, float | None]]  # with the asymmetric distance, where there is one


class Query(NamedTuple):
    """What is searched for.

    Attributes:
        code: its code, in packed bytes.
        known: its labels, as far as they are known.
        itself: the item it is, which is not among the hits.
        outputs: the real-valued u (bits,) whose signs are the code.

    """

    code: bytes
    known: tuple[str, ...] = ()
    itself: int | None = None
    outputs: npt.NDArray[np.floating] | None = None


class Window(NamedTuple):
    """The part of a ranking that is wanted: k hits after `offset`, none further than `radius`."""

    k: int
    offset: int
    radius: int | None


def build_query(
    index: "HammingIndex",
    picture: "Picture | None",
    id: int | None,
    code: bytes | str | Codes | None,
    outputs: npt.ArrayLike | None,
) -> Query:
    """Find the code of whichever is given, and what else is known of it."""
    if sum(given is not None for given in (picture, id, code, outputs)) != 1:
        raise UsageError("search for one thing: a picture, an id, a code or outputs")
    if id is not None:
        item = index.get(id)
        return Query(item.code, item.entry.labels, id)
    if code is not None:
        return Query(code_bytes(code, index.bits))
    known: tuple[str, ...] = ()
    if picture is not None:
        known, outputs = index.find_labels(picture), index.hasher.outputs(picture)[0]
    u = np.asarray(outputs)
    if u.shape != (index.bits,):
        raise InputError(
            f"outputs have the shape {u.shape}", f"a code of this index needs ({index.bits},)"
        )
    return Query(pack(u[np.newaxis])[0].tobytes(), known, outputs=u)


def find_hits(
    store: Store, query: Query, window: Window, where: Filter, *, rescore: bool = False
) -> list[Hit]:
    """Find the items nearest to a query, but not itself."""
    rank = _rescored if rescore else _plain
    while True:
        try:
            ranked = rank(store, query, window, where)
            items = store.get([one.id for one, _ in ranked])
        except UnknownItemError:  # somebody removed it meanwhile
            continue
        pairs = zip(ranked, items, strict=True)
        return [_hit(one, rescored, item, query.known) for (one, rescored), item in pairs]


def _plain(store: Store, query: Query, window: Window, where: Filter) -> Ranked:
    codes, itself = _row(query), query.itself
    k, offset, radius = window
    if itself is None:
        near = store.search(codes, k, offset=offset, radius=radius, where=where)[0]
    else:  # one more than is asked for, since the item itself is somewhere among the nearest
        found = store.search(codes, offset + k + 1, radius=radius, where=where)[0]
        near = [one for one in found if one.id != itself][offset : offset + k]
    return [(one, None) for one in near]


def _rescored(store: Store, query: Query, window: Window, where: Filter) -> Ranked:
    """Rank the pool again, whatever part of it is wanted: so that pages continue each other."""
    if query.outputs is None:
        raise UsageError(
            "an id or a code has no real-valued outputs to rescore by",
            "search with the picture itself, or leave rescore out",
        )
    k, offset, radius = window
    if offset >= POOL:
        return _plain(store, query, window, where)
    near = store.search(_row(query), max(POOL, offset + k), radius=radius, where=where)[0]
    pool = near[:POOL]
    order, distances = reranked(query.outputs, store.codes([one.id for one in pool]))
    wanted = slice(offset, offset + k)
    ranked = zip(order[wanted].tolist(), distances[wanted].tolist(), strict=True)
    rest: Ranked = [(one, None) for one in near[POOL : offset + k]]
    return [(pool[place], distance) for place, distance in ranked] + rest


def _row(query: Query) -> Codes:
    return np.frombuffer(query.code, np.uint8)[np.newaxis]


def _hit(near: Near, rescored: float | None, item: Item, known: Sequence[str]) -> Hit:
    labels = item.entry.labels
    shared = tuple(label for label in labels if label in known)
    return Hit(item.id, near.distance, item.entry.file_name, labels, shared, item.code, rescored)
