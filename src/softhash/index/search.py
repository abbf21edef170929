"""From a picture, an item or a code to a search result."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes, code_bytes, pack
from softhash.errors import InputError, NoOutputsError, QueryError, UsageError, unknown_name
from softhash.index.items import Filter, Hit, Item
from softhash.index.retrieval import Outputs, Query, Window, find_hits
from softhash.index.store import Store

if TYPE_CHECKING:
    from softhash.index.hamming_index import HammingIndex
    from softhash.model.inputs import Item as Picture

DEVICE = "cpu"  # where one picture is encoded: nothing is gained by a GPU, and torch is not needed


@dataclass(frozen=True, repr=False)
class SearchResult(Sequence[Hit]):
    r"""What was searched for and what was found: a sequence of hits, the nearest first.

    >>> result = SearchResult(b"\x0f", hits=(Hit(7, 2, "a.jpg", (), ()),))
    >>> result, len(result), result[0].file_name
    (SearchResult(1 hit, code 0f), 1, 'a.jpg')

    Attributes:
        code: the query's code, in packed bytes.
        labels: the query's labels; empty where they are not known.
        likely: labels that the model finds likely for the query's picture, with probabilities, the
            most probable first; empty for an id or a code.
        hits: in (distance, id) order, or in the order they were rescored to.
        first: rank of the first hit, 1 unless some were skipped.
        itself: the item that was searched for, which is not among the hits.

    """

    code: bytes
    labels: tuple[str, ...] = ()
    likely: Mapping[str, float] = field(default_factory=dict)
    hits: tuple[Hit, ...] = ()
    first: int = 1
    itself: Item | None = None

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, place: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[place]

    def __repr__(self) -> str:
        noun = "hit" if len(self) == 1 else "hits"
        return f"SearchResult({len(self)} {noun}, code {self.code.hex()})"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; `likely` and `rescored` are left out where there are none."""
        query = {"code": self.code.hex(), "labels": list(self.labels)}
        likely = {"likely": dict(self.likely)} if self.likely else {}
        return {"query": query | likely, "hits": [hit.as_dict() for hit in self.hits]}


class Target(NamedTuple):
    """What is searched for, as it was given: exactly one of these.

    Attributes:
        picture: a path, bytes, a PIL image or an array.
        id: an item of the index.
        code: packed bytes, or the same in hexadecimal.
        outputs: the real-valued u (bits,).

    """

    picture: "Picture | None" = None
    id: int | None = None
    code: bytes | str | Codes | None = None
    outputs: npt.ArrayLike | None = None

    def check(self, *, rescore: bool) -> None:
        """Raise unless one thing is given, which can be rescored where that is asked for."""
        given = [name for name, value in self._asdict().items() if value is not None]
        if len(given) != 1:
            count = f"{len(given)} things" if given else "nothing"
            hint = "give exactly one of picture, id, code and outputs"
            raise QueryError(f"{count} to search for", hint)
        if rescore and given[0] in ("id", "code"):
            raise NoOutputsError(
                f"this {given[0]} has no real-valued outputs to rescore by",
                "search with the picture itself, or leave rescore out",
            )


def run_search(
    index: "HammingIndex",
    target: Target,
    window: Window,
    where: Filter,
    *,
    labels: Sequence[str] | None = None,
    rescore: bool = False,
) -> SearchResult:
    """Search an index; everything that can be wrong is checked before a picture is encoded.

    Args:
        index: what is searched.
        target: what is searched for.
        window: the part of the ranking that is wanted.
        where: the items that count.
        labels: the target's labels; None to look them up in the index.
        rescore: whether to rank the nearest again by the target's outputs.

    """
    window.check()
    target.check(rescore=rescore)
    check_labels(index.store, where)
    query = build_query(index, target, labels)
    hits = find_hits(index.store, query, window, where, rescore=rescore)
    first = window.offset + 1
    return SearchResult(query.code, query.labels, query.likely, hits, first, query.itself)


def check_labels(store: Store, where: Filter) -> None:
    """Raise UsageError for a label that no item has."""
    for label in (*where.any_of, *where.none_of):
        if not store.items(limit=1, where=Filter((label,))):  # counting all labels may take long
            known = store.labels()
            if not known:
                raise UsageError(
                    f"no item has the label '{label}': the items of this index have no labels",
                    "search without labels, or index a collection that has some",
                )
            raise unknown_name("label", label, known)


def build_query(index: "HammingIndex", target: Target, labels: Sequence[str] | None) -> Query:
    """Find the code of a target, and what else is known of it; a picture is encoded once.

    Args:
        index: what is searched.
        target: what is searched for.
        labels: the target's labels; None to look them up in the index.

    """
    known = None if labels is None else tuple(labels)
    if target.id is not None:
        item = index.get(target.id)
        return Query(item.code, item.entry.labels if known is None else known, itself=item)
    if target.code is not None:
        return Query(code_bytes(target.code, index.bits), known or ())
    if target.picture is not None:
        u, likely = _encode(index, target.picture)
        found = index.find_labels(target.picture) if known is None else known
        return Query(_code(u), found, likely, outputs=u)
    u = np.asarray(target.outputs)
    if u.shape != (index.bits,):
        raise InputError(
            f"outputs have the shape {u.shape}", f"a code of this index needs ({index.bits},)"
        )
    return Query(_code(u), known or (), outputs=u)


def _encode(index: "HammingIndex", picture: "Picture") -> tuple[Outputs, dict[str, float]]:
    u, likely = index.hasher.outputs_and_labels(picture, device=DEVICE)
    if len(u) != 1:
        raise QueryError(f"a search takes one picture, not {len(u):,}", "search for each of them")
    return u[0], likely[0]


def _code(u: Outputs) -> bytes:
    code: bytes = pack(u[np.newaxis])[0].tobytes()
    return code
