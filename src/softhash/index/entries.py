"""What an index keeps of a file: its size, its time and the SHA-256 of its content."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from softhash.files import hash_file, modified_ns
from softhash.index.items import Entry

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet

NOT_THERE = (-1, -1)

Status = tuple[int, int]  # size in bytes, time of the last change in nanoseconds


def file_status(path: str | Path) -> Status:
    """Return size and time of a file; both are below 0 where it is not there."""
    try:
        found = os.stat(path)  # noqa: PTH116 (millions of them: a Path each would double the time)
    except OSError:
        return NOT_THERE
    return found.st_size, modified_ns(found)


def file_statuses(images: "ImageSet") -> NDArray[np.int64]:
    """Return (n, 2), size and time of every file of a collection."""
    root = os.fspath(images.root)
    found = [file_status(f"{root}/{name}") for name in images.file_names]
    return np.array(found, np.int64).reshape(-1, 2)


def read_entry(path: Path, file_name: str, labels: tuple[str, ...], before: Status) -> Entry:
    """Build the entry of a picture that was just encoded.

    A file that changed since `before` may have another content than its code, and one that cannot
    be read now any: its entry gets no SHA-256, and the next update encodes it again.

    Args:
        path: where the file is.
        file_name: its name in the index, relative to the index's root.
        labels: names of its labels.
        before: size and time that the file had before it was encoded.

    """
    digest = hash_file(path)
    if digest is None:
        return Entry(file_name, labels)  # of no size and time: not as the file is
    unchanged = file_status(path) == before
    return Entry(file_name, labels, *before, sha256=digest if unchanged else "")
