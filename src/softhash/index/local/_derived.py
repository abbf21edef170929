"""Files of what can be computed again: one record per slot, each with a checksum and a tag.

Such a file can be deleted at any time. The tag of a record is of what made it and of the picture's
content: after a kill, a copy or a restored backup, a record that is torn, stale or of another index
is seen, and counts as missing. So nothing here is synced, and nothing in items.sqlite refers to it.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from softhash.errors import InputError, UsageError
from softhash.files import neighbour
from softhash.index.items import Entry
from softhash.index.local._columns import Column, Ids

TAG_BYTES, SUM_BYTES = 8, 4
BLOCK = 512  # bytes that a file system counts by
MAX_SPARSE = 8  # times what the items' records need, before the file is written anew;
MIN_BYTES = 1 << 20  # beyond so many

Records = npt.NDArray[np.void]
TAG = ("tag", f"V{TAG_BYTES}")


def record_type(*fields: tuple[Any, ...]) -> np.dtype[np.void]:
    """Return the type of records with these fields, after a checksum; one of them is `TAG`."""
    return np.dtype([("sum", f"<u{SUM_BYTES}"), *fields])


def forget(paths: Iterable[Path], record: np.dtype[np.void], ids: Ids) -> None:
    """Clear the records of items whose content is about to change; return when that is safe.

    For files that filters read as they are, without a look at contents.

    Args:
        paths: of such files.
        record: the type of their records.
        ids: of the items.

    """
    for path in paths:
        there = ids[ids < path.stat().st_size // record.itemsize]
        if len(there):
            column = Column(path, record.itemsize)
            try:
                column.put(there, np.zeros(len(there), record))
                column.sync()
            finally:
                column.close()


class DerivedFile:
    """One such file: KIND-VARIANT.bin in the folder of an index. It is there, or it is not."""

    def __init__(
        self, path: Path, record: np.dtype[np.void], source: str, *, writable: bool
    ) -> None:
        """Take what describes a file.

        Args:
            path: what comes before the - is the kind.
            record: made by `record_type`.
            source: the identity of what makes the records.
            writable: whether the index is open for writing.

        """
        self.path, self.record, self._source, self._writable = path, record, source, writable
        self._kind = path.name.partition("-")[0]
        first = record.fields["tag"][1] if record.fields else 0
        self._tagged = slice(first, first + TAG_BYTES)

    def keep(self) -> None:
        """Make the file, where it is not there, and remove others of its kind."""
        with self.writing():
            self.path.touch()
            self._remove(other_than=self.path)

    def drop(self) -> None:
        """Remove the files of its kind."""
        with self.writing():
            self._remove()

    def _remove(self, other_than: Path | None = None) -> None:
        for path in self.path.parent.glob(f"{self._kind}-*.bin"):
            if path != other_than:
                path.unlink(missing_ok=True)

    def put(self, ids: Sequence[int], contents: Sequence[str], records: Records) -> None:
        """Write the records of items; one whose content is "" is left out.

        Args:
            ids: of the items.
            contents: SHA-256 of the files that the records are of.
            records: one per item, without checksum and tag.

        """
        known = [place for place, content in enumerate(contents) if content]
        records = records[known]
        tags = b"".join(self._tag(contents[place]) for place in known)
        records["tag"] = np.frombuffer(tags, f"V{TAG_BYTES}")
        each = records.view(np.uint8).reshape(len(known), -1)
        records["sum"] = [crc32(record[SUM_BYTES:].tobytes()) for record in each]
        with self.writing():
            column = Column(self.path, self.record.itemsize)
            try:
                column.put(np.array([ids[place] for place in known], np.int64), records)
            finally:
                column.close()

    def get(self, items: Sequence[tuple[int, Entry]]) -> tuple[npt.NDArray[np.int64], Records]:
        """Read records: the places of those that are not missing among the items, and they."""
        places, found = [], []
        with self._opened() as file:
            for place, (id, entry) in enumerate(items):
                data = _read(file, id, self.record.itemsize)
                if self._is_of(data, entry) and _is_sound(data):
                    places.append(place)
                    found.append(data)
        return np.array(places, np.int64), np.frombuffer(b"".join(found), self.record)

    def missing(self, items: Sequence[tuple[int, Entry]]) -> list[tuple[int, Entry]]:
        """Return those of some items that have no record."""
        there = set(self.get(items)[0].tolist())
        return [item for place, item in enumerate(items) if place not in there]

    def verify(self, ids: Iterable[int]) -> list[str]:
        """Return one line for each of these items whose record is not as it was written."""
        size, wrong = self.record.itemsize, []
        with self._opened() as file:
            for id in ids if self.path.exists() else ():
                data = _read(file, id, size)
                # twice: it may be written this very moment
                if data and not _is_sound(data) and not _is_sound(_read(file, id, size)):
                    wrong.append(
                        f"{self.path} is damaged: the record of item {id}; the next softhash index "
                        "makes it again"
                    )
        return wrong

    def compact(self, items: int, ids: Iterable[int]) -> None:
        """Write the file anew, with holes for removed items, where their records take much room.

        Args:
            items: how many there are.
            ids: of these items, read only where there is something to do.

        """
        size = self.record.itemsize
        with self.writing():
            taken = BLOCK * getattr(self.path.stat(), "st_blocks", 0)
            if taken <= MAX_SPARSE * (items * size + MIN_BYTES):
                return
            with neighbour(self.path) as new:
                with self._opened() as old, new.open("xb") as file:
                    for id in ids:
                        if data := _read(old, id, size):
                            file.seek(id * size)
                            file.write(data)
                new.replace(self.path)

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        """Open the file for reading; one that cannot be has no records."""
        try:
            file: IO[bytes] = self.path.open("rb", buffering=0)
        except OSError:
            file = BytesIO()
        with file:
            yield file

    def _is_of(self, data: bytes, entry: Entry) -> bool:
        return bool(entry.sha256) and data[self._tagged] == self._tag(entry.sha256)

    def _tag(self, content: str) -> bytes:
        return hashlib.sha256(f"{self._source} {content}".encode()).digest()[:TAG_BYTES]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Explain what goes wrong; a file that is not there is not written to."""
        folder = self.path.parent
        if not self._writable:
            raise UsageError(f"{folder} is open for reading", "open it with writable=True")
        try:
            yield
        except FileNotFoundError:  # dropped, or deleted, meanwhile: then nothing is kept
            return
        except OSError as error:
            raise InputError(
                f"cannot write {self._kind} to {error.filename or folder}: {error.strerror}",
                "the items are safe; make room, and the next softhash index adds what is missing",
            ) from error


class KeptRecords(ABC):
    """What an index keeps in a derived file; each kind reads and writes records of its own."""

    @property
    @abstractmethod
    def _file(self) -> DerivedFile:
        """The file as it is now."""

    def drop(self) -> None:
        """Remove the file."""
        self._file.drop()

    def missing(self, items: Sequence[tuple[int, Entry]]) -> list[tuple[int, Entry]]:
        """Return those of some items that have no record."""
        return self._file.missing(items)

    def verify(self, ids: Iterable[int]) -> list[str]:
        """Return one line for each of these items whose record is not as it was written."""
        return self._file.verify(ids)

    def compact(self, items: int, ids: Iterable[int]) -> None:
        """Write the file anew, where removed items take much room.

        Args:
            items: how many there are.
            ids: of these items, read only where there is something to do.

        """
        self._file.compact(items, ids)


def _read(file: IO[bytes], id: int, size: int) -> bytes:
    """Read a record; nothing where it was never written, or cannot be read."""
    try:
        file.seek(id * size)
        data = file.read(size)
    except OSError:
        return b""
    return data if len(data) == size and any(data) else b""


def _is_sound(data: bytes) -> bool:
    return int.from_bytes(data[:SUM_BYTES], "little") == crc32(data[SUM_BYTES:])
