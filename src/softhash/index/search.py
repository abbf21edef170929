"""From a picture, an item or a code to a search result."""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes, code_bytes, pack
from softhash.errors import InputError, NoOutputsError, QueryError, UsageError, unknown_name
from softhash.hamming.rescoring import BITS, FEATURES, choose_rescoring
from softhash.index.features import item_features, need_features
from softhash.index.items import Hit, Item
from softhash.index.pictures import encode_picture
from softhash.index.retrieval import Query, Window, find_hits, list_hits
from softhash.index.stages import may_search_in_two_stages
from softhash.index.store import Store
from softhash.index.where import EVERYTHING, Label, Where, literals

if TYPE_CHECKING:
    from softhash.index.hamming_index import HammingIndex
    from softhash.model.inputs import Item as Picture


@dataclass(frozen=True, repr=False)
class SearchResult(Sequence[Hit]):
    r"""What was searched for and what was found: a sequence of hits, the nearest first.

    Where labels alone were asked for, there is no code, and hits are in id order.

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
        where: the label logic that hits were filtered by, as text; empty where all items count.
        total: where labels alone were asked for, how many items they keep in all, else None.

    """

    code: bytes
    labels: tuple[str, ...] = ()
    likely: Mapping[str, float] = field(default_factory=dict)
    hits: tuple[Hit, ...] = ()
    first: int = 1
    itself: Item | None = None
    where: str = ""
    total: int | None = None

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
        if self.total is not None:
            return f"SearchResult({len(self)} of {self.total:,} {noun}, where {self.where})"
        return f"SearchResult({len(self)} {noun}, code {self.code.hex()})"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; what there is not, as `likely`, `where` or `total`, is left out."""
        query: dict[str, Any] = {"code": self.code.hex(), "labels": list(self.labels)}
        query |= {"likely": dict(self.likely)} if self.likely else {}
        query |= {"where": self.where} if self.where else {}
        total = {} if self.total is None else {"total": self.total}
        return {"query": query, "hits": [hit.as_dict() for hit in self.hits], **total}


class Target(NamedTuple):
    """What is searched for, as it was given: exactly one of these, or nothing but labels.

    Attributes:
        picture: a path, bytes, a PIL image or an array.
        id: an item of the index.
        code: packed bytes, or the same in hexadecimal.
        outputs: the real-valued u (bits,).
        features: those of the picture that the outputs are of; never alone.

    """

    picture: "Picture | None" = None
    id: int | None = None
    code: bytes | str | Codes | None = None
    outputs: npt.ArrayLike | None = None
    features: npt.ArrayLike | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is given."""
        return all(value is None for value in self)

    def check(self, rescore: str) -> None:
        """Raise unless one thing is given, which can be rescored where that is asked for."""
        given = [name for name in self._fields[:4] if getattr(self, name) is not None]
        if len(given) != 1:
            count = f"{len(given)} things" if given else "nothing"
            hint = "give exactly one of picture, id, code and outputs, or labels alone"
            raise QueryError(f"{count} to search for", hint)
        if rescore == BITS and given[0] in ("id", "code"):
            raise _not_rescored(f"this {given[0]} has no real-valued outputs")
        if rescore == FEATURES and given[0] in ("code", "outputs") and self.features is None:
            raise _not_rescored(f"this {given[0]} comes without features")


def _not_rescored(why: str) -> NoOutputsError:
    hint = "search with the picture itself, or leave rescore out"
    return NoOutputsError(f"{why} to rescore by", hint)


def run_search(
    index: "HammingIndex",
    target: Target,
    window: Window,
    where: Where,
    *,
    labels: Sequence[str] | None = None,
    rescore: bool | str = False,
    exact: bool = True,
) -> SearchResult:
    """Search an index; everything that can be wrong is checked before a picture is encoded.

    Args:
        index: what is searched.
        target: what is searched for.
        window: the part of the ranking that is wanted.
        where: the items that count.
        labels: the target's labels; None to look them up in the index.
        rescore: what to rank the nearest again by: "bits", which True means, or "features".
        exact: whether all codes are compared in full. Rescoring by bits takes so many of the
            nearest that they always are.

    """
    way = choose_rescoring(rescore)
    window.check()
    if target.is_empty and where != EVERYTHING:
        return _list(index.store, window, where, rescore=way)
    target.check(way)
    check_labels(index.store, where)
    if way == FEATURES:
        need_features(index.store)
    query = build_query(index, target, labels)
    if way == FEATURES and query.itself is not None:
        query = query._replace(features=item_features(index.store, query.itself))
    in_full = exact or way == BITS or not may_search_in_two_stages(index)
    query = query._replace(exact=in_full)
    hits = find_hits(index.store, query, window, where, rescore=way)
    known = query.code, query.labels, query.likely
    return SearchResult(*known, hits, window.offset + 1, query.itself, str(where))


def _list(store: Store, window: Window, where: Where, *, rescore: str) -> SearchResult:
    """Answer a search by labels alone."""
    if rescore or window.radius is not None:
        what = "rescoring" if rescore else "a largest distance"
        hint = "search for a picture, an item or a code, or leave it out"
        raise UsageError(f"{what} means nothing for labels alone", hint)
    check_labels(store, where)
    hits, (total,) = list_hits(store, window, where), store.count(where)
    return SearchResult(b"", hits=hits, first=window.offset + 1, where=str(where), total=total)


def check_labels(store: Store, where: Where) -> None:
    """Raise UsageError for a label that no item has."""
    asked = list(dict.fromkeys(name for name, _ in literals(where)))
    counts = store.count(*map(Label, asked)) if asked else []  # counting all labels may take long
    for label, count in zip(asked, counts, strict=True):
        if not count:
            known = store.labels()
            if not known:
                raise UsageError(
                    f"no item has the label '{label}': the items of this index have no labels",
                    "search without labels, or index a collection that has some",
                )
            raise unknown_name("label", label, known)


def find_labels(store: Store, picture: "Picture") -> tuple[str, ...]:
    """Return the labels of a picture whose file is in an index, nothing for any other."""
    if isinstance(picture, str | os.PathLike):
        if not Path(picture).is_file():
            return ()
        picture = Path(picture).read_bytes()
    if not isinstance(picture, bytes):
        return ()
    found = store.find_content(hashlib.sha256(picture).hexdigest())
    return () if found is None else store.get([found])[0].entry.labels


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
        encoded = encode_picture(index.hasher, target.picture)
        found = index.find_labels(target.picture) if known is None else known
        return Query(encoded.code, found, encoded.likely, None, *encoded[:2])
    u = np.asarray(target.outputs)
    if u.shape != (index.bits,):
        raise InputError(
            f"outputs have the shape {u.shape}", f"a code of this index needs ({index.bits},)"
        )
    features = None if target.features is None else np.asarray(target.features)
    code: bytes = pack(u[np.newaxis])[0].tobytes()
    return Query(code, known or (), outputs=u, features=features)
