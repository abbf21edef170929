"""The GPU kernel of the search: it lists the codes that are nearer to a query than its bound."""

import triton
import triton.language as tl
from triton.language.extra import libdevice

from softhash.hamming._scan import POSITION_BITS

LANES = 32  # of one warp, which is a whole program: nothing in it waits for another warp
_SHIFT = tl.constexpr(POSITION_BITS)


@triton.jit(do_not_specialize=["start", "n", "count"])
def list_nearer(  # noqa: C901 - branches are on constants, and choose what is compiled
    queries, bounds, codes, live, keys, counts, start, n, count, capacity,
    WORDS: tl.constexpr, EACH: tl.constexpr, TILES: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Append ``distance << 48 | position`` of what is nearer than the bound to each query's list.

    A program holds a tile of codes in registers, the first four words of each, and passes all
    queries over it. One minimum over the tile finds out whether there is anything to list, which is
    rare. Lists are in no order; a count goes on where a list is full.

    Args:
        queries: words (count, WORDS).
        bounds: of each query, a distance (count,).
        codes: words (n, WORDS) of a piece of the database.
        live: one bit for each code of the whole database; read with MASKED alone.
        keys: lists (count, capacity).
        counts: codes nearer than the bound, for each query (count,).
        start: position of the piece in the database.
        n: codes in the piece.
        count: queries.
        capacity: of a list.
        WORDS: 64-bit words of a code.
        EACH: codes of a tile that each lane holds.
        TILES: tiles of a program, one after the other.
        MASKED: whether some codes do not count.

    """
    within = tl.arange(0, EACH)[:, None] * 32 + tl.arange(0, 32)[None, :]
    for tile in range(TILES):
        item = (tl.program_id(0).to(tl.int64) * TILES + tile) * (EACH * 32) + within
        inside = item < n
        row = codes + item * WORDS
        a = tl.load(row, mask=inside, other=0)
        if WORDS > 1:
            b = tl.load(row + 1, mask=inside, other=0)
        if WORDS > 2:
            c = tl.load(row + 2, mask=inside, other=0)
        if WORDS > 3:
            d = tl.load(row + 3, mask=inside, other=0)
        for query in range(count):
            words = queries + query * WORDS
            distance = libdevice.popc(a ^ tl.load(words))
            if WORDS > 1:
                distance += libdevice.popc(b ^ tl.load(words + 1))
            if WORDS > 2:
                distance += libdevice.popc(c ^ tl.load(words + 2))
            if WORDS > 3:
                distance += libdevice.popc(d ^ tl.load(words + 3))
            for further in tl.static_range(4, WORDS):
                e = tl.load(row + further, mask=inside, other=0)
                distance += libdevice.popc(e ^ tl.load(words + further))
            bound = tl.load(bounds + query)
            if tl.min(distance) < bound:
                hit = inside & (distance < bound)
                if MASKED:
                    place = start + item
                    word = tl.load(live + (place >> 6), mask=hit, other=0)
                    hit = hit & (((word >> (place & 63)) & 1) != 0)
                slot = tl.atomic_add(counts + query + tl.zeros_like(item), 1, mask=hit)
                key = (distance.to(tl.int64) << _SHIFT) | (start + item)
                room = hit & (slot < capacity)
                tl.store(keys + tl.cast(query, tl.int64) * capacity + slot, key, mask=room)
