"""Hamming search on the processor: parts of the work, one per thread, and their merged results.

Every thread has buffers of its own, and several searches may run at once.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from softhash._threads import in_parts
from softhash.codes import Codes
from softhash.hamming import _scan
from softhash.hamming.words import Words, as_words, is_in_words, word_count

Ranking = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

WORDS_PER_THREAD = 1 << 20  # comparisons below which waking a thread takes longer than it saves
PADDED_AT_ONCE = 1 << 16  # rows that are not whole words are padded in chunks of so many
SHORT_LISTS = 1 << 22  # candidates held at once: bounds the queries that are worked on together


def worthwhile(threads: int, comparisons: int) -> int:
    """Return how many threads so many comparisons of words are worth."""
    return max(1, min(threads, comparisons // WORDS_PER_THREAD))


def _pieces(codes: Codes, start: int, stop: int) -> Iterator[tuple[int, Words]]:
    """Cut rows ``start`` to ``stop`` into pieces of flat words: one piece, when no copy is made."""
    step = stop - start if is_in_words(codes) else PADDED_AT_ONCE
    for first in range(start, stop, step):
        yield first, as_words(codes[first : min(first + step, stop)]).reshape(-1)


def rank(keys: npt.NDArray[np.int64]) -> Ranking:
    """Return the distances and positions that sorted candidates stand for."""
    return keys >> _scan.POSITION_BITS, keys & ((1 << _scan.POSITION_BITS) - 1)


def nearest(queries: Codes, codes: Codes, k: int, live: Words, threads: int) -> Ranking:
    """Find the ``k`` nearest codes of each query; there must be at least k live ones."""
    room = 2 * k + _scan.BLOCK
    group = max(1, SHORT_LISTS // room)
    words = as_words(queries)
    found = [
        _nearest_group(words[first : first + group], codes, k, room, live, threads)
        for first in range(0, len(words), group)
    ]
    return rank(np.concatenate(found))


def _nearest_group(
    queries: Words, codes: Codes, k: int, room: int, live: Words, threads: int
) -> npt.NDArray[np.int64]:
    """Return the sorted candidates of a group of queries that fits into memory."""
    count, width = len(queries), (0,) * queries.shape[1]

    def work(start: int, stop: int) -> npt.NDArray[np.int64]:
        keys = np.empty((count, room), np.int64)
        counts = np.zeros((count, 64 * len(width) + 1), np.int64)
        states = np.tile(np.array([64 * len(width), 0, 0]), (count, 1))
        for first, rows in _pieces(codes, start, stop):
            alive = live[first >> 6 :]
            _scan.scan(queries, rows, alive, first, k, keys, counts, states, width)
        keys[np.arange(room) >= states[:, 2:]] = np.iinfo(np.int64).max
        return keys

    threads = worthwhile(threads, len(codes) * queries.size)
    parts = in_parts(len(codes), threads, work, multiple_of=64)
    return np.sort(np.concatenate(parts, axis=1), axis=1)[:, :k]


def within(queries: Codes, codes: Codes, radius: int, live: Words, threads: int) -> list[Ranking]:
    """Find all codes at ``radius`` or less of each query."""
    width = (0,) * word_count(queries.shape[1])
    parallel = worthwhile(threads, len(codes) * len(width))

    def search(query: Words) -> Ranking:
        def work(start: int, stop: int) -> list[npt.NDArray[np.int64]]:
            return [
                _scan.collect(query, rows, live[first >> 6 :], first, radius, width)
                for first, rows in _pieces(codes, start, stop)
            ]

        parts = in_parts(len(codes), parallel, work, multiple_of=64)
        return rank(np.sort(np.concatenate([piece for part in parts for piece in part])))

    return [search(query) for query in as_words(queries)]
