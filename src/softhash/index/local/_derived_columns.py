"""Derived files as filters read them: whole, once, and again when they have changed."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from softhash.hamming.words import Words
from softhash.index.local._columns import Ids
from softhash.index.local._crc32 import Flags, are_sound
from softhash.index.local._derived import Records

READ_AT_ONCE = 1 << 16  # records
SETTLED_NS = 100_000_000  # what changed less than so long ago may change again at the same time

Value = TypeVar("Value")
Column = TypeVar("Column", bound=np.generic)
Stamp = tuple[int, int, int]


class FileCache(Generic[Value]):
    """What was read from files, as long as they stay what they are."""

    def __init__(self, missing: Value) -> None:
        self._missing = missing  # what stands for a file that is not there
        self._last: tuple[object, Value] = None, missing

    def read(self, paths: Sequence[Path], load: Callable[[], Value]) -> Value:
        """Return what `load` reads from files, of which the first must be there."""
        stamps = [_stamp(path) for path in paths]
        known, value = self._last
        with suppress(OSError):
            if stamps[0] is None:
                return self._missing
            if (now := (*paths, *stamps)) != known:
                value = load()
                settled = all(stamp is None or _is_settled(stamp) for stamp in stamps)
                self._last = now if settled else None, value
            return value
        return self._missing


def _stamp(path: Path) -> Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _is_settled(stamp: Stamp) -> bool:
    return abs(time.time_ns() - stamp[-1]) > SETTLED_NS


def sound_records(
    path: Path, record: np.dtype[np.void], count: int
) -> Iterator[tuple[Ids, Records]]:
    """Yield the slots of those of the first records that are sound, and the records, in parts.

    Args:
        path: of a derived file.
        record: the type of its records.
        count: how many to read; the file may grow meanwhile.

    """
    with path.open("rb") as file:
        for first in range(0, count, READ_AT_ONCE):
            data = file.read(min(READ_AT_ONCE, count - first) * record.itemsize)
            records = np.frombuffer(data, record, len(data) // record.itemsize)
            sound = are_sound(records)
            yield first + np.flatnonzero(sound), records[sound]


def rows_at(column: npt.NDArray[Column], ids: Ids, missing: npt.ArrayLike) -> npt.NDArray[Column]:
    """Return the rows of some slots; `missing` for those that the column does not have."""
    rows = np.full((len(ids), *column.shape[1:]), missing, column.dtype)
    there = ids < len(column)
    rows[there] = column[ids[there]]
    return rows


def packed(flags: Flags, n: int) -> Words:
    """Return flags of the first slots as a packed mask of n."""
    mask = np.zeros((n + 63) // 64, np.uint64)
    bits = np.packbits(flags[:n], bitorder="little")
    mask.view(np.uint8)[: len(bits)] = bits
    return mask
