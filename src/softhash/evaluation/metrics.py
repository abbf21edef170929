"""MAP, WAP, ACG, NDCG, precision and recall of a ranking: one value per query, at a cut-off n.

The definitions are those of the IDHN paper (its equations are named at each function); the
contract, with the reasons and a worked example, is in ``docs/why/metrics.md``. A ranking is a
`TiedRanking`, exact means over all orders of tied items, or a `StableRanking`, ties by position;
``ideal`` is the best order of the same database.

>>> from softhash.evaluation.rankings import TiedRanking, ideal_ranking
>>> counts = np.array([[[1, 1, 0], [2, 0, 1]]])  # two items at distance 0, then three
>>> ranking, ideal = TiedRanking(counts), ideal_ranking(counts.sum(axis=1))
>>> float(precision(ranking, ideal, n=1)[0])  # one of the two nearest is relevant
0.5
>>> round(float(average_precision(ranking, ideal, n=5)[0]), 4)
0.6361
"""

from collections.abc import Callable, Mapping

import numpy as np

from softhash.evaluation.rankings import Floats, Ranking, TiedRanking

Metric = Callable[[Ranking, TiedRanking, int], Floats]


def precision(ranking: Ranking, ideal: TiedRanking, n: int) -> Floats:
    """Share of the first n that is relevant."""
    return ranking.relevant(n) / n


def recall(ranking: Ranking, ideal: TiedRanking, n: int) -> Floats:
    """Share of all relevant items that is among the first n; 0 when there are none."""
    return ranking.relevant(n) / np.maximum(ideal.relevant(ideal.items), 1.0)


def acg(ranking: Ranking, ideal: TiedRanking, n: int) -> Floats:
    """Average cumulative gain, ACG@n = 1/n · Σ C(q, i): labels shared, on average (eq. acg)."""
    return ranking.gain(n) / n


def ndcg(ranking: Ranking, ideal: TiedRanking, n: int) -> Floats:
    """DCG@n / Z_n, DCG@n = Σ (2^C(q, i) − 1) / log(1 + i), Z_n the best order's (eq. dcg)."""
    best = ideal.dcg(n)
    return np.divide(ranking.dcg(n), best, out=np.zeros_like(best), where=best > 0)


def average_precision(ranking: Ranking, ideal: TiedRanking, n: int) -> Floats:
    """AP = 1/N_Tr@n · Σ Tr(q, i) · N_Tr@i / i, over i = 1 … n (eq. ap)."""
    return ranking.average_precision(n)


def weighted_average_precision(ranking: Ranking, ideal: TiedRanking, n: int) -> Floats:
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
