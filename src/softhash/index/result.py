"""What a search returns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from softhash.index.items import Hit, Item


@dataclass(frozen=True, repr=False)
class SearchResult(Sequence[Hit]):
    r"""What was searched for and what was found: a sequence of hits, the nearest first.

    Where words or labels alone were asked for, there is no code, and hits have no distances.

    >>> result = SearchResult(b"\x0f", hits=(Hit(7, 2, "a.jpg", (), ()),))
    >>> result, len(result), result[0].file_name
    (SearchResult(1 hit, code 0f), 1, 'a.jpg')

    Attributes:
        code: the query's code, in packed bytes.
        labels: the query's labels; empty where they are not known.
        likely: labels that the model finds likely for the query's picture, with probabilities, the
            most probable first; empty for an id or a code.
        hits: in (distance, id) order, or in the order they were rescored to; by score where words
            were asked for, the largest first; in id order for labels alone.
        first: rank of the first hit, 1 unless some were skipped.
        itself: the item that was searched for, which is not among the hits.
        where: the label logic that hits were filtered by, as it was asked for; empty where all
            items count.
        total: where labels alone were asked for, how many items they keep in all, else None.
        words: what was searched for, as labels of the index or words of its model.
        more: words that move items up, beside a picture or an item.
        less: words that move items down.

    """

    code: bytes
    labels: tuple[str, ...] = ()
    likely: Mapping[str, float] = field(default_factory=dict)
    hits: tuple[Hit, ...] = ()
    first: int = 1
    itself: Item | None = None
    where: str = ""
    total: int | None = None
    words: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    less: tuple[str, ...] = ()

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
        if self.words:
            return f"SearchResult({len(self)} {noun}, words {', '.join(self.words)})"
        return f"SearchResult({len(self)} {noun}, code {self.code.hex()})"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; what there is not, as `likely`, `where` or `total`, is left out."""
        query: dict[str, Any] = {"code": self.code.hex(), "labels": list(self.labels)}
        query |= {"likely": dict(self.likely)} if self.likely else {}
        query |= {"where": self.where} if self.where else {}
        words = {"words": self.words, "more": self.more, "less": self.less}
        query |= {name: list(some) for name, some in words.items() if some}
        total = {} if self.total is None else {"total": self.total}
        return {"query": query, "hits": [hit.as_dict() for hit in self.hits], **total}
