"""Pictures that an index has more than once: identical files, and near copies.

Nothing is deleted here. `find_duplicates` returns groups, the largest picture first, and every
other picture of a group is a copy of the first. Only files count that are on disk as the index has
them: one that was changed since may no longer be a copy.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from softhash.data.image_set import ImageSet
from softhash.data.loading import Broken, Progress
from softhash.errors import InputError, UsageError
from softhash.index._compared_files import compare_files
from softhash.index._listing import Listing, Rows, check_files, read_listing
from softhash.index._near_copies import TOLERANCE, NearCopies
from softhash.index._perceptual_hash import HashedFiles, hash_files

if TYPE_CHECKING:
    from softhash.index.hamming_index import HammingIndex

__all__ = ["MAX_TOLERANCE", "TOLERANCE", "Copy", "Duplicates", "StageProgress", "find_duplicates"]

MAX_TOLERANCE = 16  # bits of the hash: beyond, most of what is found is not a copy

StageProgress = Callable[[str, int, int], None]  # what is done, how much of it, and of how much


class Copy(NamedTuple):
    """One picture of a group.

    Attributes:
        id: of the item.
        file_name: relative to the index's root.
        path: where the file is.
        height: of the picture, in pixels; 0 where its file cannot be read.
        width: as the height.
        bytes: of the file.
        kind: "first" of its group, or "identical" with the first, or "near" to it.
        distance: Hamming distance of its code from the first's.
        hash_distance: bits of 64 in which their perceptual hashes differ.

    """

    id: int
    file_name: str
    path: Path
    height: int
    width: int
    bytes: int
    kind: str
    distance: int = 0
    hash_distance: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return self._asdict() | {"path": str(self.path)}


Group = tuple[Copy, ...]


class Duplicates(NamedTuple):
    """What was found, and the files that were left out.

    Attributes:
        groups: copies of each other, the largest first; groups whose other files take the most
            bytes come first.
        missing: names of files that are not there.
        changed: names of files that are not as the index has them.
        broken: of pictures that cannot be read, which and why.

    """

    groups: tuple[Group, ...]
    missing: tuple[str, ...]
    changed: tuple[str, ...]
    broken: tuple[str, ...]

    @property
    def copies(self) -> list[Copy]:
        """All pictures but the first of each group."""
        return [copy for group in self.groups for copy in group[1:]]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        groups = [[copy.as_dict() for copy in group] for group in self.groups]
        left_out = {name: list(getattr(self, name)) for name in ("missing", "changed", "broken")}
        return {"groups": groups, **left_out}


def find_duplicates(
    index: "HammingIndex",
    *,
    near: bool = True,
    tolerance: int = TOLERANCE,
    cache: Path | None = None,
    workers: int | None = None,
    progress: StageProgress = lambda what, done, total: None,
) -> Duplicates:
    """Find the pictures that an index has more than once; nothing is changed.

    Args:
        index: of pictures.
        near: whether to look for near copies too, not for identical files only.
        tolerance: bits in which the perceptual hashes of near copies may differ, up to 16. More
            than 4 only find something where the index keeps features, which confirm it: copies
            that were cropped, and pictures of one scene, taken moments apart.
        cache: a folder that keeps perceptual hashes, so that the next call reads new files only.
        workers: threads that decode pictures; one per core by default.
        progress: called with what is done, how much of it, and of how much.

    Raises:
        InputError: the index has codes only, or not one of its files is there.
        UsageError: the tolerance is below 0 or above 16.

    """
    if not 0 <= tolerance <= MAX_TOLERANCE:
        raise UsageError(f"the tolerance is {tolerance} bits", f"give 0 to {MAX_TOLERANCE}")
    if index.root is None:
        detail = f"{index.store.location} holds codes only, no pictures"
        raise InputError(detail, "make an index of the folder of the pictures")
    listing = read_listing(index)
    rows = np.arange(len(listing.ids)) if near else listing.repeated()
    checked = check_files(listing, rows, partial(progress, "looking at files"))
    if len(checked.missing) == len(rows) > 0:
        detail = f"not one of {len(rows):,} files of the index is in {index.root}"
        raise InputError(detail, "is its drive there? After a move, index the folder again")
    files = listing.by_content(checked.there)
    copies = NearCopies.none(len(files))
    broken: tuple[Broken, ...] = ()
    if near:
        firsts = np.array([rows[0] for rows in files], np.int64)
        hashed = _hash(listing, firsts, cache, workers, partial(progress, "hashing pictures"))
        comparing = partial(progress, "comparing hashes")
        copies, broken = compare_files(listing, firsts, hashed, tolerance, comparing), hashed.broken
    return Duplicates(
        _groups(listing, files, copies),
        tuple(listing.names[row] for row in checked.missing),
        tuple(listing.names[row] for row in checked.changed),
        tuple(one.reason for one in broken),
    )


def _hash(
    listing: Listing, rows: Rows, cache: Path | None, workers: int | None, progress: Progress
) -> HashedFiles:
    names = tuple(listing.names[row] for row in rows.tolist())
    root = listing.index.root or Path()
    images = ImageSet(root, names, np.zeros((len(names), 0), np.uint8), ())
    return hash_files(images, cache=cache, workers=workers, progress=progress)


def _groups(listing: Listing, files: list[Rows], near: NearCopies) -> tuple[Group, ...]:
    """Build the groups of more than one file, from the files of each content."""
    members: dict[int, list[int]] = {}
    for place, first in enumerate(near.first.tolist()):
        members.setdefault(first, []).append(place)
    groups = [
        _group(listing, files, near, places)
        for first, places in members.items()
        if len(places) > 1 or len(files[first]) > 1
    ]
    return tuple(sorted(groups, key=lambda group: (-_freed(group), group[0].id)))


def _freed(group: Group) -> int:
    return sum(copy.bytes for copy in group[1:])


def _group(listing: Listing, files: list[Rows], near: NearCopies, places: list[int]) -> Group:
    ranked = []
    for place in places:
        size = listing.size(int(files[place][0]))
        kind = "identical" if near.first[place] == place else "near"
        distances = int(near.distances[place]), int(near.hash_distances[place])
        for row in files[place].tolist():
            item, path = listing.item(row), listing.path(row)
            facts = item.id, item.file_name, path, *size, item.entry.size, kind, *distances
            ranked.append((listing.rank(row, size), Copy(*facts)))
    copies = [copy for _, copy in sorted(ranked)]
    return copies[0]._replace(kind="first"), *copies[1:]
