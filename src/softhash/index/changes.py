"""What differs between the entries of an index and a collection on disk."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from softhash.data.image_set import ImageSet
from softhash.data.loading import Broken, Progress
from softhash.devices import usable_cores
from softhash.files import hash_file
from softhash.index.entries import file_statuses
from softhash.index.items import Entry

HASHED_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Plan:
    """What an update has to do; pictures by their position in the collection, items by their id.

    Attributes:
        status: (n, 2), size and time of every file when the plan was made.
        new, changed: positions of pictures to encode.
        renamed: entries, under their new names, of items that keep their id and code.
        revised: entries of items whose labels or time changed.
        vanished: ids of items whose files are gone.
        unchanged: how many items stay as they are.
        unreadable: pictures whose files cannot be read now; their items stay as they are.

    """

    status: NDArray[np.int64]
    new: list[int] = field(default_factory=list)
    changed: set[int] = field(default_factory=set)
    renamed: dict[int, Entry] = field(default_factory=dict)
    revised: dict[int, Entry] = field(default_factory=dict)
    vanished: list[int] = field(default_factory=list)
    unchanged: int = 0
    unreadable: tuple[Broken, ...] = ()


@dataclass
class _Sorted:
    """Entries of the index, sorted by size, time and labels alone."""

    seen: NDArray[np.bool_]
    changed: set[int] = field(default_factory=set)
    touched: dict[int, tuple[int, Entry]] = field(default_factory=dict)  # by position
    relabelled: dict[int, Entry] = field(default_factory=dict)
    gone: dict[int, Entry] = field(default_factory=dict)
    unchanged: int = 0


def plan(
    known: Iterable[tuple[int, Entry]], images: ImageSet, *, progress: Progress | None = None
) -> Plan:
    """Compare the entries of an index with a collection.

    Only files with another time, or with a new name and the size of a file that is gone, are read.

    Args:
        known: id and entry of every item, as `Store.scan` returns them.
        images: the whole collection.
        progress: called with (files hashed, files to hash).

    """
    status = file_statuses(images)
    found = _sort(known, images, status)
    fresh = np.flatnonzero(~found.seen & (status[:, 0] >= 0)).tolist()
    sizes = {entry.size for entry in found.gone.values() if entry.sha256}
    candidates = [at for at in fresh if sizes and int(status[at, 0]) in sizes]
    digests = _digests(images, [*found.touched, *candidates], progress)
    moved = dict(_renamed(found.gone, images, candidates, digests))
    renamed = {id: _revise(found.gone[id], images, at, status) for at, id in moved.items()}
    revised, unreadable = _compare_contents(found, images, status, digests)
    return Plan(
        status=status,
        new=[at for at in fresh if at not in moved],
        changed=found.changed,
        renamed=renamed,
        revised=revised,
        vanished=[id for id in found.gone if id not in renamed],
        unchanged=found.unchanged,
        unreadable=tuple(_unreadable(images, at) for at in unreadable),
    )


def _sort(
    known: Iterable[tuple[int, Entry]], images: ImageSet, status: NDArray[np.int64]
) -> _Sorted:
    """Walk once over the entries; what stays as it is takes no memory."""
    position = {name: at for at, name in enumerate(images.file_names)}
    found = _Sorted(np.zeros(len(images), bool))
    for id, entry in known:
        at = position.get(entry.file_name)
        if at is None:
            found.gone[id] = entry
            continue
        found.seen[at] = True
        size, modified = status[at].tolist()
        if size < 0:
            continue
        if size != entry.size:
            found.changed.add(at)
        elif modified != entry.modified:
            found.touched[at] = id, entry
        elif set(labels := images.label_names(at)) != set(entry.labels):
            found.relabelled[id] = entry._replace(labels=labels)
        else:
            found.unchanged += 1
    return found


def _compare_contents(
    found: _Sorted,
    images: ImageSet,
    status: NDArray[np.int64],
    digests: Mapping[int, str | None],
) -> tuple[dict[int, Entry], list[int]]:
    """Sort touched files: whose entry is to be revised, and which cannot be read."""
    revised, unreadable = dict(found.relabelled), np.flatnonzero(status[:, 0] < 0).tolist()
    for at, (id, entry) in found.touched.items():
        if digests[at] is None:
            unreadable.append(at)
        elif digests[at] == entry.sha256:
            revised[id] = _revise(entry, images, at, status)
        else:
            found.changed.add(at)
    return revised, sorted(unreadable)


def _renamed(
    gone: Mapping[int, Entry],
    images: ImageSet,
    candidates: Sequence[int],
    digests: Mapping[int, str | None],
) -> Iterator[tuple[int, int]]:
    """Pair new files with gone ones of the same content, those that kept their last name first."""
    by_content: dict[str, list[int]] = defaultdict(list)
    for id, entry in gone.items():
        if entry.sha256:
            by_content[entry.sha256].append(id)
    left = []
    for at in candidates:
        ids = by_content.get(digests[at] or "", [])
        name = PurePosixPath(images.file_names[at]).name
        same = [id for id in ids if PurePosixPath(gone[id].file_name).name == name]
        if same:
            ids.remove(same[0])
            yield at, same[0]
        else:
            left.append(at)
    for at in left:
        ids = by_content.get(digests[at] or "", [])
        if ids:
            yield at, ids.pop(0)


def _revise(entry: Entry, images: ImageSet, at: int, status: NDArray[np.int64]) -> Entry:
    """Bring an entry up to date with a file that has the same content."""
    name, labels = images.file_names[at], images.label_names(at)
    return entry._replace(file_name=name, labels=labels, modified=int(status[at, 1]))


def _unreadable(images: ImageSet, at: int) -> Broken:
    return Broken(at, images.file_names[at], f"{images.path(at)} cannot be read now")


def _digests(
    images: ImageSet, positions: Sequence[int], progress: Progress | None
) -> dict[int, str | None]:
    """Hash files in threads, which read and compute without Python's lock."""
    found: dict[int, str | None] = {}
    with ThreadPoolExecutor(usable_cores()) as pool:
        for start in range(0, len(positions), HASHED_AT_ONCE):
            part = positions[start : start + HASHED_AT_ONCE]
            found.update(zip(part, pool.map(hash_file, map(images.path, part)), strict=True))
            if progress:
                progress(len(found), len(positions))
    return found
