"""Search in two stages on the processor: first words choose the rows that are compared in full.

`first` holds the first word of each row next to each other, so that the first stage reads 8 bytes
of a row whatever its length. The second stage compares the chosen rows where they are.
"""

import numpy as np
from numba import uint64

from softhash._kernels import Scalar, Width, kernel
from softhash.hamming._scan import (
    BLOCK,
    POSITION_BITS,
    TILE,
    Integers,
    nearer_rows,
    offer,
    row_distance,
)
from softhash.hamming.words import Words, lowest_bit, popcount

ONE_WORD = (0,)


@kernel
def sampled_distances(word: Scalar, first: Words, live: Words, step: int) -> Integers:
    """Count every so many-th row that is live by the distance of its first word."""
    counts = np.zeros(65, np.int64)
    for row in range(0, first.size, step):
        if not live.size or live[row >> 6] >> uint64(row & 63) & uint64(1):
            counts[popcount(word ^ first[row])] += 1
    return counts


@kernel
def _choose(query: Words, first: Words, live: Words, bound: Scalar, places: Integers) -> Scalar:
    """Write down which live rows of a tile have a first word nearer than ``bound``, and count."""
    n, used = first.size, 0
    for start in range(0, n, BLOCK):
        hits = live[start >> 6] if live.size else ~uint64(0)
        if n - start >= BLOCK:
            hits &= nearer_rows(query, first, start, bound, ONE_WORD)
        else:
            hits &= (uint64(1) << uint64(n - start)) - uint64(1)
        while hits:
            row = start + np.int64(lowest_bit(hits))
            hits &= hits - uint64(1)
            if np.int64(popcount(query[0] ^ first[row])) < bound:
                places[used] = row
                used += 1
    return used


@kernel
def scan_chosen(
    query: Words,
    first: Words,
    rows: Words,
    live: Words,
    base: int,
    limit: int,
    k: int,
    keys: Integers,
    counts: Integers,
    state: Integers,
    width: Width,
) -> None:
    """Offer the rows whose first word is at ``limit`` or less; row i stands at ``base + i``.

    The distance of first words is never above that of whole rows, so a row whose first word is not
    nearer than the k-th row so far is left out too.
    """
    places, distances = np.empty(TILE, np.int64), np.empty(TILE, np.int64)
    bound = state[0] if state[1] >= k else state[0] + 1
    for start in range(0, first.size, TILE):
        stop = min(start + TILE, first.size)
        alive = live[start >> 6 : (stop + 63) >> 6] if live.size else live
        used = _choose(query, first[start:stop], alive, min(bound, limit + 1), places)
        # A loop without branches, so that the processor waits for many rows at once.
        for i in range(used):
            row = uint64(start) + uint64(places[i])
            distances[i] = np.int64(row_distance(query, rows, row, width))
        for i in range(used):
            if distances[i] < bound:
                key = distances[i] << POSITION_BITS | (base + start + places[i])
                bound = offer(key, k, keys, counts, state)
