"""MAP and NDCG of anybody's scores, as exact means over the orders of tied items: plain arrays.

Equal scores are a tie. For average precision, torchmetrics takes the order that a sort leaves, and
scikit-learn counts all items of a tie at its last rank; here it is the mean over all orders.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from softhash.errors import InputError, UsageError
from softhash.evaluation.metrics import Metric, average_precision, ndcg
from softhash.evaluation.rankings import Integers, TiedRanking

MAX_GAIN = 1000  # beyond, 2^gain is not finite

Numbers = npt.NDArray[Any]


def tie_aware_map(scores: npt.ArrayLike, gains: npt.ArrayLike, n: int | None = None) -> float:
    """Return mean average precision, averaged over all orders of items with equal scores.

    AP@n is divided by the relevant items within the first n. A query with none of them counts as 0.

    Args:
        scores: (items,) or (queries, items), higher is better; any sign.
        gains: of the same shape, whole numbers from 0 on; an item is relevant above 0.
        n: the cut-off; all items by default.

    Raises:
        InputError: shapes differ, scores hold NaN, or gains are not whole numbers from 0 on.
        UsageError: a cut-off below 1.

    >>> tie_aware_map([2, 1, 1, 0], [1, 1, 0, 0])  # the second hit is second or third
    0.9166666666666666
    >>> tie_aware_map([[0, 0], [-1, -3]], [[1, 0], [0, 1]], n=1)
    0.25

    """
    return _mean(average_precision, scores, gains, n)


def tie_aware_ndcg(scores: npt.ArrayLike, gains: npt.ArrayLike, n: int | None = None) -> float:
    """Return NDCG, averaged over all orders of items with equal scores, and over the queries.

    An item of gain g at rank i counts (2^g − 1)/log₂(1 + i). The best order of all items, not only
    of the first n, is 1. A query without relevant items counts as 0.

    Args:
        scores: (items,) or (queries, items), higher is better; any sign.
        gains: of the same shape, whole numbers from 0 on.
        n: the cut-off; all items by default.

    Raises:
        InputError: shapes differ, scores hold NaN, or gains are not whole numbers from 0 on.
        UsageError: a cut-off below 1.

    >>> round(tie_aware_ndcg([0.5, 0.5, 0.1], [2, 0, 1]), 4)  # the best is first or second
    0.8115

    """
    return _mean(ndcg, scores, gains, n)


def check_cut(n: int | None) -> int | None:
    """Return a cut-off when there is such a one, otherwise raise."""
    if n is not None and n < 1:
        raise UsageError(f"cut-off {n} is below 1", "give a number of items, or None for all")
    return n


def _mean(metric: Metric, scores: npt.ArrayLike, gains: npt.ArrayLike, n: int | None) -> float:
    """Average a metric over the queries; one at a time, so that memory stays small."""
    ranked, gained = _check(np.asarray(scores), np.asarray(gains))
    items = ranked.shape[1]
    cut = min(check_cut(n) or items, items)
    values = [
        metric(_rank(row, gain), _rank(gain, gain), cut)[0]
        for row, gain in zip(ranked, gained, strict=True)
    ]
    return float(np.mean(values))


def _rank(scores: Numbers, gains: Integers) -> TiedRanking:
    """Rank the items of one query, equal scores in one group."""
    different, place = np.unique(scores, return_inverse=True)
    return TiedRanking.of_items(len(different) - 1 - place, gains)


def _check(scores: Numbers, gains: Numbers) -> tuple[Numbers, Integers]:
    """Return scores and gains as (queries, items) where they are usable."""
    if scores.shape != gains.shape or scores.ndim not in (1, 2) or not scores.size:
        raise InputError(
            f"scores have the shape {scores.shape} and gains {gains.shape}",
            "both must be (items,) or (queries, items), with at least one item",
        )
    if np.isnan(scores).any():
        raise InputError("scores hold NaN", "did training diverge?")
    whole = np.asarray(gains, np.float64)
    if not (np.isfinite(whole) & (whole >= 0) & (whole <= MAX_GAIN) & (whole % 1 == 0)).all():
        raise InputError(
            "gains must be whole numbers from 0 to 1,000", "such as the number of shared labels"
        )
    return np.atleast_2d(scores), np.atleast_2d(whole.astype(np.int64))
