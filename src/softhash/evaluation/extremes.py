"""The best and the worst that a ranking can be read as, over all orders of tied items."""

from typing import Any

import numpy as np

from softhash.evaluation._extreme_kernels import extreme_averages, extreme_sums
from softhash.evaluation.rankings import (
    Floats,
    Ranking,
    SummedRanking,
    TiedRanking,
    harmonic_numbers,
    summed_discounts,
)


class ExtremeRanking(SummedRanking):
    """Rankings as groups of tied items; every value is its largest or smallest over their orders.

    Each value is an extreme of its own: average precision at a cut-off inside a group may be
    largest in another order than recall. Nothing is sorted, the counts suffice.

    Args:
        counts: (queries, groups, levels), how many items of each group have gain 0, 1, 2, …, as
            an array or a tensor.
        best: the largest values, not the smallest.

    >>> counts = np.array([[[1, 1], [2, 1]]])  # two items at distance 0, then three
    >>> [float(ExtremeRanking(counts, best=best).relevant(3)[0]) for best in (False, True)]
    [1.0, 2.0]

    """

    def __init__(self, counts: Any, *, best: bool) -> None:
        super().__init__()
        array = counts.cpu().numpy() if hasattr(counts, "cpu") else np.asarray(counts)
        used = np.flatnonzero(array.any(axis=(0, 1)))
        levels = int(used[-1]) + 1 if len(used) else 1
        self.counts = np.ascontiguousarray(array[:, :, :levels], np.int64)
        self.best = best
        self.items = int(self.counts[0].sum()) if len(self.counts) else 0

    def average_precision(self, n: int) -> Floats:
        """Average the precision at each relevant item of the first n, at most or at least."""
        return self._average(n, weighted=False)

    def average_gain(self, n: int) -> Floats:
        """Average the mean gain so far at each relevant item, at most or at least."""
        return self._average(n, weighted=True)

    def _sums_at(self, n: int) -> Floats:
        discounts = summed_discounts(self.items)
        return extreme_sums(self.counts, min(n, self.items), self.best, discounts)

    def _average(self, n: int, *, weighted: bool) -> Floats:
        harmonic = harmonic_numbers(self.items)
        return extreme_averages(self.counts, min(n, self.items), self.best, weighted, harmonic)


def read_ties(counts: Any, ties: str) -> Ranking:
    """Read counts (queries, groups, levels) by a tie rule that needs nothing else."""
    if ties == "expected":
        return TiedRanking(counts)
    return ExtremeRanking(counts, best=ties == "best")
