"""Two ways to read a ranking that is full of ties: what is among the first n items.

`TiedRanking` answers with the exact mean over all orders of tied items, from nothing but the counts
of items at each distance. `StableRanking` breaks ties by database position, as a stable sort does.
Every method returns one value per query.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from softhash._threads import in_parts
from softhash.devices import usable_cores
from softhash.evaluation._tie_kernels import first_cut, mean_reciprocal, running_sums, sums_before

Arrays = Sequence[npt.NDArray[Any]]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

QUERIES_PER_THREAD = 256  # fewer take less time than waking a thread
MAX_THREADS = 8


class Ranking(Protocol):
    """What is among the first n items of each query's ranking."""

    def relevant(self, n: int) -> Floats:
        """Count the relevant items among the first n."""

    def gain(self, n: int) -> Floats:
        """Sum the gains of the first n."""

    def dcg(self, n: int) -> Floats:
        """Sum (2^gain − 1) / log₂(1 + rank) over the first n."""

    def average_precision(self, n: int) -> Floats:
        """Average the precision at each relevant item of the first n."""

    def average_gain(self, n: int) -> Floats:
        """Average the mean gain so far at each relevant item of the first n."""


def _weighted_sums(counts: Any, weights: Floats) -> Floats:
    """Sum counts (queries, groups, levels) with each row of weights, and end in an empty group."""
    if not hasattr(counts, "cpu"):
        return _ended(np.moveaxis(np.asarray(counts, np.float64) @ weights.T, 2, 0))
    doubles = counts.double()
    sums = (doubles @ doubles.new_tensor(weights).T).permute(2, 0, 1)
    ended = doubles.new_zeros((*sums.shape[:2], sums.shape[2] + 1))
    ended[:, :, :-1] = sums
    # A GPU writes into page-locked memory several times as fast.
    on_host = ended.new_empty(ended.shape, device="cpu", pin_memory=ended.is_cuda)
    summed: Floats = on_host.copy_(ended).numpy()
    return summed


def _ended(sums: Floats) -> Floats:
    """Add an empty group after those of sums (4, queries, groups)."""
    ended = np.empty((*sums.shape[:2], sums.shape[2] + 1))
    ended[:, :, :-1], ended[:, :, -1] = sums, 0.0
    return ended


def _weights(gain: Integers) -> Floats:
    """Return what an item adds to the sums of its group: 1, relevance, gain and 2^gain − 1."""
    return np.stack([np.ones_like(gain), gain > 0, gain, 2.0**gain - 1])


@lru_cache(maxsize=4)
def harmonic_numbers(n: int) -> Floats:
    """Return the harmonic numbers 0 to n: 1/1 + … + 1/i."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n + 1))])


@lru_cache(maxsize=4)
def summed_discounts(n: int) -> Floats:
    """Return the summed discounts of the first 0 to n ranks: Σ 1/log₂(1 + i)."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2, n + 2)))])


def _side_by_side(
    kernel: Callable[..., None], rows: Arrays, tables: Arrays, filled: Arrays
) -> None:
    """Call a kernel on parts of the queries, each in a thread of its own.

    Args:
        kernel: takes rows, tables and what it fills.
        rows: what it reads, one row per query.
        tables: what all parts read.
        filled: what it fills, one row per query.

    """

    def work(start: int, stop: int) -> None:
        read, written = ([array[start:stop] for array in one] for one in (rows, filled))
        kernel(*read, *tables, *written)

    queries = len(rows[0])
    threads = min(MAX_THREADS, usable_cores(), queries // QUERIES_PER_THREAD)
    in_parts(queries, max(1, threads), work)


class SumsBefore(NamedTuple):
    """What all groups of tied items before each add up to, on average: (queries, groups) each.

    Attributes:
        items: how many there are.
        hits: how many of them are relevant.
        gains: their gains.
        dcg: their share of DCG.
        precision: of the sum of the precision at each relevant item.
        mean_gain: of the sum of the mean gain so far at each relevant item.

    """

    items: Integers
    hits: Floats
    gains: Floats
    dcg: Floats
    precision: Floats
    mean_gain: Floats


class TiedRanking:
    """Rankings as groups of tied items, nearest first; every value is the mean over their orders.

    ``counts`` (queries, groups, levels) holds how many items of each group have gain 0, 1, 2, …,
    as an array or a tensor. An item is relevant when its gain is above 0.
    """

    def __init__(self, counts: Any) -> None:
        self._read(_weighted_sums(counts, _weights(np.arange(counts.shape[2]))))

    @classmethod
    def of_items(cls, group: Integers, gains: Integers) -> "TiedRanking":
        """Rank the items of one query, by the number of each item's group and by its gain.

        >>> ranking = TiedRanking.of_items(np.array([0, 1, 0]), np.array([1, 1, 0]))
        >>> ranking.relevant(1)
        array([0.5])
        """
        sums = np.zeros((4, 1, int(group.max()) + 2))  # ends in an empty group
        for row, weights in zip(sums[:, 0], _weights(gains), strict=True):
            row[:-1] = np.bincount(group, weights)
        ranking = cls.__new__(cls)
        ranking._read(sums)
        return ranking

    def _read(self, sums: Floats) -> None:
        self.size: Floats = sums[0]
        self.hits: Floats = sums[1]
        self.gains: Floats = sums[2]
        self.exponential: Floats = sums[3]
        self.items = int(self.size[0].sum()) if len(self.size) else 0
        self._cuts: dict[int, tuple[tuple[Integers, Integers], Floats]] = {}
        self._reciprocals: dict[int, Floats] = {}

    def relevant(self, n: int) -> Floats:
        """Count the relevant items among the first n, on average."""
        cut, share = self._cut(n)
        found: Floats = self._before.hits[cut] + share * self.hits[cut]
        return found

    def gain(self, n: int) -> Floats:
        """Sum the gains of the first n, on average."""
        cut, share = self._cut(n)
        found: Floats = self._before.gains[cut] + share * self.gains[cut]
        return found

    def dcg(self, n: int) -> Floats:
        """Give every item of a group the group's mean gain, for that is what it has on average."""
        cut, _ = self._cut(n)
        discounts = summed_discounts(self.items)
        span = discounts[min(n, self.items)] - discounts[self._before.items[cut]]
        mean_gain = self.exponential[cut] / np.maximum(self.size[cut], 1.0)
        dcg: Floats = self._before.dcg[cut] + mean_gain * span
        return dcg

    def average_precision(self, n: int) -> Floats:
        """Average precision, divided by the relevant items that make the cut."""
        before = self._before
        return self._average(self.hits, before.hits, before.precision, n)

    def average_gain(self, n: int) -> Floats:
        """Average the mean gain so far, divided by the relevant items that make the cut."""
        before = self._before
        return self._average(self.gains, before.gains, before.mean_gain, n)

    @cached_property
    def _before(self) -> SumsBefore:
        """What is summed over all groups before each."""
        tables = harmonic_numbers(self.items), summed_discounts(self.items)
        groups = self.size, self.hits, self.gains, self.exponential
        queries, count = self.size.shape
        items, sums = np.empty((queries, count), np.int64), np.empty((queries, 5, count))
        _side_by_side(sums_before, groups, tables, (items, sums))
        return SumsBefore(items, *np.moveaxis(sums, 1, 0))

    def _cut(self, n: int) -> tuple[tuple[Integers, Integers], Floats]:
        """Index each query's first group not wholly within the first n; the share that is."""
        if n not in self._cuts:
            start = self._before.items
            cut = np.arange(len(start)), first_cut(start, self.size, n)
            share = (min(n, self.items) - start[cut]) / np.maximum(self.size[cut], 1.0)
            self._cuts[n] = cut, share
        return self._cuts[n]

    def _average(self, gains: Floats, before: Floats, summed: Floats, n: int) -> Floats:
        """Mean over all orders of 1/M · Σ rel(i) · (gain of the first i)/i; M = Σ rel(i).

        Of the group that is cut, m items stay. R and N of `sums_before` become K and m, where
        K, the relevant items that make the cut, is hypergeometric; and M = B + K is random too.
        Dividing the polynomial in K by B + K leaves only the mean of 1/(B + K) to compute.
        """
        cut, share = self._cut(n)
        start, size, hits = self._before.items[cut], self.size[cut], self.hits[cut]
        b = self._before.hits[cut]
        m = np.minimum(n, self.items) - start
        if n not in self._reciprocals:  # the same for both averages
            found = np.empty((len(size), 2))
            _side_by_side(mean_reciprocal, (size, hits, m, b), (), (found,))
            self._reciprocals[n] = found
        reciprocal, some = self._reciprocals[n].T
        first = some - b * reciprocal  # mean of K/(B + K)
        second = share * hits - (1 + b) * some + b * (b + 1) * reciprocal  # of K(K − 1)/(B + K)

        harmonic = harmonic_numbers(self.items)
        h1 = harmonic[start + m] - harmonic[start]
        h2 = m - (start + 1) * h1
        g = gains[cut] / np.maximum(hits, 1.0)
        split = (before[cut] + g) * h1 * first + g * h2 * second / np.maximum(m - 1, 1)
        average: Floats = summed[cut] * reciprocal + split / np.maximum(m, 1)
        return average


def ideal_ranking(totals: Integers) -> TiedRanking:
    """Rank items in the best order; ``totals`` (queries, levels) has how many there are of each."""
    weighted = totals * _weights(np.arange(totals.shape[1]))[:, None, :]
    ranking = TiedRanking.__new__(TiedRanking)
    ranking._read(_ended(weighted[:, :, ::-1]))
    return ranking


class SummedRanking:
    """Rankings of which relevant items, gains and DCG are summed together, once per cut-off."""

    def __init__(self) -> None:
        self._sums = lru_cache(maxsize=None)(self._sums_at)

    def _sums_at(self, n: int) -> Floats:
        """Sum over the first n: (queries, 3 or more), relevant items, gains, DCG."""
        raise NotImplementedError

    def relevant(self, n: int) -> Floats:
        """Count the relevant items among the first n."""
        return self._sums(n)[:, 0]

    def gain(self, n: int) -> Floats:
        """Sum the gains of the first n."""
        return self._sums(n)[:, 1]

    def dcg(self, n: int) -> Floats:
        """Sum (2^gain − 1) / log₂(1 + rank) over the first n."""
        return self._sums(n)[:, 2]


class StableRanking(SummedRanking):
    """Rankings whose ties stand in database order.

    ``gains`` (queries, n) are the gains of the nearest items in that order; there must be as many
    as the largest cut-off asked for.
    """

    def __init__(self, gains: npt.NDArray[np.uint16]) -> None:
        super().__init__()
        self.gains = gains

    def _sums_at(self, n: int) -> Floats:
        return running_sums(self.gains, n, np.diff(summed_discounts(self.gains.shape[1])))

    def average_precision(self, n: int) -> Floats:
        """Average the precision at each relevant item of the first n."""
        return self._sums(n)[:, 3] / np.maximum(self.relevant(n), 1.0)

    def average_gain(self, n: int) -> Floats:
        """Average the mean gain so far at each relevant item of the first n."""
        return self._sums(n)[:, 4] / np.maximum(self.relevant(n), 1.0)
