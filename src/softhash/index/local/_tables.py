"""multi-index.bin: the tables of `softhash.hamming.MultiIndex` over codes.bin, read in place.

::

    header   what it is, its shape, and the checksum of this and the next part
    head     the sum of each block of codes that the tables are of, as in `_sums`, and a checksum
             of each chunk of the body
    body     the arrays of the tables

Tables are of whole blocks of codes, of which each counts while its sum in items.sqlite is the same.
No search uses tables before all chunks were checked.
"""

import mmap
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from softhash.files import write_parts
from softhash.hamming.multi_index import MAX_KEY_BITS, MultiIndex
from softhash.hamming.words import Words
from softhash.index.local._sums import BLOCK, block_sum

NAME = "multi-index.bin"
FORMAT = b"softhash tables1"
PAGE = 4096  # the body begins at a multiple of it
CHUNK = 1 << 20  # bytes
CHECKED_AT_ONCE = 16  # chunks, by one search
MAX_TABLES, MAX_WORDS = 64, 1 << 16

Arrays = Mapping[str, npt.NDArray[Any]]


class Shape(NamedTuple):
    """What the sizes of all parts follow from."""

    words: int  # per record
    blocks: int
    tables: int
    key_bits: int

    def arrays(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Return types and shapes of the arrays of the body, in their order."""
        n, keys = self.blocks * BLOCK, (1 << self.key_bits) + 1
        return {
            "words": ("<u8", (self.tables, n * self.words)),
            "masks": ("<u8", (self.tables, self.words)),
            "positions": ("<u4", (self.tables, n)),
            "parts": ("<u4", (self.tables, 8 * self.words, 256)),
            "offsets": ("<u4", (self.tables, keys)),
        }

    def body(self) -> int:
        """Return how many bytes the body takes."""
        each = self.arrays().values()
        return sum(np.dtype(kind).itemsize * int(np.prod(shape)) for kind, shape in each)

    def is_possible(self) -> bool:
        """Return whether there may be such tables."""
        return (
            0 < self.words <= MAX_WORDS
            and self.blocks * BLOCK < 1 << 32
            and self.tables <= MAX_TABLES
            and self.key_bits <= MAX_KEY_BITS
        )


HEADER = np.dtype([("format", "S16"), ("sum", "<u8"), ("shape", "<u8", (4,))])


class Tables:
    """A file of tables, mapped into memory.

    Args:
        sums: of the blocks of codes that they are of.
        arrays: of a `MultiIndex`; none where there are no blocks.
        body: the bytes of all arrays.
        checks: the checksums of its chunks.

    """

    def __init__(self, sums: Words, arrays: Arrays, body: memoryview, checks: list[int]) -> None:
        self.sums, self.arrays, self._body, self._checks = sums, arrays, body, checks
        self._checked, self._is_damaged = 0, False

    def is_sound(self, at_once: int = CHECKED_AT_ONCE) -> bool:
        """Return whether all chunks were checked, and are as they were written.

        Each call checks some more of them, so that the first searches do not wait for all.
        """
        first = self._checked
        if first < len(self._checks) and not self._is_damaged:
            chunks = _cut(self._body[first * CHUNK : (first + at_once) * CHUNK])
            if [*map(crc32, chunks)] != self._checks[first : first + at_once]:
                self._is_damaged = True  # for good, whatever other threads find
            self._checked = first + at_once
        return self._checked >= len(self._checks) and not self._is_damaged

    def is_whole(self) -> bool:
        """Return whether all of the file is as it was written."""
        return self.is_sound(len(self._checks))


def write_tables(path: Path, codes: Words) -> None:
    """Make tables of the whole blocks of some records, and write them to a file.

    Args:
        path: of the file, which may exist.
        codes: records (n, words), which do not change meanwhile.

    """
    blocks = len(codes) // BLOCK
    shape, parts = Shape(codes.shape[1], blocks, 0, 0), [b""]
    if blocks:
        arrays = MultiIndex.build(codes[: blocks * BLOCK].view(np.uint8)).arrays
        tables, keys = arrays["offsets"].shape
        shape = shape._replace(tables=tables, key_bits=(keys - 1).bit_length() - 1)
        parts = [arrays[name].reshape(-1).view(np.uint8).data for name in shape.arrays()]
    sums = [block_sum(codes[first : first + BLOCK]) for first in range(0, blocks * BLOCK, BLOCK)]
    checks = [crc32(chunk) for chunk in _joined(parts)]
    head = np.array(sums, "<u8").tobytes() + np.array(checks, "<u4").tobytes()
    header = np.array([(FORMAT, 0, shape)], HEADER)
    header["sum"] = crc32(head, crc32(header.tobytes()))
    start = header.tobytes() + head
    start = start.ljust(_padded(len(start)), b"\0")
    write_parts(path, (data for part in ([start], _joined(parts)) for data in part))


def _joined(parts: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Yield the chunks of some parts that follow each other."""
    left = b""
    for part in parts:
        first = (CHUNK - len(left)) % CHUNK
        left += bytes(part[:first])
        if len(left) == CHUNK:
            yield left
            left = b""
        for chunk in _cut(memoryview(part)[first:]):
            if len(chunk) == CHUNK:
                yield bytes(chunk)
            else:
                left = bytes(chunk)
    if left:
        yield left


def _cut(data: memoryview) -> Iterator[memoryview]:
    return (data[first : first + CHUNK] for first in range(0, len(data), CHUNK))


def _padded(size: int) -> int:
    return -(-size // PAGE) * PAGE


def read_tables(path: Path) -> Tables | None:
    """Map the tables of a file; None where its head or its length is not as it was written.

    Raises:
        OSError: it cannot be read.

    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(HEADER.itemsize)
        if len(data) < HEADER.itemsize:
            return None
        header = np.frombuffer(bytearray(data), HEADER)
        shape = Shape(*header["shape"][0].tolist())
        if header["format"][0] != FORMAT or not shape.is_possible():
            return None
        chunks = -(-shape.body() // CHUNK)
        start = _padded(HEADER.itemsize + 8 * shape.blocks + 4 * chunks)
        if start + shape.body() != size:
            return None
        head, expected = file.read(8 * shape.blocks + 4 * chunks), int(header["sum"][0])
        header["sum"] = 0
        if crc32(head, crc32(header.tobytes())) != expected:
            return None
        held = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY)  # as in `map_records`
    sums = np.frombuffer(head, "<u8", shape.blocks)
    checks = np.frombuffer(head, "<u4", chunks, 8 * shape.blocks).tolist()
    return Tables(sums, _mapped(held, start, shape), memoryview(held)[start:], checks)


def _mapped(held: mmap.mmap, start: int, shape: Shape) -> Arrays:
    """Return the arrays of a mapped file.

    Args:
        held: the file.
        start: where its body begins.
        shape: of the tables.

    """
    arrays = {}
    for name, (kind, sizes) in shape.arrays().items():
        array = np.frombuffer(held, kind, int(np.prod(sizes)), start).reshape(sizes)
        arrays[name], start = array, start + array.nbytes
    return arrays
