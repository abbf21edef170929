"""What evaluation needs of a ranking, without ever sorting it.

All metrics are functions of how many items lie at each distance and share so many labels with the
query: a histogram. Where ties are to be broken by position, the shared labels themselves are put in
order by a counting sort.
"""

import numpy as np
import numpy.typing as npt
from numba import uint64

from softhash._kernels import Scalar, Width, inlined, kernel
from softhash.hamming._scan import Integers
from softhash.hamming.words import Words, popcount

TILE = 1 << 13  # items whose words stay in the second-level cache while all queries pass over them
LANES = 4  # histograms filled in turn, so that one count does not wait for the one before it

Keys = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int32]


@inlined
def _count_common(first: Words, i: Scalar, second: Words, j: Scalar, width: Width) -> Scalar:
    """Count the labels that row i of ``first`` and row j of ``second`` share."""
    shared = uint64(0)
    for word in range(len(width)):
        a = first[uint64(len(width)) * i + uint64(word)]
        b = second[uint64(len(width)) * j + uint64(word)]
        shared += popcount(a & b)
    return shared


@inlined
def _count_different(first: Words, i: Scalar, second: Words, j: Scalar, width: Width) -> Scalar:
    """Count the bits in which row i of ``first`` and row j of ``second`` differ."""
    different = uint64(0)
    for word in range(len(width)):
        a = first[uint64(len(width)) * i + uint64(word)]
        b = second[uint64(len(width)) * j + uint64(word)]
        different += popcount(a ^ b)
    return different


@kernel
def _cells(
    query: int,
    codes: tuple[Words, Words],
    labels: tuple[Words, Words],
    levels: int,
    start: int,
    cells: Keys,
    width: Width,
    label_width: Width,
) -> None:
    """Write ``distance · levels + shared labels`` of a run of items."""
    for i in range(cells.size):
        item = uint64(start) + uint64(i)
        distance = _count_different(codes[0], uint64(query), codes[1], item, width)
        shared = _count_common(labels[0], uint64(query), labels[1], item, label_width)
        cells[uint64(i)] = distance * uint64(levels) + shared


@kernel
def _tally(cells: Keys, lanes: Counts) -> None:
    """Count how often each cell occurs, spread over the lanes."""
    whole = cells.size // LANES * LANES
    for i in range(0, whole, LANES):
        for lane in range(LANES):
            lanes[uint64(lane), uint64(cells[uint64(i + lane)])] += 1
    for i in range(whole, cells.size):
        lanes[0, cells[i]] += 1


@kernel
def histogram(
    codes: tuple[Words, Words],
    labels: tuple[Words, Words],
    first: int,
    counts: Counts,
    width: Width,
    label_width: Width,
) -> None:
    """Add all items to ``counts`` (queries, distances, levels), the first query being ``first``."""
    queries, distances, levels = counts.shape
    n = codes[1].size // len(width)
    cells = np.empty(TILE, np.int32)
    lanes = np.empty((LANES, distances * levels), np.int32)
    for start in range(0, n, TILE):
        run = cells[: min(TILE, n - start)]
        for query in range(queries):
            lanes[:] = 0
            _cells(first + query, codes, labels, levels, start, run, width, label_width)
            _tally(run, lanes)
            cell = counts[query].reshape(-1)
            for lane in range(LANES):
                for i in range(cell.size):
                    cell[i] += lanes[lane, i]


@kernel
def _first_ranks(query: int, codes: tuple[Words, Words], distances: int, width: Width) -> Integers:
    """Return the rank of the first item at each distance."""
    ranks = np.zeros(distances + 1, np.int64)
    for item in range(codes[1].size // len(width)):
        distance = _count_different(codes[0], uint64(query), codes[1], uint64(item), width)
        ranks[distance + uint64(1)] += 1
    return np.cumsum(ranks)


@kernel
def ranked_gains(
    codes: tuple[Words, Words],
    labels: tuple[Words, Words],
    first: int,
    shape: tuple[int, int],
    gains: npt.NDArray[np.uint16],
    width: Width,
    label_width: Width,
) -> None:
    """Write the shared labels of the nearest items in (distance, position) order.

    ``gains`` (queries, n) takes as many of them as it has columns, for the queries from ``first``
    on; ``shape`` is how many distances and levels there are.
    """
    distances, levels = shape
    n, (queries, wanted) = codes[1].size // len(width), gains.shape
    cells = np.empty(TILE, np.int32)
    for query in range(queries):
        ranks = _first_ranks(first + query, codes, distances, width)
        for start in range(0, n, TILE):
            run = cells[: min(TILE, n - start)]
            _cells(first + query, codes, labels, levels, start, run, width, label_width)
            for i in range(run.size):
                distance = run[i] // levels
                rank = ranks[distance]
                if rank < wanted:
                    gains[query, rank] = run[i] - distance * levels
                    ranks[distance] = rank + 1
