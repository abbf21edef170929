"""What a place that keeps codes and items can do: a folder, or a Milvus collection."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from softhash.codes import Codes, check_bits
from softhash.index.items import Entry, Filter, Item, Near

EVERYTHING = Filter()


@dataclass(frozen=True)
class Meta:
    """What holds for a whole index.

    Attributes:
        bits: length of the codes.
        model: SHA-256 of the weights of the model that made them; "" where that is not known.
        root: the folder that file names are relative to; "" until pictures were added.

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
        """Make an empty one, open for writing; raise InputError when something is there."""

    @classmethod
    def open(cls, location: str, *, writable: bool = False) -> Self:
        """Open one; raise IndexBusyError when it is to be written to and somebody else does."""

    @property
    def location(self) -> str:
        """Where it is, as given."""

    @property
    def meta(self) -> Meta:
        """What holds for all of it."""

    @property
    def model_folder(self) -> Path:
        """Where the model that belongs to it is kept, if it is."""

    @property
    def version(self) -> int:
        """A number that changes whenever somebody, in any process, changed the contents."""

    def set_root(self, root: str) -> None:
        """Change the folder that file names are relative to."""

    def __len__(self) -> int:
        """Count the items."""

    def add(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add new items, all or none, and return their ids; a name that is there raises."""

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
        """Fetch codes alone, faster than `get`, in the order asked for; raise as that does."""

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
        where: Filter = EVERYTHING,
    ) -> list[list[Near]]:
        """Rank items by (distance, id) for each code, and return the k after `offset`.

        With a radius, only items that near count. A label that no item has keeps nothing.
        """

    def items(self, *, after: int = -1, limit: int = 100, where: Filter = EVERYTHING) -> list[Item]:
        """Return up to `limit` items with ids above `after`, in id order."""

    def scan(self) -> Iterator[tuple[int, Entry]]:
        """Walk over all entries in id order, in bounded memory."""

    def labels(self) -> dict[str, int]:
        """Count the items of every label that some item has, sorted by name."""

    def verify(self, progress: Callable[[int, int], None] | None = None) -> list[str]:
        """Look at every byte, and return a line for each thing that is wrong."""

    def close(self) -> None:
        """Let go of files, locks and connections; twice is fine."""
