"""What an index keeps of its pictures beside codes: which items lack it, and what it is made of."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, Unpack

import numpy as np
import numpy.typing as npt

from softhash.data.image_set import ImageSet
from softhash.index.entries import file_status, read_entry
from softhash.index.items import Entry
from softhash.index.store import Store

if TYPE_CHECKING:
    from softhash.index.hamming_index import HammingIndex
    from softhash.model.encoding import EncodeOptions

LOOKED_UP_AT_ONCE = 4096  # items

Floats = npt.NDArray[np.floating]
Known = tuple[int, Entry]  # an item as `Store.scan` has it


class Derived(Protocol):
    """What is kept of each item, one row each; it counts only for the content it was made of."""

    def drop(self) -> None:
        """Let all of it go."""

    def missing(self, items: Sequence[Known]) -> list[Known]:
        """Return those of some items of which nothing is kept."""

    def verify(self, ids: Iterable[int]) -> list[str]:
        """Return one line for each of these items whose row is not as it was written."""

    def compact(self, items: int, ids: Iterable[int]) -> None:
        """Give back the room that rows of removed items take, where that is much.

        Args:
            items: how many there are.
            ids: of these items, read only where there is something to do.

        """


class ComputedFeatures(NamedTuple):
    """Features of some items, with the SHA-256 of each file; "" for one that has changed."""

    items: list[Known]
    contents: list[str]
    features: Floats


def in_parts(items: Iterator[Known]) -> Iterator[list[Known]]:
    """Yield items, as many at a time as are looked up at once."""
    while some := list(islice(items, LOOKED_UP_AT_ONCE)):
        yield some


def missing_items(kept: Derived, store: Store) -> list[Known]:
    """Return the items of a store of which nothing is kept."""
    return [one for some in in_parts(store.scan()) for one in kept.missing(some)]


def compute_features(
    index: "HammingIndex", items: Sequence[Known], **options: Unpack["EncodeOptions"]
) -> Iterator[ComputedFeatures]:
    """Compute the features of items from their pictures, batch by batch.

    Pictures whose files are gone, broken or not as the index has them are left out.

    Args:
        index: what the items are of.
        items: as `Store.scan` has them.
        options: those of `Hasher.encode`.

    """
    root = index.root
    there = [] if root is None else [one for one in items if is_as_kept(root, one[1])]
    if root is None or not there:
        return
    names = tuple(entry.file_name for _, entry in there)
    images = ImageSet(root, names, np.zeros((len(names), 0), np.uint8), ())
    with closing(index.hasher.stream(images, kind="features", **options)) as parts:
        for part in parts:
            some = [there[i] for i in part.positions]
            contents = [_content(root / entry.file_name, entry) for _, entry in some]
            yield ComputedFeatures(some, contents, part.values)


def is_as_kept(root: Path, entry: Entry) -> bool:
    """Return whether a file has the size and the time of its entry, which has its content."""
    as_kept = entry.size, entry.modified
    return bool(entry.sha256) and file_status(root / entry.file_name) == as_kept


def _content(path: Path, entry: Entry) -> str:
    """Return the SHA-256 of a file that is as its entry has it, "" of any other."""
    now = read_entry(path, entry.file_name, (), (entry.size, entry.modified))
    return now.sha256 if now.sha256 == entry.sha256 else ""
