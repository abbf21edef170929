"""Something computed from each file, kept on disk, one row per file, until the file changes.

A cache is two files in a folder: `NAME.npy` with the rows, which `np.load` opens like any other
array, and `NAME.sqlite`, which maps files to rows and keeps the size and modification time that
each file had. A row counts only once its stamp is in there, and the stamp is written after the
row is on disk: a run that is killed leaves rows without a stamp, and they are computed again.
`NAME.lock` beside them is locked by the process that uses the cache.

What is in a cache is used as if it had just been computed. So the files must be this user's own,
and an index that does not fit its rows is made anew. The rows themselves are not hashed.
"""

import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from softhash.data.image_set import ImageSet
from softhash.data.loading import Broken, Progress
from softhash.errors import InputError
from softhash.files import held_lock, modified_ns

_HEADER_BYTES = 128  # of an .npy file: numpy leaves room in it for more rows
_MODE = 0o664  # less what the umask takes away
_SCHEMA = """
CREATE TABLE IF NOT EXISTS pictures (
    name BLOB PRIMARY KEY, row INTEGER NOT NULL, bytes INTEGER, mtime_ns INTEGER
) WITHOUT ROWID
"""


class Stamp(NamedTuple):
    """What differs between two states of a file."""

    bytes: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> "Stamp | None":
        """Stamp a file; None where there is none."""
        try:
            status = path.stat()
        except (OSError, ValueError):
            return None
        return cls(status.st_size, modified_ns(status))


class RowCache:
    """One array of one collection; one process holds it, others wait.

    Args:
        folder: where the files are; it is made if need be.
        root: the folder of the pictures.
        what: what is computed, and how, in a few words; anything else gets other files.
        shape: of a row.
        dtype: of a row.

    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        root: Path,
        what: str,
        shape: tuple[int, ...],
        dtype: npt.DTypeLike,
    ) -> None:
        self._shape = shape
        self._dtype = np.dtype(dtype)
        self._row_bytes = prod(shape) * self._dtype.itemsize
        identity = os.fsencode(root.resolve()) + f"\0{what}".encode()
        name = f"{root.resolve().name}-{sha256(identity).hexdigest()[:16]}"
        self.path = Path(folder) / f"{name}.npy"

    def __enter__(self) -> Self:
        with ExitStack() as opened, self._explained():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for suffix in (".npy", ".sqlite", ".lock"):
                _check_own(self.path.with_suffix(suffix))
                self.path.with_suffix(suffix).touch(_MODE)
            opened.enter_context(held_lock(self.path.with_suffix(".lock")))
            self._stream: BinaryIO = opened.enter_context(self.path.open("r+b", buffering=0))
            self._index, self._rows = _open_index(self.path.with_suffix(".sqlite"))
            opened.callback(self._index.close)
            # Rows that the array does not have cannot have been written.
            self._forget("row >= ?", [(self._stored_rows(),)])
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def stamps(self) -> dict[str, Stamp]:
        """Read the stamps of the files that are in the cache."""
        query = "SELECT name, bytes, mtime_ns FROM pictures WHERE bytes IS NOT NULL"
        with self._explained():
            return {os.fsdecode(name): Stamp(*rest) for name, *rest in self._index.execute(query)}

    def row(self, name: str) -> int:
        """Find the row of a file that is in the cache or that has been reserved."""
        return self._rows[os.fsencode(name)]

    def reserve(self, names: Iterable[str]) -> None:
        """Make room for these files; what was stored of them no longer counts."""
        keys = dict.fromkeys(os.fsencode(name) for name in names)
        new = [key for key in keys if key not in self._rows]
        added = dict(zip(new, range(len(self._rows), len(self._rows) + len(new)), strict=True))
        with self._explained():
            self._forget("name = ?", [(key,) for key in keys])
            self._grow(len(self._rows) + len(added))
            with self._index:
                insert = "INSERT INTO pictures (name, row) VALUES (?, ?)"
                self._index.executemany(insert, added.items())
        self._rows |= added

    def put(self, names: Sequence[str], stamps: Sequence[Stamp | None], rows: NDArray[Any]) -> None:
        """Store the rows of some files.

        Args:
            names: of files that were reserved before.
            stamps: one per file; a row without a stamp is computed again the next time.
            rows: one per file.

        """
        keys = [os.fsencode(name) for name in names]
        with self._explained():
            for key, row in zip(keys, rows, strict=True):
                self._stream.seek(_HEADER_BYTES + self._rows[key] * self._row_bytes)
                _write(self._stream, row.astype(self._dtype, copy=False).tobytes())
            os.fsync(self._stream.fileno())
            with self._index:
                self._index.executemany(
                    "UPDATE pictures SET bytes = ?, mtime_ns = ? WHERE name = ?",
                    [
                        (*(stamp or (None, None)), key)
                        for key, stamp in zip(keys, stamps, strict=True)
                    ],
                )

    def array(self) -> NDArray[Any]:
        """Map all rows, those that were never written included; read-only."""
        if not self._stored_rows():
            return np.empty((0, *self._shape), dtype=self._dtype)
        mapped: NDArray[Any] = np.load(self.path, mmap_mode="r")
        return mapped

    def _forget(self, condition: str, values: Iterable[tuple[object, ...]]) -> None:
        with self._index:
            self._index.executemany(
                f"UPDATE pictures SET bytes = NULL, mtime_ns = NULL WHERE {condition}",  # noqa: S608
                values,
            )

    def _stored_rows(self) -> int:
        """Count the rows of the array; 0 where the file is none of ours or has been cut."""
        self._stream.seek(0)
        try:
            np.lib.format.read_magic(self._stream)
            shape, by_column, dtype = np.lib.format.read_array_header_1_0(self._stream)
        except Exception:  # a damaged header makes numpy raise nearly anything
            return 0
        found = (shape[1:], by_column, dtype, self._stream.tell())
        if found != (self._shape, False, self._dtype, _HEADER_BYTES):
            return 0
        rows = int(shape[0])
        whole = self.path.stat().st_size >= _HEADER_BYTES + rows * self._row_bytes
        return rows if whole else 0

    def _grow(self, rows: int) -> None:
        stored = self._stored_rows()
        if stored >= rows:
            return
        needed = (rows - stored) * self._row_bytes
        free = shutil.disk_usage(self.path.parent).free
        if needed > free:
            raise OSError(f"{needed / 1e6:,.0f} MB are needed and {free / 1e6:,.0f} MB are free")
        # First the room, then the header that claims it: a kill in between does no harm.
        self._stream.truncate(_HEADER_BYTES + rows * self._row_bytes)
        self._stream.seek(0)
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": (rows, *self._shape)}
        np.lib.format.write_array_header_1_0(self._stream, header)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(
                f"the cache {self.path} cannot be written: {reason}",
                "make room or choose another folder (what is in it already stays valid)",
            ) from error


class Computed(NamedTuple):
    """Rows computed of some pictures, and the pictures of which none could be."""

    positions: NDArray[np.int64]
    rows: NDArray[Any]
    broken: tuple[Broken, ...]


def fill(
    store: RowCache,
    images: ImageSet,
    compute: Callable[[Sequence[int]], Iterator[Computed]],
    progress: Progress | None = None,
) -> tuple[NDArray[np.int64], tuple[Broken, ...]]:
    """Compute the rows of files that are new or have changed, and store them as they come.

    Args:
        store: the cache.
        images: the collection.
        compute: called with positions in the collection; yields their rows.
        progress: called with (pictures done, pictures in all).

    Returns:
        The row of each picture in `store.array()`, -1 where there is none; and the broken ones.

    """
    # The stamps are taken before the work: a file that changes meanwhile is noticed the next time.
    names = images.file_names
    stamps = {name: Stamp.of(images.path(i)) for i, name in enumerate(names)}
    cached = store.stamps()
    stale = {name for name, stamp in stamps.items() if stamp is None or cached.get(name) != stamp}
    order = [i for i, name in enumerate(names) if name in stale]
    store.reserve(names[i] for i in order)
    done = len(images) - len(order)
    report = progress or (lambda done, total: None)
    report(done, len(images))
    broken: list[Broken] = []
    for positions, rows, failed in compute(order):
        fresh = [names[i] for i in positions]
        store.put(fresh, [stamps[name] for name in fresh], rows)
        broken += failed
        done += len(positions) + len(failed)
        report(done, len(images))
    where = np.array([store.row(name) for name in names], dtype=np.int64)
    where[[picture.position for picture in broken]] = -1
    return where, tuple(broken)


def _open_index(path: Path) -> tuple[sqlite3.Connection, dict[bytes, int]]:
    """Open the index and read the row of every file in it."""
    path.touch(_MODE)  # SQLite would not let the umask decide who may write
    index = sqlite3.connect(path)
    try:
        index.execute(_SCHEMA)
        found = index.execute("SELECT name, row, bytes, mtime_ns FROM pictures").fetchall()
        rows = {name: row for name, row, *_ in found}
        typed = all(type(name) is bytes and type(row) is int for name, row in rows.items())
        if not typed or set(rows.values()) != set(range(len(found))):
            raise sqlite3.DatabaseError("two files share a row, or one is left out")
        return index, rows
    except sqlite3.DatabaseError as error:
        index.close()
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)  # of SQLite, not Python
        if isinstance(error, sqlite3.OperationalError) and code != sqlite3.SQLITE_ERROR:
            raise  # it is locked, or the disk is full
        path.unlink()  # no database, a damaged one, or another's: nothing in it counts
        return _open_index(path)


def _check_own(path: Path) -> None:
    """Raise an InputError where another user could have written a file, or made it a link."""
    if sys.platform == "win32":
        return
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    own = stat.S_ISREG(found.st_mode) and found.st_uid in (os.geteuid(), 0)
    if not own or found.st_mode & stat.S_IWOTH:
        raise InputError(
            f"the cache {path} is not a file that you alone can write",
            "remove it, or choose another folder",
        )


def _write(stream: BinaryIO, data: bytes) -> None:
    """Write all of `data`: without a buffer, `write` may stop short where a disk fills up."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) :]
