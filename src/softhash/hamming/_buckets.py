"""Tables of a multi-index: which bits are a key, and rows sorted by their keys.

A table has a copy of all rows, sorted by the key, so that those with one key lie next to each other
and are read as fast as a scan reads. Rows with one key keep their order: positions ascend.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import uint64

from softhash._kernels import Scalar, Width, inlined, kernel
from softhash.codes import Codes
from softhash.hamming.words import Words

SAMPLE = 4096  # rows that the bits of keys are chosen by
CHOICE = 128  # bits that are compared for one place of a key

Bits = npt.NDArray[np.int64]


class Buckets(NamedTuple):
    """Tables as kernels read them; t is how many.

    Attributes:
        offsets: (t, 2^b + 1) where the rows with each key of b bits begin; uint32.
        words: (t, n · words per row), the rows, end to end.
        positions: (t, n) of these rows; uint32.
        masks: (t, words per row), the bits of each key.
        parts: (t, bytes per row, 256) what each byte of a row adds to the key; uint32.

    """

    offsets: npt.NDArray[np.uint32]
    words: Words
    positions: npt.NDArray[np.uint32]
    masks: Words
    parts: npt.NDArray[np.uint32]


def choose_bits(codes: Codes, tables: int, key_bits: int, seed: int = 0) -> Bits:
    """Choose disjoint sets of bits, such that few codes have the same key.

    Bits of learned codes are far from independent. Each table in turn gets the bit that leaves the
    fewest pairs of a sample with equal keys.

    Args:
        codes: packed, (n, bytes).
        tables: how many sets.
        key_bits: of each set.
        seed: of the sample.

    Returns:
        (tables, key_bits) numbers of bits, as `np.unpackbits` counts them.

    """
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(len(codes), min(SAMPLE, len(codes)), replace=False))
    sample = np.unpackbits(codes[rows], axis=1).astype(np.int64)
    free = list(range(sample.shape[1]))
    chosen = np.empty((tables, key_bits), np.int64)
    groups = np.zeros((tables, len(sample)), np.int64)
    for place in range(key_bits):
        for table in range(tables):
            order = rng.permutation(len(free))[:CHOICE]
            equal = [_equal_pairs(2 * groups[table] + sample[:, free[one]]) for one in order]
            bit = free.pop(order[int(np.argmin(equal))])
            chosen[table, place] = bit
            split = 2 * groups[table] + sample[:, bit]
            groups[table] = np.unique(split, return_inverse=True)[1]
    return chosen


def _equal_pairs(groups: npt.NDArray[np.int64]) -> int:
    counts = np.bincount(groups)
    return int(counts @ counts)


def byte_parts(bits: Bits, row_bytes: int) -> npt.NDArray[np.uint32]:
    """Return what each value of each byte adds to the keys made of some bits."""
    parts = np.zeros((len(bits), row_bytes, 256), np.uint32)
    values = np.arange(256)
    for table, chosen in enumerate(bits.tolist()):
        for place, bit in enumerate(chosen):
            is_set = (values >> (7 - bit % 8) & 1).astype(np.uint32)
            parts[table, bit // 8] |= is_set << np.uint32(place)
    return parts


def word_masks(bits: Bits, row_bytes: int) -> Words:
    """Return the bits of each key as words."""
    flags = np.zeros((len(bits), 8 * row_bytes), np.uint8)
    np.put_along_axis(flags, bits, 1, axis=1)
    return np.packbits(flags, axis=1).view(np.uint64)


@inlined
def row_key(rows: Words, row: Scalar, parts: npt.NDArray[np.uint32], width: Width) -> Scalar:
    """Return the key of a row."""
    key = uint64(0)
    for word in range(len(width)):
        value = rows[uint64(len(width)) * uint64(row) + uint64(word)]
        for byte in range(8):
            key |= uint64(parts[8 * word + byte, value >> uint64(8 * byte) & uint64(255)])
    return key


@kernel
def fill_table(
    rows: Words,
    parts: npt.NDArray[np.uint32],
    offsets: npt.NDArray[np.uint32],
    words: Words,
    positions: npt.NDArray[np.uint32],
    width: Width,
) -> None:
    """Sort rows by their keys; ``offsets`` is all zero before."""
    n = rows.size // len(width)
    for row in range(n):
        offsets[row_key(rows, row, parts, width) + uint64(1)] += 1
    for key in range(1, offsets.size):
        offsets[key] += offsets[key - 1]
    for row in range(n):
        key = row_key(rows, row, parts, width)
        place = uint64(offsets[key])
        offsets[key] += 1
        positions[place] = row
        for word in range(len(width)):
            words[uint64(len(width)) * place + uint64(word)] = rows[len(width) * row + word]
    for key in range(offsets.size - 1, 0, -1):  # each is where the next begins now
        offsets[key] = offsets[key - 1]
    offsets[0] = 0
