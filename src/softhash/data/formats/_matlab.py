"""Matrices out of MATLAB 5 files: full or sparse, in cells or not, compressed or not.

Only what label matrices need. A file is a header of 128 bytes and elements, each a tag (type,
bytes) and data padded to 8 bytes; a tag with its upper half set holds up to 4 bytes of data in
itself.
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
_MOST_BYTES = 1 << 28  # unpacked; the largest label matrix in use has 10 MB
_DEEPEST = 4  # cells within cells

Matrix = NDArray[Any]
Order = Literal["<", ">"]


def read_matrices(path: Path) -> list[Matrix]:
    """Read every two-dimensional matrix of numbers in the file, those within cells included."""
    data = read_bytes(path)
    try:
        if data[124:128] not in (b"\x00\x01IM", b"\x01\x00MI"):
            raise ValueError("it does not start like one")
        order: Order = "<" if data[126:128] == b"IM" else ">"
        return [
            matrix
            for kind, body in _elements(data[128:], order)
            for matrix in _top(kind, body, order)
        ]
    except (ValueError, struct.error, zlib.error, OverflowError, MemoryError) as error:
        raise InputError(f"{path} is not a MATLAB 5 file of matrices: {error}") from None


def _top(kind: int, body: bytes, order: Order) -> Iterator[Matrix]:
    if kind == _COMPRESSED:
        unpacker = zlib.decompressobj()
        unpacked = unpacker.decompress(body, _MOST_BYTES)
        if unpacker.unconsumed_tail:
            raise ValueError(f"it unpacks to more than {_MOST_BYTES:,} bytes")
        for inner, content in _elements(unpacked, order):
            if inner == _MATRIX:
                yield from _matrices(content, order, 0)
    elif kind == _MATRIX:
        yield from _matrices(body, order, 0)


def _elements(data: bytes, order: Order) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from(order + "II", data, at)
        if kind >> 16:
            kind, size, start, step = kind & 0xFFFF, kind >> 16, at + 4, 8
        else:
            start = at + 8
            step = 8 + (size if kind == _COMPRESSED else size + -size % 8)
        if start + size > len(data):
            raise ValueError("it is cut short")
        yield kind, data[start : start + size]
        at += step


def _matrices(body: bytes, order: Order, depth: int) -> Iterator[Matrix]:
    parts = list(_elements(body, order))
    if len(parts) < 3:  # an empty cell
        return
    flags, shape = (_values(part, order) for part in parts[:2])
    kind = int(flags[0]) & 0xFF
    if kind == _CELL and depth < _DEEPEST:
        for inner, content in parts[3:]:
            if inner == _MATRIX:
                yield from _matrices(content, order, depth + 1)
    elif (kind == _SPARSE or kind in _FULL) and len(shape) == 2:
        rows, columns = (int(extent) for extent in shape)
        if rows < 0 or columns < 0 or rows * columns * 8 > _MOST_BYTES:
            raise ValueError(f"a matrix has {rows}×{columns} values")
        numbers = [_values(part, order) for part in parts[3:]]
        yield _sparse(numbers, rows, columns) if kind == _SPARSE else _full(numbers, rows, columns)


def _values(part: tuple[int, bytes], order: Order) -> Matrix:
    kind, data = part
    if kind not in _NUMBERS:
        raise ValueError(f"an element of type {kind} stands where numbers should")
    return np.frombuffer(data, np.dtype(_NUMBERS[kind]).newbyteorder(order))


def _full(numbers: list[Matrix], rows: int, columns: int) -> Matrix:
    if not numbers:
        raise ValueError("a matrix has no values")
    return numbers[0].reshape((rows, columns), order="F")


def _sparse(numbers: list[Matrix], rows: int, columns: int) -> Matrix:
    if len(numbers) < 3:
        raise ValueError("a sparse matrix lacks an index")
    row, start, value = numbers[:3]
    ends: NDArray[np.int64] = start.astype(np.int64)
    counts = ends[1:] - ends[:-1]
    used = int(counts.sum())
    if len(counts) != columns or (counts < 0).any() or used > min(len(row), len(value)):
        raise ValueError("the index of a sparse matrix does not fit its values")
    where = row[:used].astype(np.int64)
    if ((where < 0) | (where >= rows)).any():
        raise ValueError("the index of a sparse matrix leads out of it")
    matrix = np.zeros((rows, columns), value.dtype)
    matrix[where, np.repeat(np.arange(columns), counts)] = value[:used]
    return matrix
