"""Pictures without labels, in a folder and the folders within.

Hidden files and folders are skipped, links to folders are not followed, and the order is that of
the names, whatever order the disk gives. A million files are one pass.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from softhash.data.image_set import ImageSet
from softhash.data.listing import Listing
from softhash.data.names import IMAGE_SUFFIXES, clean_names, several
from softhash.errors import InputError

_MAY_HOLD_LABELS = (".csv", ".json", ".jsonl")


def matches(root: Path) -> bool:
    """Return whether there is any picture; the search ends at the first."""
    return root.is_dir() and any(_is_image(name) for name, _ in _walk(root))


def read(root: Path) -> ImageSet:
    """Read the names of all pictures; the labels have no columns."""
    names: list[str] = []
    odd: list[str] = []
    tables: list[str] = []
    listing = Listing(root)
    for name, is_link in _walk(root):
        if _is_image(name):
            usable = _is_usable(name) and (not is_link or _is_inside(name, listing))
            (names if usable else odd).append(name)
        elif "/" not in name and name.lower().endswith(_MAY_HOLD_LABELS):
            tables.append(name)
    if not names:
        raise InputError(
            f"{root} has no pictures in it", f"known: {', '.join(sorted(IMAGE_SUFFIXES))}"
        )
    notes = []
    if odd:
        which = several([ascii(name) for name in sorted(odd)])
        notes.append(f"{len(odd):,} files left out, odd names or links out of the folder: {which}")
    if tables:
        notes.append(
            f"no labels were read; to use one of these, give it: {several(sorted(tables))}"
        )
    none = np.zeros((len(names), 0), np.uint8)
    return ImageSet(root, tuple(sorted(names)), none, (), "folder", notes=tuple(notes))


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
                    elif entry.is_file():
                        yield prefix + entry.name, entry.is_symlink()
        except OSError as error:
            raise InputError(f"{root / prefix} cannot be listed: {error.strerror}") from error


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
