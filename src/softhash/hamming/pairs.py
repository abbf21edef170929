"""All pairs of codes that are near to each other, such as near duplicates, piece by piece.

Of learned codes hundreds of thousands may be equal, and pairs then outnumber codes by far: give `k`
to get the nearest partners of each code alone.

>>> codes = np.array([[0], [255], [1], [254], [0]], np.uint8)
>>> for first, second, distances in self_join(codes, radius=1):
...     print(first, second, distances)
[0 0 1 2] [2 4 3 4] [1 0 1 1]
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from softhash._kernels import Scalar, Width, kernel
from softhash._threads import in_parts
from softhash.codes import Codes
from softhash.hamming._buckets import Buckets
from softhash.hamming._checks import check_k, check_radius, count_threads
from softhash.hamming._lookup import look_up
from softhash.hamming._scan import POSITION_BITS, Integers
from softhash.hamming.multi_index import MAX_TABLES, MultiIndex
from softhash.hamming.words import Words, as_words

MAX_PAIRS = 1 << 20  # of a piece, and those of one code more
MIN_RANGE, MAX_RANGE = 1 << 8, 1 << 16  # codes of a thread at once, where pieces stay small
SHORT_KEY = 16  # bits
EVERY_ROW = 1 << 62  # a budget that is never spent
DISTANCE_BITS = 16

_ALL = np.empty(0, np.uint64)  # no mask


class Pairs(NamedTuple):
    """Pairs of positions, in (first, second) order, and how far apart their codes are.

    Attributes:
        first: (p,), the lower position of each pair.
        second: (p,), the higher.
        distances: (p,).

    """

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    distances: npt.NDArray[np.int64]


def self_join(
    codes: Codes | MultiIndex, radius: int, *, k: int | None = None, threads: int | None = None
) -> Iterator[Pairs]:
    """Yield all pairs of codes at distance ``radius`` or less, in order, none of them twice.

    A piece has a million pairs and those of one code at most. So memory is bounded, but for a code
    with very many partners.

    Args:
        codes: packed codes (n, bytes), or their multi-index, where it is there already.
        radius: the largest distance.
        k: for each code only so many partners at later positions, by (distance, position); all by
            default.
        threads: of the processor; all usable cores by default.

    """
    check_radius(radius)
    if k is not None:
        check_k(k)
    threads = count_threads(threads)
    if isinstance(codes, MultiIndex):
        index = codes
    else:
        index = MultiIndex.build(codes, tables=_choose_tables(codes, radius), threads=threads)
    return _in_ranges(index, k or len(index.codes), radius, threads)


def _choose_tables(codes: Codes, radius: int) -> int | None:
    """Return at how many tables one key of each is enough; None where keys would be short.

    >>> _choose_tables(np.zeros((9, 8), np.uint8), 3)
    4
    """
    tables = radius + 1
    return tables if tables <= MAX_TABLES and 8 * codes.shape[1] >= SHORT_KEY * tables else None


def _in_ranges(index: MultiIndex, k: int, radius: int, threads: int) -> Iterator[Pairs]:
    """Join a range of codes per thread, as many as give about one piece, and yield in order."""
    rows, n, step, start = as_words(index.codes), len(index.codes), MIN_RANGE, 0
    radius, width = min(radius, 64 * rows.shape[1]), (0,) * rows.shape[1]

    def join(base: int, first: int, last: int) -> _Joined:
        start, stop = base + first, base + last
        rest = index.buckets, start, stop, k, radius, MAX_PAIRS, width
        first_of, keys, following = _join(rows, *rest)
        return _Joined(first_of, keys, following, stop)

    while start < n:
        base, stop, is_cut = start, min(start + threads * step, n), False
        ranges = in_parts(stop - base, threads, partial(join, base))
        for joined in ranges:
            yield from joined.pairs()
            while joined.next < joined.stop:  # it gave a whole piece, and has more
                is_cut, joined = True, join(0, joined.next, joined.stop)
                yield from joined.pairs()
        start, step = stop, max(1, step // 4) if is_cut else min(2 * step, MAX_RANGE)


class _Joined(NamedTuple):
    """What `_join` found, and where it was to stop."""

    first: Integers
    keys: Integers
    next: int
    stop: int

    def pairs(self) -> Iterator[Pairs]:
        """Yield the pairs, where there are any."""
        if len(self.first):
            distances = self.keys & ((1 << DISTANCE_BITS) - 1)
            yield Pairs(self.first, self.keys >> DISTANCE_BITS, distances)


@kernel
def _join(
    rows: Words,
    buckets: Buckets,
    start: int,
    stop: int,
    k: int,
    radius: int,
    enough: int,
    width: Width,
) -> Scalar:
    """Return pairs of the rows from ``start`` on, and the row after the last that was looked up."""
    first, keys = np.empty(1024, np.int64), np.empty(1024, np.int64)
    used, row = 0, start
    while row < stop and used < enough:
        found, _ = look_up(rows[row], buckets, _ALL, row, k, radius, EVERY_ROW, width)
        while used + found.size > keys.size:
            first = np.append(first, np.empty(first.size, np.int64))
            keys = np.append(keys, np.empty(keys.size, np.int64))
        for i in range(found.size):
            distance = found[i] >> POSITION_BITS
            position = found[i] & ((1 << POSITION_BITS) - 1)
            first[used + i] = row
            keys[used + i] = position << DISTANCE_BITS | distance
        keys[used : used + found.size].sort()
        used += found.size
        row += 1
    return first[:used], keys[:used], row
