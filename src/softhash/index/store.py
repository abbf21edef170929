"""The interface of what keeps codes and items: a folder, a Milvus collection, or your own.

A class of another package becomes a kind of index through an entry point, see `registry`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from softhash.codes import Codes, check_bits
from softhash.index.items import Entry, Item, Near
from softhash.index.where import EVERYTHING, Where


@dataclass(frozen=True)
class Meta:
    """The metadata of an index.

    Attributes:
        bits: length of the codes.
        model: SHA-256 of the weights of the model that made them; "" where it is unknown.
        root: the folder that file names are relative to; "" until pictures are added.

    """

    bits: int
    model: str = ""
    root: str = ""

    def __post_init__(self) -> None:
        check_bits(self.bits)


class Store(Protocol):
    """Codes and items. Writing is for one process at a time, reading for any number.

    A method that writes returns when what it wrote is safe. An id stays with its item, through
    changes and renaming, as long as the item is there; rankings are in (distance, id) order.
    """

    @classmethod
    def create(cls, location: str, meta: Meta) -> Self:
        """Make an empty one, open for writing; raise InputError where something exists."""

    @classmethod
    def open(cls, location: str, *, writable: bool = False) -> Self:
        """Open one.

        Raises:
            InputError: there is none.
            IndexBusyError: it is to be written to, and another process has it open for writing.

        """

    @property
    def location(self) -> str:
        """The location, without secrets."""

    @property
    def meta(self) -> Meta:
        """Bits, model and root."""

    @property
    def model_folder(self) -> Path:
        """Where the model that made the codes is kept, if it is."""

    @property
    def version(self) -> int:
        """A number that changes whenever any process changed the contents."""

    def set_root(self, root: str) -> None:
        """Change the folder that file names are relative to."""

    def __len__(self) -> int:
        """Count the items."""

    def add(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add new items, all or none, and return their ids; raise InputError for a known name."""

    def upsert(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add items, or replace code and entry of those whose file name is there, by the same id.

        Within one call the last of several entries with one name counts.
        """

    def revise(self, entries: Mapping[int, Entry]) -> None:
        """Replace entries by id: another name, other labels, another time; codes stay."""

    def remove(self, ids: Sequence[int]) -> int:
        """Remove items, and return how many were there."""

    def get(self, ids: Sequence[int]) -> list[Item]:
        """Fetch items in the order asked for; raise UnknownItemError for one that is not there."""

    def codes(self, ids: Sequence[int]) -> Codes:
        """Fetch codes in the order asked for, faster than `get`, and raise as `get` does."""

    def find_names(self, file_names: Sequence[str]) -> dict[str, int]:
        """Look up ids by file name; names that are not there are left out."""

    def find_content(self, sha256: str) -> int | None:
        """Look up the lowest id of a file with that content."""

    def search(
        self,
        codes: Codes,
        k: int,
        *,
        offset: int = 0,
        radius: int | None = None,
        where: Where = EVERYTHING,
    ) -> list[list[Near]]:
        """Rank items by (distance, id) for each code.

        Args:
            codes: packed, one row per query.
            k: how many items to return for each.
            offset: items to skip before them.
            radius: the largest distance, None for any.
            where: the items that count; a label that no item has keeps nothing.

        """

    def items(
        self, *, after: int = -1, limit: int = 100, offset: int = 0, where: Where = EVERYTHING
    ) -> list[Item]:
        """Return items in id order.

        Args:
            after: the id before the first.
            limit: how many to return.
            offset: items to skip before them.
            where: the items that count.

        """

    def count(self, *filters: Where) -> list[int]:
        """Count the items that each of these filters keeps."""

    def scan(self) -> Iterator[tuple[int, Entry]]:
        """Iterate over all entries in id order, in bounded memory."""

    def labels(self) -> dict[str, int]:
        """Count the items of every label that some item has, sorted by name."""

    def verify(self, progress: Callable[[int, int], None] | None = None) -> list[str]:
        """Check every byte, and return one line for each problem."""

    def close(self) -> None:
        """Close files, locks and connections; may be called twice."""
