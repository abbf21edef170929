"""The dates and cameras of all slots in memory, for filters."""

import itertools
from pathlib import Path

import numpy as np
import numpy.typing as npt

from softhash.index.local._cameras import CAMERAS, NO_CAMERA, read_cameras
from softhash.index.local._columns import Ids
from softhash.index.local._crc32 import Flags
from softhash.index.local._derived_columns import FileCache, rows_at, sound_records
from softhash.index.local._facts import FACTS, RECORD, known_cameras
from softhash.index.where import Camera, Taken

UNKNOWN = np.iinfo(np.int64).min  # which NumPy has for a time that is not one

Seconds = npt.NDArray[np.int64]
Places = npt.NDArray[np.uint16]

_versions = itertools.count()


class FactColumns:
    """Times and cameras of the first slots; slots after them have none.

    Attributes:
        version: another one for all that was read another time.

    """

    def __init__(self, taken: Seconds, cameras: Places, names: tuple[str, ...]) -> None:
        self.version = next(_versions)
        self._taken, self._cameras, self._names = taken, cameras, names

    def take(self, ids: Ids) -> "FactColumns":
        """Return the rows of some slots."""
        columns = rows_at(self._taken, ids, UNKNOWN), rows_at(self._cameras, ids, NO_CAMERA)
        return FactColumns(*columns, self._names)

    def flags(self, leaf: Taken | Camera) -> Flags:
        """Return which of the first slots a leaf keeps."""
        if isinstance(leaf, Camera):
            kept = np.zeros(NO_CAMERA + 1, np.bool_)
            asked = leaf.text.casefold()
            kept[: len(self._names)] = [asked in name.casefold() for name in self._names]
            return kept[self._cameras]
        flags: Flags = self._taken > UNKNOWN
        if leaf.after:
            flags &= self._taken >= _seconds(leaf.after)
        if leaf.before:
            flags &= self._taken < _seconds(leaf.before)
        return flags


def _seconds(beginning: str) -> np.int64:
    """Return the first second of a year, a month or a day."""
    return np.datetime64(beginning, "s").astype(np.int64)


NO_FACTS = FactColumns(np.empty(0, np.int64), np.empty(0, np.uint16), ())


class KeptFactColumns:
    """What an index keeps in its file now: read when it is first used, and when it has changed."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._cache = folder, FileCache(NO_FACTS)

    def read(self) -> FactColumns:
        """Return the columns as they are now."""
        paths = self._folder / FACTS, self._folder / CAMERAS
        return self._cache.read(paths, lambda: _read(self._folder))


def _read(folder: Path) -> FactColumns:
    """Read the records of a file; those that are not sound have no facts."""
    n = (folder / FACTS).stat().st_size // RECORD.itemsize
    taken, cameras = np.full(n, UNKNOWN, np.int64), np.full(n, NO_CAMERA, np.uint16)
    names = read_cameras(folder)
    for rows, records in sound_records(folder / FACTS, RECORD, n):
        taken[rows], cameras[rows] = records["taken"], known_cameras(records, names)
    return FactColumns(taken, cameras, names)
