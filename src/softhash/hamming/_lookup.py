"""Lookups in a multi-index: buckets of keys ever further from the query's, until nothing is missed.

A row that no table has shown differs from the query in more than `shells[t]` bits of the key of
each table t. Keys share no bits, so it is further away than Σ (shells[t] + 1) − 1: all rows up to
that distance were seen. The table whose next shell has the fewest rows is the next one to be
looked at, whichever that is: where bits are skewed, that saves most of the work.
"""

import numpy as np
from numba import uint64

from softhash._kernels import Scalar, Width, inlined, kernel
from softhash.hamming._buckets import Buckets, row_key
from softhash.hamming._scan import BLOCK, POSITION_BITS, Integers, nearer_rows, row_distance
from softhash.hamming.words import Words, lowest_bit, popcount, prefetch

BUCKET = 512  # rows that a scan reads in the time that it takes to find a bucket
NEAR, FAR = 8, 16  # buckets whose rows, and whose places, are asked for ahead


@kernel
def _shell_keys(key: Scalar, shell: int, keys: int) -> Words:
    """Return the keys, of so many, that differ from one in ``shell`` bits."""
    found, used = np.empty(64, np.uint64), 0
    flips = (uint64(1) << uint64(shell)) - uint64(1)
    while flips < uint64(keys):
        if used == found.size:
            found = np.append(found, np.empty(found.size, np.uint64))
        found[used] = key ^ flips
        used += 1
        filled = flips | (flips - uint64(1))  # the next number with as many ones
        above = ~filled & (filled + uint64(1))
        last = (above - uint64(1)) >> (lowest_bit(flips) + uint64(1))
        flips = (filled + uint64(1)) | last if shell else uint64(keys)
    return found[:used]


@kernel
def _bucket_rows(buckets: Buckets, table: int, key: Scalar) -> Scalar:
    """Return how many rows have a key, and what finding them costs."""
    offsets = buckets.offsets[table]
    return BUCKET + np.int64(offsets[key + uint64(1)]) - np.int64(offsets[key])


@inlined
def _was_seen(
    query: Words, buckets: Buckets, table: int, row: Scalar, shells: Integers, width: Width
) -> Scalar:
    """Return whether another table has shown a row before."""
    rows = buckets.words[table]
    for other in range(len(buckets.masks)):
        differing = uint64(0)
        for word in range(len(width)):
            place = uint64(len(width)) * row + uint64(word)
            differing += popcount((query[word] ^ rows[place]) & buckets.masks[other, word])
        if other != table and np.int64(differing) <= shells[other]:
            return True
    return False


@kernel
def _best(keys: Integers, used: Scalar, k: int, worst: Scalar) -> Scalar:
    """Sort candidates, keep the k best, and return how many there are and the first too far."""
    if used < k:
        return used, worst
    keys[:used].sort()
    return k, keys[k - 1]


@inlined
def _after(positions: Scalar, start: Scalar, stop: Scalar, after: int) -> Scalar:
    """Return the first place of a bucket whose position is above ``after``."""
    while start < stop:
        middle = (start + stop) >> 1
        if np.int64(positions[middle]) > after:
            stop = middle
        else:
            start = middle + 1
    return start


@kernel
def _read_bucket(
    query: Words,
    buckets: Buckets,
    table: int,
    row: Scalar,
    stop: Scalar,
    shells: Integers,
    live: Words,
    k: int,
    keys: Integers,
    used: Scalar,
    worst: Scalar,
    width: Width,
) -> Scalar:
    """Take the rows of a bucket that are near enough; return candidates, their number, worst."""
    rows, positions = buckets.words[table], buckets.positions[table]
    while row < stop:
        count = min(BLOCK, stop - row)
        hits = ~uint64(0) >> uint64(BLOCK - count)
        if row + BLOCK <= positions.size:  # rows of the next buckets do no harm
            bound = ((worst - 1) >> POSITION_BITS) + 1
            hits &= nearer_rows(query, rows, row, bound, width)
        if used + BLOCK > keys.size:
            used, worst = _best(keys, used, k, worst)
            if used + BLOCK > keys.size:
                keys = np.append(keys, np.empty(keys.size, np.int64))
        while hits:
            place = uint64(row) + lowest_bit(hits)
            hits &= hits - uint64(1)
            position = np.int64(positions[place])
            distance = np.int64(row_distance(query, rows, place, width))
            key = distance << POSITION_BITS | position
            if key >= worst or _was_seen(query, buckets, table, place, shells, width):
                continue
            if not live.size or live[position >> 6] >> uint64(position & 63) & uint64(1):
                keys[used] = key
                used += 1
        row += BLOCK
    return keys, used, worst


@kernel
def _read_shell(
    query: Words,
    buckets: Buckets,
    table: int,
    key: Scalar,
    shells: Integers,
    live: Words,
    after: int,
    k: int,
    keys: Integers,
    used: Scalar,
    worst: Scalar,
    width: Width,
) -> Scalar:
    """Read the buckets of a table's next shell; return what `_read_bucket` does, and the cost."""
    offsets, rows, cost = buckets.offsets[table], buckets.words[table], np.int64(0)
    places = _shell_keys(key, shells[table] + 1, offsets.size - 1)
    for i in range(-FAR, places.size):
        if i + FAR < places.size:
            prefetch(offsets, places[i + FAR])
        if 0 <= i + NEAR < places.size:
            prefetch(rows, uint64(len(width)) * uint64(offsets[places[i + NEAR]]))
        if i >= 0:
            start = np.int64(offsets[places[i]])
            stop = np.int64(offsets[places[i] + uint64(1)])
            cost += BUCKET + stop - start
            if after >= 0:
                start = _after(buckets.positions[table], start, stop, after)
            keys, used, worst = _read_bucket(
                query, buckets, table, start, stop, shells, live, k, keys, used, worst, width
            )
    return keys, used, worst, cost


@kernel
def look_up(
    query: Words,
    buckets: Buckets,
    live: Words,
    after: int,
    k: int,
    radius: int,
    budget: int,
    width: Width,
) -> Scalar:
    """Return the nearest rows of a query, in any order, and whether none is missing.

    Positions up to ``after`` are left out. Where more than about ``budget`` rows would have to be
    looked at, nothing is finished.
    """
    tables, key_bits = len(buckets.masks), np.int64(popcount(buckets.offsets.shape[1] - 2))
    own, costs = np.empty(tables, np.uint64), np.empty(tables, np.int64)
    shells = np.full(tables, -1, np.int64)
    for table in range(tables):
        own[table] = row_key(query, 0, buckets.parts[table], width)
        costs[table] = _bucket_rows(buckets, table, own[table])
    keys = np.empty(min(2 * k, 512) + 2 * BLOCK, np.int64)
    used, worst, spent = 0, np.int64((radius + 1) << POSITION_BITS), np.int64(0)
    while shells.sum() + tables - 1 < (worst - 1) >> POSITION_BITS:
        table = int(np.argmin(costs))
        if spent + costs[table] > budget:
            return keys[:0], False
        keys, used, worst, cost = _read_shell(
            query, buckets, table, own[table], shells, live, after, k, keys, used, worst, width
        )
        used, worst = _best(keys, used, k, worst)
        shells[table] += 1
        if shells[table] == key_bits:
            break  # all keys of a table, so all rows
        spent += cost
        costs[table] = cost * (key_bits - shells[table]) // (shells[table] + 1)
    return keys[:used], True


@kernel
def look_up_nearest(
    queries: Words, buckets: Buckets, live: Words, k: int, budget: int, keys: Integers, width: Width
) -> None:
    """Fill the sorted candidates (queries, k); the first is −1 where a query was given up."""
    for i in range(len(queries)):
        radius = 64 * len(width)
        found, is_whole = look_up(queries[i], buckets, live, -1, k, radius, budget, width)
        keys[i, 0] = -1
        if is_whole:
            found.sort()
            keys[i] = found[:k]
