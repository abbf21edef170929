"""Pictures encoded into an index: added, replaced, or brought up to date with a collection.

An update looks closely only at what changed. A file whose size and time are as they were is
unchanged. Where only the time differs, the SHA-256 decides. A new file with the content of one that
is gone is that one under another name: it keeps its id and its code. Labels are compared without
touching the files.

A picture of the index whose file can no longer be decoded is removed, for its code describes what
is no longer there. One whose file cannot be read at all is kept: its content may be the same.

What clients uploaded to a server is kept: an uploaded item keeps its labels, and stays as long as
its file is there, until it is let go (`drop_uploads`).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from softhash.codes import Codes, pack
from softhash.data.loading import Broken
from softhash.data.photo_facts import PhotoFacts, read_facts
from softhash.devices import usable_cores
from softhash.errors import EmptyUpdateError, InputError
from softhash.index.changes import Plan
from softhash.index.encoding import KnownFeatures, encode_pictures
from softhash.index.entries import file_statuses, read_entry
from softhash.index.facts import keep_facts
from softhash.index.features import kept_features
from softhash.index.items import Entry
from softhash.index.likely import keep_likely

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.index.hamming_index import HammingIndex
    from softhash.model.encoding import EncodeOptions

REVISED_AT_ONCE = 10_000
NOTHING_KNOWN: KnownFeatures = {}

Write = Callable[[Codes, Sequence[Entry]], list[int]]


@dataclass(frozen=True)
class UpdateSummary:
    """What an update did.

    Attributes:
        added: pictures encoded because they are new.
        changed: pictures encoded because their content changed.
        renamed: pictures that have another name and kept their id and code.
        revised: pictures whose labels or time changed, and nothing else.
        removed: items whose files are gone, or cannot be decoded any more.
        unchanged: pictures that were not touched.
        kept: uploaded items, counted above too, that keep their labels and stay, listed or not.
        broken: pictures that could not be read.
        items: how many the index holds now.
        seconds: how long it took.

    """

    added: int
    changed: int
    renamed: int
    revised: int
    removed: int
    unchanged: int
    kept: int
    broken: tuple[Broken, ...]
    items: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        broken = [{"file_name": one.file_name, "reason": one.reason} for one in self.broken]
        return {**self.__dict__, "broken": broken, "seconds": round(self.seconds, 3)}


def add_images(
    index: "HammingIndex", images: "ImageSet", *, replace: bool, **options: Unpack["EncodeOptions"]
) -> tuple[Broken, ...]:
    """Encode and write all pictures of a collection, and return those that are broken.

    Args:
        index: open for writing.
        images: the pictures.
        replace: whether a picture may take the place of one with its name.
        options: those of `Hasher.encode`.

    """
    index.set_root(images.root)
    known = {} if replace else index.store.find_names(images.file_names)
    if known:
        raise InputError(
            f"{len(known):,} of these pictures are in the index, such as {next(iter(known))}",
            "use upsert to replace them",
        )
    write = index.store.upsert if replace else index.store.add
    everything = range(len(images))
    return tuple(
        _encode(index, images, everything, file_statuses(images), write, {}, {}, **options)
    )


def check_plan(
    index: "HammingIndex",
    images: "ImageSet",
    plan: Plan,
    *,
    force: bool = False,
    keep_missing: bool = False,
) -> None:
    """Raise where an update would empty the index, or mix the pictures of two folders.

    Args:
        index: open for writing.
        images: the whole collection.
        plan: what is to be done.
        force: whether the index may be emptied.
        keep_missing: whether items whose files are gone stay.

    """
    if not _has_moved(index, images):
        index.set_root(images.root)
    unlisted = len(plan.images) - len(images)
    nothing_left = plan.vanished and len(plan.vanished) + unlisted == len(index)
    if nothing_left and not (force or keep_missing):
        uploaded = f", but for {unlisted:,} uploaded ones" if unlisted else ""
        raise EmptyUpdateError(
            f"none of the {len(index):,} pictures in {index.store.location} is in {images.root}"
            f"{uploaded}",
            "is it the right folder, and is its drive there? force=True removes them from the "
            "index, keep_missing=True keeps them",
        )


def _has_moved(index: "HammingIndex", images: "ImageSet") -> bool:
    """Return whether the index's folder is gone: this one may be the same in another place."""
    root = index.root
    return root is not None and root != images.root.resolve() and not root.exists()


def apply_plan(
    index: "HammingIndex",
    plan: Plan,
    *,
    keep_missing: bool = False,
    features: KnownFeatures = NOTHING_KNOWN,
    **options: Unpack["EncodeOptions"],
) -> UpdateSummary:
    """Do what a plan contains: what is quick first, then encode.

    Args:
        index: open for writing.
        plan: what is to be done; `check_plan` has seen it.
        keep_missing: do not remove items whose files are gone.
        features: of pictures, by position, that need not be computed again.
        options: those of `Hasher.encode`.

    """
    started = time.monotonic()
    images = plan.images
    if _has_moved(index, images):
        index.store.set_root(str(images.root.resolve()))
    revise = list((plan.renamed | plan.revised).items())
    for start in range(0, len(revise), REVISED_AT_ONCE):
        index.store.revise(dict(revise[start : start + REVISED_AT_ONCE]))
    removed = 0 if keep_missing or not plan.vanished else index.store.remove(plan.vanished)
    positions = sorted((*plan.new, *plan.changed))
    write = index.store.upsert
    known = write, plan.uploaded, features
    broken = _encode(index, images, positions, plan.status, *known, **options)
    spoilt = [one for one in broken if one.position in plan.changed]
    if spoilt:
        names = [one.file_name for one in spoilt]
        removed += index.store.remove(list(index.store.find_names(names).values()))
    return UpdateSummary(
        added=len(plan.new) - (len(broken) - len(spoilt)),
        changed=len(plan.changed) - len(spoilt),
        renamed=len(plan.renamed),
        revised=len(plan.revised),
        removed=removed,
        unchanged=plan.unchanged,
        kept=plan.kept - sum(one.position in plan.uploaded for one in spoilt),
        broken=(*plan.unreadable, *broken),
        items=len(index),
        seconds=time.monotonic() - started,
    )


def _encode(
    index: "HammingIndex",
    images: "ImageSet",
    positions: Sequence[int],
    status: NDArray[np.int64],
    write: Write,
    uploaded: Mapping[int, tuple[str, ...]],
    known: KnownFeatures,
    **options: Unpack["EncodeOptions"],
) -> list[Broken]:
    """Encode pictures and write them batch by batch; return what could not be read.

    Args:
        index: open for writing.
        images: the collection.
        positions: of the pictures to encode.
        status: size and time of every file.
        write: `Store.add` or `Store.upsert`.
        uploaded: labels of pictures that were uploaded, by position.
        known: features of pictures, by position.
        options: those of `Hasher.encode`.

    """
    if not positions:
        return []

    def look(position: int) -> tuple[PhotoFacts, Entry]:
        facts = read_facts(images.path(position)) if keeps_facts else PhotoFacts()
        return facts, entry(position)  # which has no SHA-256 where the file changes meanwhile

    def entry(position: int) -> Entry:
        size, modified = status[position].tolist()
        labels = uploaded.get(position)
        names = images.file_names[position], images.label_names(position)
        found = read_entry(images.path(position), *names, (size, modified))
        return found if labels is None else found._replace(labels=labels, uploaded=True)

    broken: list[Broken] = []
    keeps_facts = keep_facts(index.store)
    derived = [kept for kept in (kept_features(index.store), keep_likely(index.store)) if kept]
    kind = "both" if derived else "codes"
    parts = encode_pictures(index.hasher, images, positions, kind, known, **options)
    with closing(parts), ThreadPoolExecutor(usable_cores()) as pool:
        for part in parts:
            if at := part.positions.tolist():
                codes = pack(part.values[:, : index.bits]) if derived else part.values
                facts, entries = zip(*pool.map(look, at), strict=True)
                ids, contents = write(codes, entries), [one.sha256 for one in entries]
                if keeps_facts:
                    keeps_facts.put(ids, contents, facts)
                for kept in derived:  # made of features, which follow the outputs
                    kept.put(ids, contents, part.values[:, index.bits :])
            broken += part.broken
    return broken
