"""The files of an index in columns, and whether they are on disk as the index has them."""

import os
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes, row_bytes
from softhash.data.decoding import image_size
from softhash.data.loading import Progress
from softhash.errors import ImageError, InputError
from softhash.files import modified_ns
from softhash.index.items import Entry, Item

if TYPE_CHECKING:
    from softhash.index.hamming_index import HammingIndex

AT_ONCE = 4096  # items
DIGEST_BYTES = 32  # of SHA-256

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Listing:
    """The items of an index whose content is known, without labels, in id order.

    Attributes:
        index: whose items they are.
        ids: (n,) of the items.
        names: of their files, relative to the index's root.
        contents: (n,) SHA-256 of the files.
        statuses: (n, 2) size and time of the files.

    """

    index: "HammingIndex"
    ids: Rows
    names: list[str]
    contents: npt.NDArray[np.bytes_]
    statuses: Rows

    def item(self, row: int) -> Item:
        """Build what is listed of an item, without its code."""
        size, modified = self.statuses[row].tolist()
        content = self.contents[row].tobytes().hex()
        return Item(int(self.ids[row]), Entry(self.names[row], (), size, modified, content), b"")

    def path(self, row: int) -> Path:
        """Return where a file is; raise InputError where that is outside the index's root."""
        return self.index.path(self.item(row))

    def size(self, row: int) -> tuple[int, int]:
        """Read height and width of a picture; 0 and 0 where it cannot be read."""
        try:
            return image_size(self.path(row))
        except ImageError:
            return 0, 0

    def rank(self, row: int, size: tuple[int, int]) -> tuple[int, ...]:
        """Return what copies are sorted by: most pixels, most bytes, oldest, shortest name."""
        length, modified = self.statuses[row].tolist()
        return -size[0] * size[1], -length, modified, len(self.names[row]), row

    def codes(self, rows: Rows) -> Codes:
        """Read the codes of items, some at once."""
        parts = [np.empty((0, row_bytes(self.index.bits)), np.uint8)]
        rest = iter(self.ids[rows].tolist())
        while some := list(islice(rest, AT_ONCE)):
            parts.append(self.index.store.codes(some))
        return np.concatenate(parts)

    def repeated(self) -> Rows:
        """Return the rows whose content another row has too."""
        _, numbers = np.unique(self.contents, return_inverse=True)
        return np.flatnonzero(np.bincount(numbers)[numbers] > 1)

    def by_content(self, rows: Rows) -> list[Rows]:
        """Group rows by content; what is probably the original is the first of its group.

        That is the oldest file, or of one age the one of the shortest name: a copy is newer, or
        called "a (1).jpg".
        """
        if not rows.size:
            return []
        lengths = np.array([len(self.names[row]) for row in rows.tolist()])
        _, numbers = np.unique(self.contents[rows], return_inverse=True)
        order = np.lexsort((rows, lengths, self.statuses[rows, 1], numbers))
        return np.split(rows[order], np.flatnonzero(np.diff(numbers[order])) + 1)


class Checked(NamedTuple):
    """Rows of a listing by how their files were found."""

    there: Rows
    missing: list[int]
    changed: list[int]


def read_listing(index: "HammingIndex") -> Listing:
    """Read the items of an index; those whose content is not known are left out."""
    ids: list[int] = []
    names: list[str] = []
    statuses: list[tuple[int, int]] = []
    contents = bytearray()
    for id, entry in index.store.scan():
        if entry.sha256:
            ids.append(id)
            names.append(entry.file_name)
            statuses.append((entry.size, entry.modified))
            contents += bytes.fromhex(entry.sha256)
    digests = np.frombuffer(bytes(contents), f"V{DIGEST_BYTES}")
    columns = np.array(statuses, np.int64).reshape(-1, 2)
    return Listing(index, np.array(ids, np.int64), names, digests, columns)


def check_files(listing: Listing, rows: Rows, progress: Progress) -> Checked:
    """Look which files are on disk as the index has them.

    Of several names of one file, links to it, the first counts alone: they are not copies, and
    whoever deletes one may have deleted all.

    Args:
        listing: of an index.
        rows: those to look at.
        progress: called with (files done, files in all).

    """
    there, files, missing, changed = [], [], [], []
    status = partial(_status, listing, listing.index.root or Path(), {})
    for done, row in enumerate(rows.tolist()):
        if done % AT_ONCE == 0:
            progress(done, len(rows))
        try:
            found = status(row)
        except (OSError, ValueError, InputError):
            missing.append(row)
            continue
        if [found.st_size, modified_ns(found)] == listing.statuses[row].tolist():
            there.append(row)
            files.append(hash((found.st_dev, found.st_ino)))
        else:
            changed.append(row)
    _, firsts = np.unique(np.array(files, np.int64), return_index=True)
    return Checked(np.array(there, np.int64)[np.sort(firsts)], missing, changed)


def _status(listing: Listing, root: Path, inside: dict[str, bool], row: int) -> os.stat_result:
    """Read the status of a file; raise InputError where it is outside the root.

    What is not a link itself is where its folder is: `inside` has whether that is in the root, so
    that names are not resolved one by one, of which there may be millions.
    """
    name = listing.names[row]
    folder, path = name.rpartition("/")[0], f"{root}/{name}"
    if folder not in inside:
        inside[folder] = (root / folder).resolve().is_relative_to(root.resolve())
    if not inside[folder] or os.path.islink(path):  # noqa: PTH114
        return listing.path(row).stat()
    return os.stat(path)  # noqa: PTH116
