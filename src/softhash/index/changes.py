"""What differs between the entries of an index and a collection on disk."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from stat import S_ISREG

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
    """What an update has to do; pictures by their position in `images`, items by their id.

    Attributes:
        images: the collection, followed by uploaded files that it does not list.
        status: (n, 2), size and time of every file when the plan was made.
        new, changed: positions of pictures to encode.
        uploaded: labels of changed pictures that were uploaded, by position; they keep them.
        renamed: entries, under their new names, of items that keep their id and code.
        revised: entries of items whose labels or time changed.
        vanished: ids of items whose files are gone.
        unchanged: how many items stay as they are.
        kept: how many uploaded items stay, listed or not.
        unreadable: pictures whose files cannot be read now; their items stay as they are.

    """

    images: ImageSet
    status: NDArray[np.int64]
    new: list[int] = field(default_factory=list)
    changed: set[int] = field(default_factory=set)
    uploaded: dict[int, tuple[str, ...]] = field(default_factory=dict)
    renamed: dict[int, Entry] = field(default_factory=dict)
    revised: dict[int, Entry] = field(default_factory=dict)
    vanished: list[int] = field(default_factory=list)
    unchanged: int = 0
    kept: int = 0
    unreadable: tuple[Broken, ...] = ()


@dataclass
class _Sorted:
    """Entries of the index, sorted by size, time and labels alone."""

    images: ImageSet
    status: NDArray[np.int64]
    seen: NDArray[np.bool_]
    changed: set[int] = field(default_factory=set)
    uploaded: dict[int, tuple[str, ...]] = field(default_factory=dict)  # of those, by position
    touched: dict[int, tuple[int, Entry]] = field(default_factory=dict)  # by position
    relabelled: dict[int, Entry] = field(default_factory=dict)
    gone: dict[int, Entry] = field(default_factory=dict)
    unchanged: int = 0
    kept: int = 0

    def compare(self, id: int, entry: Entry, at: int, *, let_go: bool = False) -> None:
        """Compare an entry with a file.

        Args:
            id: of the item.
            entry: what the index keeps of it.
            at: position of the file.
            let_go: whether the item was uploaded, and is the collection's from now on.

        """
        self.kept += entry.uploaded
        size, modified = self.status[at].tolist()
        if size < 0:
            return
        labels = entry.labels if entry.uploaded else self.images.label_names(at)
        if size != entry.size:
            self.change(at, entry)
        elif modified != entry.modified:
            self.touched[at] = id, entry
        elif let_go or set(labels) != set(entry.labels):
            self.relabelled[id] = entry._replace(labels=labels)
        else:
            self.unchanged += 1

    def change(self, at: int, entry: Entry) -> None:
        """Note that a file has another content than its entry."""
        self.changed.add(at)
        if entry.uploaded:
            self.uploaded[at] = entry.labels


def plan(
    known: Iterable[tuple[int, Entry]],
    images: ImageSet,
    *,
    drop_uploads: bool = False,
    progress: Progress | None = None,
) -> Plan:
    """Compare the entries of an index with a collection.

    Only files with another time, or with a new name and the size of a file that is gone, are read.
    An uploaded item keeps its labels, whatever the collection says, and stays as long as its file
    is there, whether the collection lists it or not.

    Args:
        known: id and entry of every item, as `Store.scan` returns them.
        images: the whole collection.
        drop_uploads: treat uploaded items as all others.
        progress: called with (files hashed, files to hash).

    """
    found = _sort(known, images, drop_uploads=drop_uploads)
    images, status = found.images, found.status
    fresh = np.flatnonzero(~found.seen & (status[: len(found.seen), 0] >= 0)).tolist()
    sizes = {entry.size for entry in found.gone.values() if entry.sha256}
    candidates = [at for at in fresh if sizes and int(status[at, 0]) in sizes]
    digests = _digests(images, [*found.touched, *candidates], progress)
    moved = dict(_renamed(found.gone, images, candidates, digests))
    renamed = {id: _revise(found.gone[id], images, at, status) for at, id in moved.items()}
    revised, unreadable = _compare_contents(found, digests)
    return Plan(
        images=images,
        status=status,
        new=[at for at in fresh if at not in moved],
        changed=found.changed,
        uploaded=found.uploaded,
        renamed=renamed,
        revised=revised,
        vanished=[id for id in found.gone if id not in renamed],
        unchanged=found.unchanged,
        kept=found.kept + sum(entry.uploaded for entry in renamed.values()),
        unreadable=tuple(_unreadable(images, at) for at in unreadable),
    )


def _sort(known: Iterable[tuple[int, Entry]], images: ImageSet, *, drop_uploads: bool) -> _Sorted:
    """Walk once over the entries; what stays as it is takes no memory."""
    position = {name: at for at, name in enumerate(images.file_names)}
    found = _Sorted(images, file_statuses(images), np.zeros(len(images), bool))
    unlisted: dict[int, Entry] = {}
    root = images.root.resolve()
    for id, entry in known:
        let_go = entry.uploaded and drop_uploads
        if let_go:
            entry = entry._replace(uploaded=False)
        at = position.get(entry.file_name)
        if at is not None:
            found.seen[at] = True
            found.compare(id, entry, at, let_go=let_go)
        elif entry.uploaded and _is_there(root, entry.file_name):
            unlisted[id] = entry
        else:
            found.gone[id] = entry
    if unlisted:
        _append(found, [entry.file_name for entry in unlisted.values()])
        for at, (id, entry) in enumerate(unlisted.items(), start=len(images)):
            found.compare(id, entry, at)
    return found


def _is_there(root: Path, name: str) -> bool:
    """Return whether a folder has a file of that name; where it cannot be looked at, it may."""
    try:
        path = (root / name).resolve()
        return path.is_relative_to(root) and S_ISREG(path.stat().st_mode)
    except (
        FileNotFoundError,
        NotADirectoryError,
        RuntimeError,
        ValueError,
    ):  # or links in a circle
        return False
    except OSError:
        return True


def _append(found: _Sorted, names: Sequence[str]) -> None:
    """Add files that the collection does not list, without labels."""
    images = found.images
    none = np.zeros((len(names), len(images.classes)), np.uint8)
    added = ImageSet(images.root, tuple(names), none, images.classes)
    found.status = np.concatenate([found.status, file_statuses(added)])
    labels = np.concatenate([images.labels, none])
    found.images = replace(images, file_names=(*images.file_names, *names), labels=labels)


def _compare_contents(
    found: _Sorted, digests: Mapping[int, str | None]
) -> tuple[dict[int, Entry], list[int]]:
    """Sort touched files: whose entry is to be revised, and which cannot be read."""
    revised = dict(found.relabelled)
    unreadable = np.flatnonzero(found.status[:, 0] < 0).tolist()
    for at, (id, entry) in found.touched.items():
        if digests[at] is None:
            unreadable.append(at)
        elif digests[at] == entry.sha256:
            revised[id] = _revise(entry, found.images, at, found.status)
        else:
            found.change(at, entry)
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
    name, modified = images.file_names[at], int(status[at, 1])
    labels = entry.labels if entry.uploaded else images.label_names(at)
    return entry._replace(file_name=name, labels=labels, modified=modified)


def _unreadable(images: ImageSet, at: int) -> Broken:
    reason = f"{images.path(at)} cannot be read now"
    return Broken(at, images.file_names[at], reason, "unreadable")


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
