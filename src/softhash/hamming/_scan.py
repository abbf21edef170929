"""Exact search: one pass over the words, block by block, keeping a short list for each query.

Most blocks hold nothing near enough, and one vectorised test finds out: `popcount − bound` is
negative exactly where a code is nearer than the bound, so the sign bits of a whole block are or-ed
together. Only blocks that pass are looked at more closely. The bound is the k-th smallest distance
so far, and since positions only grow, an item at that very distance can no longer enter: ties fall
to the lower position by themselves.

Rows are words laid end to end; ``live`` has one bit per row, or is empty when all rows count. A
candidate is one integer, ``distance << 48 | position``: sorting candidates ranks them.
"""

import numpy as np
import numpy.typing as npt
from numba import uint64

from softhash._kernels import Scalar, Width, inlined, kernel
from softhash.hamming.words import Words, count_live, lowest_bit, popcount

POSITION_BITS = 48
BLOCK = 64  # rows per test: one word of the mask, and few enough to look at one by one
TILE = 64 * BLOCK  # rows that stay in the first-level cache while all queries pass over them
GATHER_BELOW = 4  # with several queries, a tile less than a fourth alive is gathered first

Integers = npt.NDArray[np.int64]


# Indices are unsigned throughout the hot loops: a signed one may be negative in Python's sense, and
# the check for that keeps the compiler from vectorising.


@inlined
def row_distance(query: Words, rows: Words, row: Scalar, width: Width) -> Scalar:
    """Return the distance of a query to one row."""
    first = uint64(len(width)) * row
    distance = uint64(0)
    for word in range(len(width)):
        distance += popcount(query[word] ^ rows[first + uint64(word)])
    return distance


@inlined
def nearer_rows(query: Words, rows: Words, start: Scalar, bound: Scalar, width: Width) -> Scalar:
    """Return a bit for each row of the block at ``start``: 1 where it is nearer than ``bound``."""
    any_sign = uint64(0)
    for i in range(BLOCK):
        any_sign |= row_distance(query, rows, uint64(start) + uint64(i), width) - uint64(bound)
    hits = uint64(0)
    if any_sign >> uint64(63):
        for i in range(BLOCK):
            difference = row_distance(query, rows, uint64(start) + uint64(i), width) - uint64(bound)
            hits |= difference >> uint64(63) << uint64(i)
    return hits


@kernel
def _shrink(keys: Integers, k: int, kth: Scalar, nearer: Scalar) -> Scalar:
    """Keep the ``k`` best candidates, in position order, and return how many there are."""
    ties = k - nearer
    kept = 0
    for key in keys:
        distance = key >> POSITION_BITS
        if distance == kth:
            ties -= 1
        if distance < kth or (distance == kth and ties >= 0):
            keys[kept] = key
            kept += 1
    return kept


@kernel
def offer(key: Scalar, k: int, keys: Integers, counts: Integers, state: Integers) -> Scalar:
    """Add a candidate and return the new bound: only what is nearer may still come in.

    ``state`` is (k-th distance, candidates up to it, used places of ``keys``); ``counts`` the
    candidates at each distance.
    """
    kth, within, used = state[0], state[1], state[2]
    keys[used] = key
    used += 1
    counts[key >> POSITION_BITS] += 1
    within += 1
    while within - counts[kth] >= k:
        within -= counts[kth]
        kth -= 1
    if used == keys.size:
        nearer = within - counts[kth]
        used = _shrink(keys, k, kth, nearer)
        within = min(within, k)
        counts[kth] = within - nearer
    state[0], state[1], state[2] = kth, within, used
    return kth if within >= k else kth + 1


@kernel
def _scan_tile(
    query: Words,
    rows: Words,
    places: Integers,
    live: Words,
    base: int,
    k: int,
    keys: Integers,
    counts: Integers,
    state: Integers,
    width: Width,
) -> None:
    """Offer every row of a tile that is near enough.

    Row i stands at ``base + i``, or at ``base + places[i]`` when those are given.
    """
    count = rows.size // len(width)
    bound = state[0] if state[1] >= k else state[0] + 1
    for start in range(0, count, BLOCK):
        hits = live[start >> 6] if live.size else ~uint64(0)
        if count - start >= BLOCK:
            hits &= nearer_rows(query, rows, start, bound, width)
        else:
            hits &= (uint64(1) << uint64(count - start)) - uint64(1)
        while hits:
            row = start + np.int64(lowest_bit(hits))
            hits &= hits - uint64(1)
            distance = np.int64(row_distance(query, rows, uint64(row), width))
            if distance < bound:
                position = base + (places[row] if places.size else row)
                bound = offer(distance << POSITION_BITS | position, k, keys, counts, state)


@kernel
def _gather(rows: Words, live: Words, chosen: Words, places: Integers, width: Width) -> None:
    """Copy the live rows of a tile next to each other, and where they stood beside them.

    Eight places are written at a time whether there are eight or not: branches that cannot be
    predicted would cost more than the stores.
    """
    used = 0
    for group in range(live.size):
        alive = live[group]
        ones: Scalar = np.int64(popcount(alive))
        for done in range(0, ones, 8):
            for i in range(8):
                places[used + done + i] = (group << 6) + np.int64(lowest_bit(alive))
                alive &= alive - uint64(1)
        used += ones
    for i in range(used):
        for word in range(len(width)):
            chosen[len(width) * i + word] = rows[len(width) * places[i] + word]


@kernel
def scan(
    queries: Words,
    rows: Words,
    live: Words,
    base: int,
    k: int,
    keys: Integers,
    counts: Integers,
    states: Integers,
    width: Width,
) -> None:
    """Offer all rows to every query; row i stands at ``base + i``."""
    n, words = rows.size // len(width), len(width)
    chosen = np.empty(TILE * words if live.size else 0, np.uint64)
    places = np.empty(TILE + 8 if live.size else 0, np.int64)
    for start in range(0, n, TILE):
        stop = min(start + TILE, n)
        tile, where, alive = rows[words * start : words * stop], places[:0], live[:0]
        if live.size:
            alive = live[start >> 6 : (stop + 63) >> 6]
            count = count_live(alive) if len(queries) > 1 else TILE
            if GATHER_BELOW * count < stop - start:
                _gather(tile, alive, chosen, places, width)
                tile, where, alive = chosen[: words * count], places[:count], live[:0]
        for i in range(len(queries)):
            _scan_tile(
                queries[i], tile, where, alive, base + start,
                k, keys[i], counts[i], states[i], width,
            )  # fmt: skip


@kernel
def collect(
    query: Words, rows: Words, live: Words, base: int, radius: int, width: Width
) -> Integers:
    """Find every row at distance ``radius`` or less, in position order."""
    n = rows.size // len(width)
    keys = np.empty(16 * BLOCK, np.int64)
    used = 0
    for start in range(0, n, BLOCK):
        hits = live[start >> 6] if live.size else ~uint64(0)
        if n - start >= BLOCK:
            hits &= nearer_rows(query, rows, start, radius + 1, width)
        else:
            hits &= (uint64(1) << uint64(n - start)) - uint64(1)
        if used + BLOCK > keys.size:
            longer = np.empty(2 * keys.size, np.int64)
            longer[:used] = keys[:used]
            keys = longer
        while hits:
            row = start + np.int64(lowest_bit(hits))
            hits &= hits - uint64(1)
            distance = np.int64(row_distance(query, rows, uint64(row), width))
            if distance <= radius:
                keys[used] = distance << POSITION_BITS | (base + row)
                used += 1
    return keys[:used]
