"""Matrices out of MATLAB 5 files: full or sparse, in cells or not, compressed or not.

Only what label matrices need. A file is a header of 128 bytes and elements, each a tag (type,
bytes) and data padded to 8 bytes; a tag with its upper half set holds up to 4 bytes of data in
itself. One budget holds for the whole file: its bytes, all that it unpacks to, and every sparse
matrix made full.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from softhash.data.text_files import read_bytes
from softhash.errors import InputError

_NUMBERS = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_MATRIX, _COMPRESSED = 14, 15
_CELL, _SPARSE, _FULL = 1, 5, range(6, 16)
_MOST_BYTES = 1 << 28  # of one file, unpacked; the largest label file in use has 82 MB
_MOST_ELEMENTS = 100_000
_DEEPEST = 4  # cells within cells

Matrix = NDArray[Any]
Order = Literal["<", ">"]


def read_matrices(path: Path) -> list[Matrix]:
    """Read every two-dimensional matrix of numbers in the file, those within cells included."""
    data = read_bytes(path, _MOST_BYTES)
    try:
        if data[124:128] not in (b"\x00\x01IM", b"\x01\x00MI"):
            raise ValueError("it does not start like one")
        order: Order = "<" if data[126:128] == b"IM" else ">"
        reader = _Reader(order, _MOST_BYTES - len(data))
        return list(reader.matrices(memoryview(data)[128:]))
    except (ValueError, IndexError, struct.error, zlib.error, OverflowError, MemoryError) as error:
        raise InputError(f"{path} is not a MATLAB 5 file of matrices: {error}") from None


class _Reader:
    """The elements of one file, in its byte order, until the budget is spent."""

    def __init__(self, order: Order, bytes_left: int) -> None:
        self._order = order
        self._bytes_left = bytes_left
        self._elements_left = _MOST_ELEMENTS

    def matrices(self, data: memoryview, depth: int = 0) -> Iterator[Matrix]:
        """Yield the matrices among some elements, those in cells and compressed ones included."""
        for kind, body in self._elements(data):
            if kind == _COMPRESSED and depth == 0:
                yield from self.matrices(memoryview(self._unpacked(body)), 1)
            elif kind == _MATRIX:
                yield from self._matrix(body, max(depth, 1))

    def _spend(self, amount: int) -> None:
        if amount > self._bytes_left:
            raise ValueError(f"it unpacks to more than {_MOST_BYTES:,} bytes")
        self._bytes_left -= amount

    def _unpacked(self, body: memoryview) -> bytes:
        unpacker = zlib.decompressobj()
        unpacked = unpacker.decompress(body, self._bytes_left + 1)  # 0 would be without a limit
        self._spend(len(unpacked))
        return unpacked

    def _elements(self, data: memoryview) -> Iterator[tuple[int, memoryview]]:
        at = 0
        while at + 8 <= len(data):
            self._elements_left -= 1
            if self._elements_left < 0:
                raise ValueError(f"it has more than {_MOST_ELEMENTS:,} elements")
            kind, size = struct.unpack_from(self._order + "II", data, at)
            if kind >> 16:
                kind, size, start, step = kind & 0xFFFF, kind >> 16, at + 4, 8
            else:
                start = at + 8
                step = 8 + (size if kind == _COMPRESSED else size + -size % 8)
            if start + size > len(data):
                raise ValueError("it is cut short")
            yield kind, data[start : start + size]
            at += step

    def _matrix(self, body: memoryview, depth: int) -> Iterator[Matrix]:
        parts = list(self._elements(body))
        if len(parts) < 3:  # an empty cell
            return
        flags, shape = (_whole(self._values(part)) for part in parts[:2])
        kind = int(flags[0]) & 0xFF
        if kind == _CELL and depth <= _DEEPEST:
            for inner, content in parts[3:]:
                if inner == _MATRIX:
                    yield from self._matrix(content, depth + 1)
        elif (kind == _SPARSE or kind in _FULL) and len(shape) == 2:
            numbers = [self._values(part) for part in parts[3:]]
            yield self._filled(kind, numbers, int(shape[0]), int(shape[1]))

    def _filled(self, kind: int, numbers: list[Matrix], rows: int, columns: int) -> Matrix:
        if rows < 0 or columns < 0:
            raise ValueError(f"a matrix has {rows}×{columns} values")
        if kind != _SPARSE:
            return _full(numbers, rows, columns)
        self._spend(8 * rows * columns)
        return _sparse(numbers, rows, columns)

    def _values(self, part: tuple[int, memoryview]) -> Matrix:
        kind, data = part
        if kind not in _NUMBERS:
            raise ValueError(f"an element of type {kind} stands where numbers should")
        return np.frombuffer(data, np.dtype(_NUMBERS[kind]).newbyteorder(self._order))


def _whole(values: Matrix) -> Matrix:
    if not np.issubdtype(values.dtype, np.integer):
        raise ValueError("fractions stand where whole numbers should")
    return values


def _full(numbers: list[Matrix], rows: int, columns: int) -> Matrix:
    if not numbers:
        raise ValueError("a matrix has no values")
    return numbers[0].reshape((rows, columns), order="F")


def _sparse(numbers: list[Matrix], rows: int, columns: int) -> Matrix:
    if len(numbers) < 3:
        raise ValueError("a sparse matrix lacks an index")
    row, start, value = _whole(numbers[0]), _whole(numbers[1]), numbers[2]
    ends: NDArray[np.int64] = start.astype(np.int64)
    counts = ends[1:] - ends[:-1]
    stored = min(len(row), len(value))
    outside = (ends < 0) | (ends > stored)
    if len(counts) != columns or outside.any() or (counts < 0).any():
        raise ValueError("the index of a sparse matrix does not fit its values")
    used = int(counts.sum())
    where = row[:used].astype(np.int64)
    if ((where < 0) | (where >= rows)).any():
        raise ValueError("the index of a sparse matrix leads out of it")
    matrix = np.zeros((rows, columns), value.dtype)
    matrix[where, np.repeat(np.arange(columns), counts)] = value[:used]
    return matrix
