"""MAP, WAP, ACG, NDCG, precision and recall of a ranking: one value a query, at a cut-off n.

The definitions are those of the IDHN paper (its equations are named at each function); the
contract, with the reasons and a worked example, is in ``docs/metrics.md``. A ranking is a
`TiedRanking`, exact means over all orders of tied items, or a `StableRanking`, ties by position.
``totals`` (queries, levels) counts the items of the whole database that share 0, 1, 2, … labels
with each query.

>>> from softhash.rankings import TiedRanking
>>> counts = np.array([[[1, 1, 0], [2, 0, 1]]])  # two items at distance 0, then three
>>> totals = counts.sum(axis=1)
>>> float(precision(TiedRanking(counts), totals, n=1)[0])  # one of the two nearest is relevant
0.5
>>> round(float(average_precision(TiedRanking(counts), totals, n=5)[0]), 4)
0.6361
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from softhash.rankings import Floats, Ranking, TiedRanking

Totals = npt.NDArray[np.int64]
Metric = Callable[[Ranking, Totals, int], Floats]


def precision(ranking: Ranking, totals: Totals, n: int) -> Floats:
    """Share of the first n that is relevant."""
    return ranking.relevant(n) / n


def recall(ranking: Ranking, totals: Totals, n: int) -> Floats:
    """Share of all relevant items that is among the first n; 0 when there are none."""
    relevant: Totals = totals[:, 1:].sum(axis=1)
    return ranking.relevant(n) / np.maximum(relevant, 1)


def acg(ranking: Ranking, totals: Totals, n: int) -> Floats:
    """Average cumulative gain, ACG@n = 1/n · Σ C(q, i): labels shared, on average (eq. acg)."""
    return ranking.gain(n) / n


def ndcg(ranking: Ranking, totals: Totals, n: int) -> Floats:
    """DCG@n / Z_n, DCG@n = Σ (2^C(q, i) − 1) / log(1 + i), Z_n the best order's (eq. dcg)."""
    best_order = TiedRanking(np.flip(totals[:, None, :] * np.eye(totals.shape[1]), axis=1))
    best = best_order.dcg(n)
    return np.divide(ranking.dcg(n), best, out=np.zeros_like(best), where=best > 0)


def average_precision(ranking: Ranking, totals: Totals, n: int) -> Floats:
    """AP = 1/N_Tr@n · Σ Tr(q, i) · N_Tr@i / i, over i = 1 … n (eq. ap)."""
    return ranking.average_precision(n)


def weighted_average_precision(ranking: Ranking, totals: Totals, n: int) -> Floats:
    """WAP = 1/N_Tr@n · Σ Tr(q, i) · ACG@i, over i = 1 … n (eq. wap)."""
    return ranking.average_gain(n)


METRICS: Mapping[str, Metric] = {
    "map": average_precision,
    "wap": weighted_average_precision,
    "acg": acg,
    "ndcg": ndcg,
    "precision": precision,
    "recall": recall,
}
