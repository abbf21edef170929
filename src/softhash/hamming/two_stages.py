"""Search in two stages: the first 64 bits choose candidates, all bits rank them.

For codes whose first bits are a code of their own. The candidates are all items whose first 64 bits
are at some distance or less, the largest at which there are no more than `CANDIDATES` · √n of them.
They come first, by (distance, position), and all others follow in the same order: so pages continue
each other.

An item that is not among the candidates comes later than its distance says. How many of the nearest
that concerns depends on the codes; `docs/how-to/scale.md` has measurements.

>>> rng = np.random.default_rng(0)
>>> codes = rng.integers(0, 1 << 62, (5000, 4), dtype=np.uint64)
>>> codes[70:80, 0] = codes[70, 0]  # the same first bits
>>> nearest_in_two_stages(codes[70], codes, codes[:, 0].copy(), 1)
(array([0]), array([70]))
"""

import numpy as np
import numpy.typing as npt

from softhash._threads import in_parts
from softhash.devices import usable_cores
from softhash.hamming import _cpu
from softhash.hamming._first_words import sampled_distances, scan_chosen
from softhash.hamming._scan import BLOCK
from softhash.hamming.search import nearest
from softhash.hamming.words import Words

CANDIDATES = 20  # at most so many times √n of n items
FEW = 0.1  # fewer than this share of them are too few
SAMPLES = 1 << 14  # items whose first bits are looked at to choose the distance

_ALL = np.empty(0, np.uint64)  # no mask


def nearest_in_two_stages(
    query: Words, codes: Words, first: Words, k: int, mask: Words | None = None
) -> _cpu.Ranking:
    """Find the ``k`` first in the order of two stages, or exactly where that is faster.

    Args:
        query: a code, in words (w,).
        codes: those to search in, in words (n, w).
        first: the first words of the codes, (n,) and next to each other.
        k: how many to find; there are fewer where fewer items count.
        mask: the items that count, as of `pack_mask`.

    Returns:
        Distances and positions.

    """
    limit = choose_limit(query, first, mask)
    if limit is None:
        return _exactly(query, codes, k, mask)
    distances, places = _cpu.rank(_candidates(query, codes, first, k, limit, mask))
    if len(places) == k:
        return distances, places
    further, others = _exactly(query, codes, k, mask)
    behind = ~np.isin(others, places)
    missing = len(others) - len(places)
    return (
        np.concatenate([distances, further[behind][:missing]]),
        np.concatenate([places, others[behind][:missing]]),
    )


def choose_limit(query: Words, first: Words, mask: Words | None) -> int | None:
    """Choose the distance of first bits up to which an item is a candidate.

    Returns None where one distance has too few candidates and the next too many, as where many
    items are equal.
    """
    live = _ALL if mask is None else mask
    step = max(1, len(first) // SAMPLES)
    counts = np.cumsum(sampled_distances(query[0], first, live, step))
    most = CANDIDATES * (counts[-1] / step) ** 0.5
    limit = int(np.searchsorted(counts, most, side="right")) - 1
    return limit if limit >= 0 and counts[limit] >= FEW * most else None


def _candidates(
    query: Words, codes: Words, first: Words, k: int, limit: int, mask: Words | None
) -> npt.NDArray[np.int64]:
    """Return the sorted keys of the nearest candidates, at most k."""
    width, live = (0,) * codes.shape[1], _ALL if mask is None else mask

    def work(start: int, stop: int) -> npt.NDArray[np.int64]:
        keys = np.empty(2 * k + BLOCK, np.int64)
        counts = np.zeros(64 * len(width) + 1, np.int64)
        state = np.array([64 * len(width), 0, 0])
        rows = codes[start:stop].reshape(-1)
        scan_chosen(
            query, first[start:stop], rows, live[start >> 6 :], start,
            limit, k, keys, counts, state, width,
        )  # fmt: skip
        return keys[: state[2]]

    threads = _cpu.worthwhile(usable_cores(), len(first))
    return np.sort(np.concatenate(in_parts(len(first), threads, work, 64)))[:k]


def _exactly(query: Words, codes: Words, k: int, mask: Words | None) -> _cpu.Ranking:
    queries = query[np.newaxis].view(np.uint8)
    distances, places = nearest(queries, codes.view(np.uint8), k, mask=mask)
    return distances[0], places[0]
