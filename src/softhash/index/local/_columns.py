"""codes.bin and labels-N.bin: files of records of one size, record number = id, scanned in place.

They hold nothing that items.sqlite does not have, in the form that kernels read.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes
from softhash.errors import IndexDamagedError
from softhash.files import sync_folder
from softhash.hamming.words import Words, word_count

COPIED_AT_ONCE = 1 << 16  # records

Ids = npt.NDArray[np.int64]


def in_records(codes: Codes) -> Codes:
    """Pad codes with zeros to whole 64-bit words, as records have them."""
    row_bytes = codes.shape[1]
    size = 8 * word_count(row_bytes)
    if size == row_bytes:
        return np.require(codes, np.uint8, ["C", "W"])  # kernels are compiled for such arrays
    records = np.zeros((len(codes), size), np.uint8)
    records[:, :row_bytes] = codes
    return records


def check_length(path: Path, records: int, size: int) -> int:
    """Return how many bytes a file has, after a look whether all its records are there."""
    try:
        length = path.stat().st_size
    except FileNotFoundError:
        raise IndexDamagedError(
            f"{path} is missing",
            "open the index for writing once, and it is made again from the items",
        ) from None
    if length < records * size:
        raise IndexDamagedError(
            f"{path} is damaged: it holds {length // size:,} of {records:,} records",
            "delete it, and the next opening for writing makes it again from the items",
        )
    return length


def map_records(path: Path, records: int, words: int) -> Words:
    """Map the records of a file into memory, (records, words); what follows them is left out.

    The mapping is private and copied on writing, which nobody does: an array that is not marked
    read-only is read by the kernels that are compiled already.
    """
    check_length(path, records, 8 * words)
    if not records:
        return np.empty((0, words), np.uint64)
    return np.asarray(np.memmap(path, np.uint64, "c", shape=(records, words)))


class Column:
    """One such file, open for writing."""

    def __init__(self, path: Path, size: int) -> None:
        self.path, self.size = path, size  # of a record, in bytes
        self._handle = os.open(path, os.O_RDWR)

    def append(self, records: int, data: bytes) -> None:
        """Write records after the first so many, where nobody looks yet."""
        _write_all(self._handle, data, records * self.size)

    def put(self, ids: Ids, rows: npt.NDArray[np.generic]) -> None:
        """Overwrite records, neighbours at once."""
        breaks = np.flatnonzero(np.diff(ids) != 1) + 1
        for at, run in zip(np.split(ids, breaks), np.split(rows, breaks), strict=True):
            if len(at):
                _write_all(self._handle, run.tobytes(), int(at[0]) * self.size)

    def cut(self, records: int) -> None:
        """Drop what follows the records that count."""
        if os.fstat(self._handle).st_size > records * self.size:
            os.ftruncate(self._handle, records * self.size)

    def sync(self) -> None:
        """Return when everything is on disk."""
        os.fdatasync(self._handle)

    def close(self) -> None:
        """Close the file; twice is fine."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def write_new(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file through a neighbour that takes its name when it is on disk."""
    new = path.with_name(f"{path.name}.new")
    try:
        with new.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        sync_folder(path.parent)
    finally:
        new.unlink(missing_ok=True)


def widened(labels: Words, words: int) -> Iterator[bytes]:
    """Yield label records made longer, in parts."""
    for first in range(0, len(labels), COPIED_AT_ONCE):
        part = labels[first : first + COPIED_AT_ONCE]
        longer = np.zeros((len(part), words), np.uint64)
        longer[:, : part.shape[1]] = part
        yield longer.tobytes()


def _write_all(handle: int, data: bytes, offset: int) -> None:
    left = memoryview(data)
    while left:
        written = os.pwrite(handle, left, offset)
        left, offset = left[written:], offset + written
