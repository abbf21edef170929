"""codes.bin and labels-N.bin: records of one size, one record per slot, scanned in place.

They repeat what items.sqlite holds, in the form that kernels read; an id is a slot.
"""

import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes
from softhash.errors import IndexDamagedError, InputError
from softhash.files import WRITING, sync_data, write_at
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
    """Return how many bytes a file has; raise where records are missing."""
    try:
        length = path.stat().st_size
    except FileNotFoundError:
        raise IndexDamagedError(
            f"{path} is missing",
            "open the index for writing once, and it is made again from the items",
        ) from None
    if length < records * size:
        raise _too_short(path, length, records, size // 8)
    return length


def _too_short(path: Path, length: int, records: int, words: int) -> IndexDamagedError:
    return IndexDamagedError(
        f"{path} is damaged: it holds {length // (8 * words):,} of {records:,} records",
        "delete it, and the next opening for writing makes it again from the items",
    )


class Mapped(NamedTuple):
    """A file's records in memory, (records, words), and what holds them there."""

    path: Path
    records: Words
    file: mmap.mmap | None  # None where there are no records

    def check_length(self) -> None:
        """Raise where the file was cut: what reads beyond its end would be stopped by a signal.

        A cut during a search is not seen by it.
        """
        if self.file is not None and self.file.size() < self.records.nbytes:
            raise _too_short(self.path, self.file.size(), *self.records.shape)


def map_records(path: Path, records: int, words: int) -> Mapped:
    """Map the records of a file into memory; what follows them is left out.

    The mapping is private and copy-on-write, though nothing is written: kernels are compiled for
    arrays that are not marked read-only.

    Args:
        path: the file.
        records: how many of its records count.
        words: 64-bit words per record.

    """
    check_length(path, records, 8 * words)
    if not records:
        return Mapped(path, np.empty((0, words), np.uint64), None)
    try:
        with path.open("rb") as file:
            held = mmap.mmap(file.fileno(), 8 * records * words, access=mmap.ACCESS_COPY)
    except (OSError, ValueError) as error:  # it was cut, or removed, this very moment
        check_length(path, records, 8 * words)
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}") from error
    return Mapped(path, np.frombuffer(held, np.uint64).reshape(records, words), held)


class Column:
    """One of these files, open for writing."""

    def __init__(self, path: Path, size: int) -> None:
        self.path, self.size = path, size  # of a record, in bytes
        self._handle = os.open(path, WRITING)

    def append(self, records: int, data: bytes) -> None:
        """Write records after the first `records`, where no reader looks yet."""
        write_at(self._handle, data, records * self.size)

    def put(self, ids: Ids, rows: npt.NDArray[np.generic]) -> None:
        """Overwrite records; those of consecutive ids in one write."""
        breaks = np.flatnonzero(np.diff(ids) != 1) + 1
        for at, run in zip(np.split(ids, breaks), np.split(rows, breaks), strict=True):
            if len(at):
                write_at(self._handle, run.tobytes(), int(at[0]) * self.size)

    def cut(self, records: int) -> None:
        """Drop what follows the records that count."""
        if os.fstat(self._handle).st_size > records * self.size:
            os.ftruncate(self._handle, records * self.size)

    def sync(self) -> None:
        """Return when everything is on disk."""
        sync_data(self._handle)

    def close(self) -> None:
        """Close the file; may be called twice."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def widened(labels: Words, words: int) -> Iterator[bytes]:
    """Yield label records made longer, in parts."""
    for first in range(0, len(labels), COPIED_AT_ONCE):
        part = labels[first : first + COPIED_AT_ONCE]
        longer = np.zeros((len(part), words), np.uint64)
        longer[:, : part.shape[1]] = part
        yield longer.tobytes()
