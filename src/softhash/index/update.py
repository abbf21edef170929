"""An index brought up to date with a collection: only what changed is looked at closely.

A file whose size and time are as they were is unchanged. Where only the time differs, the SHA-256
decides. A new file with the content of one that is gone is that one under another name: it keeps
its id and its code. Labels are compared without touching the files.

A picture of the index whose file was changed into something that cannot be decoded is removed, for
its code tells what is no longer there. One whose file cannot be read at all is kept: nothing is
known of what it holds now.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from softhash.data.loading import Broken
from softhash.devices import usable_cores
from softhash.errors import EmptyUpdateError
from softhash.index import HammingIndex
from softhash.index.changes import Plan, file_status, hash_file, labels_at, plan
from softhash.index.items import Entry

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.model.encoding import Encoded, Options

REVISED_AT_ONCE = 10_000


@dataclass(frozen=True)
class Summary:
    """What an update did.

    Attributes:
        added, changed: pictures encoded because they are new, or because their content changed.
        renamed: pictures that have another name and kept their id and code.
        revised: pictures whose labels or time changed, and nothing else.
        removed: items whose files are gone, or hold no picture any more.
        unchanged: pictures that were not touched.
        broken: pictures that could not be read.
        items: what the index holds now.
        seconds: how long it took.

    """

    added: int
    changed: int
    renamed: int
    revised: int
    removed: int
    unchanged: int
    broken: tuple[Broken, ...]
    items: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        broken = [{"file_name": one.file_name, "reason": one.reason} for one in self.broken]
        return {**self.__dict__, "broken": broken, "seconds": round(self.seconds, 3)}


def update(
    index: HammingIndex,
    images: "ImageSet",
    *,
    force: bool = False,
    keep_missing: bool = False,
    **options: Unpack["Options"],
) -> Summary:
    """Make an index hold a collection as it is now, and encode only what is new or changed.

    Every batch is safe in the index before the next one begins; after an interruption another
    update goes on where it stopped.

    Args:
        index: open for writing.
        images: the whole collection.
        force: go on even if not one picture of the index is left in the collection.
        keep_missing: do not remove items whose files are gone.
        options: those of `Hasher.encode`.

    """
    work = plan(index.store.scan(), images)
    check(index, images, work, force=force, keep_missing=keep_missing)
    return apply_plan(index, images, work, keep_missing=keep_missing, **options)


def check(
    index: HammingIndex,
    images: "ImageSet",
    work: Plan,
    *,
    force: bool = False,
    keep_missing: bool = False,
) -> None:
    """Raise where an update would empty the index, or mix the pictures of two folders."""
    if not _moved(index, images):
        index.set_root(images.root)
    nothing_left = work.vanished and len(work.vanished) == len(index)
    if nothing_left and not (force or keep_missing):
        raise EmptyUpdateError(
            f"none of the {len(index):,} pictures in {index.store.location} is in {images.root}",
            "is it the right folder, and is its drive there? force=True removes them from the index, "
            "keep_missing=True keeps them",
        )


def _moved(index: HammingIndex, images: "ImageSet") -> bool:
    """Tell whether the index's folder is gone: this one may be the same in another place."""
    root = index.root
    return root is not None and root != images.root.resolve() and not root.exists()


def apply_plan(
    index: HammingIndex,
    images: "ImageSet",
    work: Plan,
    *,
    keep_missing: bool = False,
    **options: Unpack["Options"],
) -> Summary:
    """Do what a plan says: what is quick first, then encode."""
    started = time.monotonic()
    if _moved(index, images):
        index.store.set_root(str(images.root.resolve()))
    revise = list((work.renamed | work.revised).items())
    for start in range(0, len(revise), REVISED_AT_ONCE):
        index.store.revise(dict(revise[start : start + REVISED_AT_ONCE]))
    removed = 0 if keep_missing or not work.vanished else index.store.remove(work.vanished)
    broken = _encode(index, images, work, **options)
    spoilt = [one.file_name for one in broken if one.position in work.changed]
    if spoilt:
        removed += index.store.remove(list(index.store.find_names(spoilt).values()))
    return Summary(
        added=len(work.new) - (len(broken) - len(spoilt)),
        changed=len(work.changed) - len(spoilt),
        renamed=len(work.renamed),
        revised=len(work.revised),
        removed=removed,
        unchanged=work.unchanged,
        broken=(*work.unreadable, *broken),
        items=len(index),
        seconds=time.monotonic() - started,
    )


def _encode(
    index: HammingIndex, images: "ImageSet", work: Plan, **options: Unpack["Options"]
) -> list[Broken]:
    """Encode what is new or changed, batch by batch, and return what could not be read."""
    positions = sorted((*work.new, *work.changed))
    if not positions:
        return []
    broken: list[Broken] = []
    parts = index.hasher.stream(images.select(positions), **options)
    with closing(parts), ThreadPoolExecutor(usable_cores()) as pool:
        for part in parts:
            at = [positions[i] for i in part.positions]
            if at:
                entries = list(pool.map(partial(_entry, images, work), at))
                index.store.upsert(part.values, entries)
            broken += _at_home(part, positions)
    return broken


def _at_home(part: "Encoded", positions: Sequence[int]) -> list[Broken]:
    """Give broken pictures their positions in the whole collection."""
    return [Broken(positions[one.position], one.file_name, one.reason) for one in part.broken]


def _entry(images: "ImageSet", work: Plan, position: int) -> Entry:
    """Collect what is kept of a picture that was just encoded.

    If its file changed since the plan was made, nobody knows which content the code belongs to:
    without a SHA-256 the next update encodes it again.
    """
    path = images.path(position)
    before = work.status[position]
    digest = hash_file(path)
    same = digest is not None and np.array_equal(file_status(path), before)
    return Entry(
        images.file_names[position],
        labels_at(images, position),
        size=int(before[0]),
        modified=int(before[1]),
        sha256=digest if digest is not None and same else "",
    )
