"""Multi-index hashing: exact searches that look at few codes where the neighbours are near.

After Norouzi, Punjani and Fleet, "Fast exact search in Hamming space with multi-index hashing",
TPAMI 2014. Some bits of a code are a key, other bits another key, and so on; a table for each keeps
all codes sorted by it. Two codes that differ in few bits have keys that differ in fewer, so it is
enough to look at the codes whose keys are near to the query's. Results are those of `nearest` and
`within`, to the last tie. A query for which too many codes would have to be looked at is answered
by a scan.

Different from the paper: tables are arrays of whole codes in the order of their keys, so that
candidates are read one after the other; bits are dealt out such that keys of a sample differ; and
the table whose next keys have the fewest codes comes next, after Qin et al., "GPH: similarity
search in Hamming space", ICDE 2018.

>>> rng = np.random.default_rng(0)
>>> codes = rng.integers(0, 256, (100_000, 8), dtype=np.uint8)
>>> codes[[5, 700]] = codes[80]
>>> index = MultiIndex.build(codes)
>>> index.nearest(codes[80:81], k=3)
(array([[0, 0, 0]]), array([[  5,  80, 700]]))
>>> index.within(codes[80:81], radius=3)
[(array([0, 0, 0]), array([  5,  80, 700]))]
"""

from collections.abc import Mapping
from math import log2
from typing import Self

import numpy as np
import numpy.typing as npt

from softhash._threads import in_parts
from softhash.codes import Codes
from softhash.errors import UsageError
from softhash.hamming import _cpu, search
from softhash.hamming._buckets import (
    Bits,
    Buckets,
    byte_parts,
    choose_bits,
    fill_table,
    word_masks,
)
from softhash.hamming._checks import (
    Array,
    check_k,
    check_pair,
    check_radius,
    count_threads,
    packed_mask,
)
from softhash.hamming._lookup import look_up, look_up_nearest
from softhash.hamming._scan import POSITION_BITS
from softhash.hamming.words import Words, as_words, count_live, word_count

MAX_KEY_BITS = 26  # a table of their offsets takes 256 MB
MAX_ITEMS = (1 << 32) - 1
SCAN_SHARE = 4  # where a fourth of all codes had to be looked at, a scan is faster
MAX_TABLES = 4
LARGE_BUCKET = 6  # bits: codes of one key by which tables are chosen, as a power of 2


class MultiIndex:
    """Tables over codes. Make them with `build`.

    Args:
        codes: packed codes (n, bytes); they are kept for scans.
        buckets: the tables.

    """

    def __init__(self, codes: Codes, buckets: Buckets) -> None:
        self.codes, self.buckets = codes, buckets

    @classmethod
    def build(
        cls,
        codes: Codes,
        *,
        tables: int | None = None,
        key_bits: int | None = None,
        threads: int | None = None,
    ) -> Self:
        """Sort codes into tables.

        Each takes the bytes of the codes, padded to whole 8, and 4 more per code.

        Args:
            codes: packed codes (n, bytes).
            tables: how many; what suits the number of codes by default.
            key_bits: bits of a key; about as many as it takes to number the codes by default.
            threads: of the processor, one table each; all usable cores by default.

        """
        check_pair(codes, codes)
        if len(codes) > MAX_ITEMS:
            raise UsageError(f"{len(codes):,} codes", f"a multi-index has {MAX_ITEMS:,} at most")
        tables, key_bits = choose_shape(len(codes), 8 * codes.shape[1], tables, key_bits)
        rows = as_words(codes)
        bits = choose_bits(codes, tables, key_bits)
        buckets = _empty(rows, bits)

        def fill(start: int, stop: int) -> None:
            for table in range(start, stop):
                parts, offsets = buckets.parts[table], buckets.offsets[table]
                words, positions = buckets.words[table], buckets.positions[table]
                width = (0,) * rows.shape[1]
                fill_table(rows.reshape(-1), parts, offsets, words, positions, width)

        in_parts(tables, count_threads(threads), fill)
        return cls(codes, buckets)

    @classmethod
    def of_arrays(cls, codes: Codes, arrays: Mapping[str, Array]) -> Self:
        """Put together what `arrays` returned for the same codes; they may be mapped files."""
        return cls(codes, Buckets(**arrays))

    @property
    def arrays(self) -> dict[str, Array]:
        """All that was computed of the codes, by name."""
        return self.buckets._asdict()

    def nearest(
        self, queries: Codes, k: int, *, mask: Array | None = None, threads: int | None = None
    ) -> tuple[Array, Array]:
        """Find the ``k`` codes nearest to each query, as `softhash.hamming.nearest` does.

        Args:
            queries: packed codes (q, bytes).
            k: how many to find for each query.
            mask: (n,), True for the items that count; `pack_mask` packs one that is used often.
            threads: of the processor; all usable cores by default.

        """
        check_pair(queries, self.codes)
        check_k(k)
        live, threads = packed_mask(mask, len(self.codes)), count_threads(threads)
        k = min(k, count_live(live) if mask is not None else len(self.codes))
        if not k:  # the mask keeps nothing
            return _cpu.rank(np.empty((len(queries), 0), np.int64))
        keys = np.empty((len(queries), k), np.int64)
        words, width = as_words(queries), (0,) * word_count(queries.shape[1])

        def fill(start: int, stop: int) -> None:
            some, into = words[start:stop], keys[start:stop]
            look_up_nearest(some, self.buckets, live, k, self._budget, into, width)

        in_parts(len(queries), threads, fill)
        missing = np.flatnonzero(keys[:, 0] < 0)
        if len(missing):
            some = queries[missing]
            distances, places = search.nearest(some, self.codes, k, mask=mask, threads=threads)
            keys[missing] = distances << POSITION_BITS | places
        return _cpu.rank(keys)

    def within(
        self,
        queries: Codes,
        radius: int,
        *,
        k: int | None = None,
        mask: Array | None = None,
        threads: int | None = None,
    ) -> list[tuple[Array, Array]]:
        """Find all codes at distance ``radius`` or less, as `softhash.hamming.within` does.

        Args:
            queries: packed codes (q, bytes).
            radius: the largest distance, 0 or more.
            k: how many to find at most for each query, the nearest; all by default.
            mask: (n,), True for the items that count; `pack_mask` packs one that is used often.
            threads: of the processor; all usable cores by default.

        """
        check_pair(queries, self.codes)
        check_radius(radius)
        live, threads = packed_mask(mask, len(self.codes)), count_threads(threads)
        radius = min(radius, 8 * queries.shape[1])
        if k is not None:
            check_k(k)
        found = self._within(queries, radius, len(self.codes) if k is None else k, live, threads)
        return [
            self._scan(queries[place : place + 1], radius, k, mask)
            if keys is None
            else _cpu.rank(keys[:k])
            for place, keys in enumerate(found)
        ]

    def _scan(
        self, query: Codes, radius: int, k: int | None, mask: Array | None
    ) -> tuple[Array, Array]:
        """Answer a query without the tables."""
        if k is None:
            return search.within(query, self.codes, radius, mask=mask)[0]
        (distances,), (places,) = search.nearest(query, self.codes, k, mask=mask)
        near = distances <= radius
        return distances[near], places[near]

    @property
    def _budget(self) -> int:
        return int(len(self.codes) / SCAN_SHARE)

    def _within(
        self, queries: Codes, radius: int, k: int, live: Words, threads: int
    ) -> list[npt.NDArray[np.int64] | None]:
        """Return the sorted candidates of each query; None where a scan is faster."""
        words, width = as_words(queries), (0,) * word_count(queries.shape[1])
        fixed = live, -1, k, radius, self._budget, width

        def work(start: int, stop: int) -> list[npt.NDArray[np.int64] | None]:
            found = (look_up(query, self.buckets, *fixed) for query in words[start:stop])
            return [np.sort(keys) if is_whole else None for keys, is_whole in found]

        parts = in_parts(len(words), threads, work)
        return [keys for part in parts for keys in part]


def choose_shape(
    n: int, bits: int, tables: int | None = None, key_bits: int | None = None
) -> tuple[int, int]:
    """Choose how many tables, and how many bits a key has.

    >>> choose_shape(100_000_000, 64)
    (3, 21)

    Args:
        n: how many codes.
        bits: of a code.
        tables: as asked for; None for what suits.
        key_bits: as asked for; None for what suits.

    """
    suited = max(4, log2(n) - LARGE_BUCKET)
    if tables is None:
        tables = max(1, min(MAX_TABLES, round(bits / suited)))
    if key_bits is None:
        key_bits = min(MAX_KEY_BITS, max(4, round(log2(n))), bits // max(1, tables))
    if tables < 1 or not 1 <= key_bits <= MAX_KEY_BITS or tables * key_bits > bits:
        raise UsageError(
            f"{tables} tables with keys of {key_bits} bits do not fit codes of {bits}",
            f"give at least 1 of each, and no more than {MAX_KEY_BITS} bits for a key",
        )
    return tables, key_bits


def _empty(rows: Words, bits: Bits) -> Buckets:
    """Return tables to be filled."""
    n, width = rows.shape
    return Buckets(
        np.zeros((len(bits), (1 << bits.shape[1]) + 1), np.uint32),
        np.empty((len(bits), n * width), np.uint64),
        np.empty((len(bits), n), np.uint32),
        word_masks(bits, 8 * width),
        byte_parts(bits, 8 * width),
    )
