"""Pictures without labels, in a folder and the folders within.

Hidden files and folders are skipped, links to folders are not followed, and the order is that of
the names, whatever order the disk gives. A million files are one pass.
"""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from softhash.data.image_set import ImageSet
from softhash.data.listing import Listing
from softhash.data.names import IMAGE_SUFFIXES, clean_names, several
from softhash.data.skipped import kind_of_name
from softhash.errors import InputError

_MAY_HOLD_LABELS = (".csv", ".json", ".jsonl")


def matches(root: Path) -> bool:
    """Return whether there is any picture; the search ends at the first."""
    return root.is_dir() and any(_is_image(name) for name, _ in _walk(root))


def read(root: Path) -> ImageSet:
    """Read the names of all pictures; the labels have no columns."""
    found = _find(root)
    if not found.names:
        raise InputError(
            f"{root} has no pictures in it", f"known: {', '.join(sorted(IMAGE_SUFFIXES))}"
        )
    notes = found.notes
    if found.tables:
        tables = several(sorted(found.tables))
        notes.append(f"no labels were read; to use one of these, give it: {tables}")
    none = np.zeros((len(found.names), 0), np.uint8)
    names = tuple(sorted(found.names))
    return ImageSet(
        root, names, none, (), "folder", notes=tuple(notes), skipped=dict(found.skipped)
    )


def with_unlisted(images: ImageSet, table: str) -> ImageSet:
    """Return a set that also has the pictures of its folder that a table does not name.

    They come last, without labels, and a note counts them.

    Args:
        images: what the table names.
        table: its file name.

    """
    found = _find(images.root)
    listed = set(images.file_names)
    names = [name for name in sorted(found.names) if name not in listed]
    notes = [*images.notes, *found.notes]
    if names:
        notes.append(
            f"{len(names):,} pictures are not in {table} and are read without labels: "
            f"{several(names)}"
        )
    none = np.zeros((len(names), len(images.classes)), np.uint8)
    return replace(
        images,
        file_names=(*images.file_names, *names),
        labels=np.concatenate([images.labels, none]) if names else images.labels,
        notes=tuple(notes),
        skipped=dict(found.skipped),
    )


@dataclass
class _Found:
    """The files of a folder: pictures, what cannot be used or read, tables at its top."""

    names: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def notes(self) -> list[str]:
        if not self.odd:
            return []
        which = several([ascii(name) for name in sorted(self.odd)])
        count = f"{len(self.odd):,} files left out"
        return [f"{count}, odd names or links out of the folder: {which}"]


def _find(root: Path) -> _Found:
    found = _Found()
    listing = Listing(root)
    for name, is_link in _walk(root):
        if _is_image(name):
            usable = _is_usable(name) and (not is_link or _is_inside(name, listing))
            (found.names if usable else found.odd).append(name)
        elif kind := kind_of_name(name):
            found.skipped[kind] += 1
        elif "/" not in name and name.lower().endswith(_MAY_HOLD_LABELS):
            found.tables.append(name)
    return found


def _walk(root: Path) -> Iterator[tuple[str, bool]]:
    """Yield (name, is a link) of all visible files."""
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(root / prefix) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{prefix}{entry.name}/")
                    elif _is_file(entry):
                        yield prefix + entry.name, entry.is_symlink()
        except OSError as error:
            raise InputError(f"{root / prefix} cannot be listed: {error.strerror}") from error


def _is_file(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_file()
    except OSError:  # links in a circle
        return False


def _is_image(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in IMAGE_SUFFIXES  # noqa: PTH122 (Path is slow)


def _is_usable(name: str) -> bool:
    try:
        return bool(clean_names([name]))
    except InputError:
        return False


def _is_inside(name: str, listing: Listing) -> bool:
    try:
        return name in listing
    except InputError:
        return False
