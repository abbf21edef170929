"""features-N.bin: features of the items as int8, one record per slot; N is how many each has.

The file can be deleted at any time, and is never needed to answer by codes. A record holds a
checksum, a scale, a tag and the row. The tag is of the model and of the picture's content: after a
kill, a copy or a restored backup, a record that is torn, stale or of another index is seen, and
counts as missing. So nothing here is synced, and nothing in items.sqlite refers to it.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO
from zlib import crc32

import numpy as np
import numpy.typing as npt

from softhash.errors import InputError, UsageError
from softhash.files import neighbour
from softhash.hamming.cosine import quantise
from softhash.index.features import FoundRows
from softhash.index.items import Entry
from softhash.index.local._columns import Column

NAME = re.compile(r"features-([1-9]\d{0,5})\.bin")
TAG_BYTES, SUM_BYTES = 8, 4
TAG = slice(8, 16)  # of a record: after the checksum and the scale
BLOCK = 512  # bytes that a file system counts by
MAX_SPARSE = 8  # times what the items' records need, before the file is written anew;
MIN_BYTES = 1 << 20  # beyond so many


def _record(width: int) -> np.dtype[np.void]:
    return np.dtype(
        [("sum", "<u4"), ("scale", "<f4"), ("tag", f"V{TAG_BYTES}"), ("row", "i1", (width,))]
    )


class FeatureFile:
    """The features that a local index keeps, if it does: the file is there, or it is not."""

    def __init__(self, folder: Path, model: str, *, writable: bool) -> None:
        self._folder, self._model, self._writable = folder, model, writable

    @property
    def width(self) -> int:
        """How many numbers a row has; 0 where no features are kept."""
        return max(self._widths(), default=0)

    def _widths(self) -> list[int]:
        try:
            names = os.listdir(self._folder)  # noqa: PTH208 (for every search)
        except OSError:
            return []
        return [int(one[1]) for one in map(NAME.fullmatch, names) if one]

    def _path(self, width: int) -> Path:
        return self._folder / f"features-{width}.bin"

    def keep(self, width: int) -> None:
        """Make the file, where it is not there."""
        self._check_writable()
        with self._explained():
            self._path(width).touch()
            self._remove(other_than=width)

    def drop(self) -> None:
        """Remove the file."""
        self._check_writable()
        with self._explained():
            self._remove()

    def _remove(self, other_than: int = 0) -> None:
        for width in self._widths():
            if width != other_than:
                self._path(width).unlink(missing_ok=True)

    def put(
        self, ids: Sequence[int], contents: Sequence[str], features: npt.NDArray[np.floating]
    ) -> None:
        """Write the records of items; one whose content is "" is left out.

        Args:
            ids: of the items.
            contents: SHA-256 of the files that the features are of.
            features: (n, width).

        """
        self._check_writable()
        known = [place for place, content in enumerate(contents) if content]
        width = features.shape[1]
        if not known or not self._path(width).exists():
            return
        records = np.zeros(len(known), _record(width))
        records["row"], records["scale"] = quantise(features[known])
        tags = b"".join(self._tag(contents[place]) for place in known)
        records["tag"] = np.frombuffer(tags, f"V{TAG_BYTES}")
        each = records.view(np.uint8).reshape(len(known), -1)
        records["sum"] = [crc32(record[SUM_BYTES:].tobytes()) for record in each]
        with self._explained():
            column = Column(self._path(width), records.itemsize)
            try:
                column.put(np.array([ids[place] for place in known], np.int64), records)
            finally:
                column.close()

    def get(self, items: Sequence[tuple[int, Entry]]) -> FoundRows:
        """Read the records of items; those that are missing are left out."""
        record = _record(width := self.width)
        places, found = [], []
        with self._opened(width) as file:
            for place, (id, entry) in enumerate(items):
                data = _read(file, id, record.itemsize)
                if self._is_of(data, entry) and _is_sound(data):
                    places.append(place)
                    found.append(data)
        kept = np.frombuffer(b"".join(found), record)
        return FoundRows(np.array(places, np.int64), kept["row"], kept["scale"])

    def verify(self, ids: Iterable[int]) -> list[str]:
        """Return one line for each of these items whose record is not as it was written."""
        size, path = _record(width := self.width).itemsize, self._path(width)
        wrong = []
        with self._opened(width) as file:
            for id in ids if width else ():
                data = _read(file, id, size)
                # twice: it may be written this very moment
                if data and not _is_sound(data) and not _is_sound(_read(file, id, size)):
                    wrong.append(
                        f"{path} is damaged: the record of item {id}; the next softhash index "
                        "makes it again"
                    )
        return wrong

    def compact(self, items: int, ids: Iterable[int]) -> None:
        """Write the file anew, with holes for removed items, where their records take much room.

        Args:
            items: how many there are.
            ids: of these items, read only where there is something to do.

        """
        self._check_writable()
        size, path = _record(width := self.width).itemsize, self._path(width)
        with self._explained():
            taken = BLOCK * getattr(path.stat(), "st_blocks", 0)
            if taken <= MAX_SPARSE * (items * size + MIN_BYTES):
                return
            with neighbour(path) as new:
                with self._opened(width) as old, new.open("xb") as file:
                    for id in ids:
                        if data := _read(old, id, size):
                            file.seek(id * size)
                            file.write(data)
                new.replace(path)

    @contextmanager
    def _opened(self, width: int) -> Iterator[IO[bytes]]:
        """Open the file for reading; one that cannot be has no records."""
        try:
            file: IO[bytes] = self._path(width).open("rb", buffering=0)
        except OSError:
            file = BytesIO()
        with file:
            yield file

    def _is_of(self, data: bytes, entry: Entry) -> bool:
        return bool(entry.sha256) and data[TAG] == self._tag(entry.sha256)

    def _tag(self, content: str) -> bytes:
        return hashlib.sha256(f"{self._model} {content}".encode()).digest()[:TAG_BYTES]

    def _check_writable(self) -> None:
        if not self._writable:
            raise UsageError(f"{self._folder} is open for reading", "open it with writable=True")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:  # dropped, or deleted, meanwhile: then nothing is kept
            return
        except OSError as error:
            raise InputError(
                f"cannot write features to {error.filename or self._folder}: {error.strerror}",
                "the items are safe; make room, or let the features go with drop_features",
            ) from error


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
