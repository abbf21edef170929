"""Evaluation of rankings by real-valued distances: of quantisers, and of rescored searches."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from softhash import hamming
from softhash.codes import Codes, check_packed, pack
from softhash.errors import InputError
from softhash.evaluation.extremes import read_ties
from softhash.evaluation.feature_pair import FeaturePair
from softhash.evaluation.measure import Cut, Ranked, measure_rankings
from softhash.evaluation.rankings import StableRanking, ideal_ranking
from softhash.evaluation.report import Report
from softhash.hamming import cosine
from softhash.hamming.asymmetric import POOL, asymmetric_distances
from softhash.hamming.rescoring import reranked

Numbers = npt.NDArray[Any]
Sides = tuple[Codes, Codes, Numbers, Numbers]  # codes and labels of queries and database


def evaluate_distances(
    distances: Numbers,
    query_labels: Numbers,
    database_labels: Numbers,
    *,
    bits: int,
    distance: str,
    at: Cut | Sequence[Cut] = (5000, "all"),
    ties: str = "expected",
    curves: Sequence[int] = (),
) -> Report:
    """Rank the database for every query by given distances (queries, n), and measure.

    Everything else is as in `evaluate_codes`; items at equal distances are tied.

    Args:
        distances: (q, n), from each query to each item.
        query_labels: multi-hot (q, classes).
        database_labels: multi-hot (n, classes).
        bits: length of the codes, for the contract.
        distance: the name of what was ranked by, for the contract.
        at: the cut-offs, as for `evaluate_codes`.
        ties: the tie rule, as for `evaluate_codes`.
        curves: further cut-offs, as for `evaluate_codes`.

    >>> labels = np.array([[1, 1], [1, 0], [0, 1]])
    >>> near = np.array([[0.5, 0.1]])
    >>> report = evaluate_distances(
    ...     near, labels[:1], labels[1:], bits=3, distance="Euclidean distance", at=2
    ... )
    >>> report.metrics["map@2"], report.contract["distance"]
    (1.0, 'Euclidean distance')

    """
    _check(distances, query_labels, database_labels)
    has_label = (database_labels > 0).astype(np.float32).T

    def rank(positions: Numbers, deepest: int) -> Ranked:
        gains = (query_labels[positions] > 0).astype(np.float32) @ has_label
        near = distances[positions]
        order = np.argsort(near, axis=1, kind="stable")
        ranked = np.take_along_axis(gains.astype(np.int64), order, axis=1)
        levels = int(ranked.max()) + 1
        ideal = ideal_ranking(_counts(np.zeros_like(ranked), ranked, 1, levels)[:, 0])
        group = _tied(np.take_along_axis(near, order, axis=1))
        untied = bool((group[:, -1] == group.shape[1] - 1).all())  # there is one order alone
        if ties == "stable" or untied:
            return Ranked(StableRanking(ranked[:, :deepest].astype(np.uint16)), ideal)
        return Ranked(read_ties(_counts(group, ranked, int(group.max()) + 1, levels), ties), ideal)

    labels = query_labels, database_labels
    return measure_rankings(
        rank,
        labels,
        bits=bits,
        groups=distances.shape[1],
        at=at,
        ties=ties,
        curves=curves,
        distance=distance,
    )


def evaluate_rescored(
    outputs: Numbers,
    database_codes: Codes,
    query_labels: Numbers,
    database_labels: Numbers,
    *,
    at: Cut | Sequence[Cut] = (5000, "all"),
    ties: str = "expected",
) -> Report:
    """Rank the database for every query as a rescored search does, and measure.

    The nearest by (Hamming distance, position) are ranked again by asymmetric distance, see
    `softhash.hamming.asymmetric`. Items at equal asymmetric and Hamming distances are tied, and so
    are those behind the pool at equal Hamming distances.

    Args:
        outputs: real-valued outputs (q, bits) of the queries.
        database_codes: packed codes (n, ⌈bits/8⌉).
        query_labels: multi-hot (q, classes).
        database_labels: multi-hot (n, classes).
        at: the cut-offs, as for `evaluate_codes`.
        ties: the tie rule, as for `evaluate_codes`.

    >>> labels = np.array([[1, 1], [1, 0], [0, 0]])
    >>> codes = pack([[1, -1], [-1, 1]])  # both one bit away, the second by the surer bit
    >>> report = evaluate_rescored(np.array([[0.9, 0.1]]), codes, labels[:1], labels[1:], at=1)
    >>> report.metrics["precision@1"]
    1.0

    """
    codes = check_packed(database_codes, outputs.shape[1])

    def distances(query: int, items: Numbers) -> Numbers:
        return asymmetric_distances(outputs[query], codes[items])

    return _evaluate_pools(
        (pack(outputs), codes, query_labels, database_labels),
        Pools(POOL, distances, f"asymmetric distance within the first {POOL:,}"),
        bits=outputs.shape[1],
        at=at,
        ties=ties,
    )


def evaluate_feature_rescored(
    outputs: Numbers,
    database_codes: Codes,
    query_labels: Numbers,
    database_labels: Numbers,
    features: FeaturePair,
    *,
    at: Cut | Sequence[Cut] = (5000, "all"),
    ties: str = "expected",
) -> Report:
    """Rank the database for every query as a search rescored by features does, and measure.

    As `evaluate_rescored`, but the nearest are ranked again by 1 − cosine of features, see
    `softhash.hamming.cosine`. Items at equal cosine and Hamming distances are tied.

    Args:
        outputs: real-valued outputs (q, bits) of the queries.
        database_codes: packed codes (n, ⌈bits/8⌉).
        query_labels: multi-hot (q, classes).
        database_labels: multi-hot (n, classes).
        features: of the queries (q, d), and of the database as `quantise` rounds them (n, d).
        at: the cut-offs, as for `evaluate_codes`.
        ties: the tie rule, as for `evaluate_codes`.

    """
    queries, rows = features
    names = "query features", "database features", "query labels", "database labels"
    hamming.check_rows(queries, rows, query_labels, database_labels, names)

    def distances(query: int, items: Numbers) -> Numbers:
        return cosine.cosine_distances(queries[query], rows[items])

    return _evaluate_pools(
        (pack(outputs), database_codes, query_labels, database_labels),
        Pools(cosine.POOL, distances, f"cosine of features within the first {cosine.POOL:,}"),
        bits=outputs.shape[1],
        at=at,
        ties=ties,
    )


class Pools(NamedTuple):
    """How many of the nearest are ranked again, and by what.

    Attributes:
        size: how many of the nearest.
        distances: called with a query and positions of items; returns their distances.
        name: of the distance, for the contract.

    """

    size: int
    distances: Callable[[int, Numbers], Numbers]
    name: str


def _evaluate_pools(
    given: Sides, pools: Pools, *, bits: int, at: Cut | Sequence[Cut], ties: str
) -> Report:
    query_codes, database_codes, query_labels, database_labels = given
    pool = min(pools.size, len(check_packed(database_codes, bits)))

    def rank(positions: Numbers, deepest: int) -> Ranked:
        sides = query_codes[positions], database_codes, query_labels[positions], database_labels
        near, places = hamming.nearest(*sides[:2], pool)
        first = max(pool, deepest) if ties == "stable" else pool
        gains = hamming.ranked_gains(*sides, first=first).astype(np.int64)
        weighed = np.empty(near.shape)
        for row, query in enumerate(positions.tolist()):
            order, weighed[row] = reranked(pools.distances(query, places[row]))
            near[row], gains[row, :pool] = near[row, order], gains[row, order]
        totals = hamming.histogram(*sides)
        ideal = ideal_ranking(totals.sum(axis=1))
        if ties == "stable":
            return Ranked(StableRanking(gains[:, :deepest].astype(np.uint16)), ideal)
        group, (distances, levels) = _tied(weighed, near), totals.shape[1:]
        again = _counts(group, gains, int(group.max()) + 1, levels)
        behind = totals - _counts(near, gains, distances, levels)
        return Ranked(read_ties(np.concatenate([again, behind], axis=1), ties), ideal)

    hamming.check_rows(*given)
    return measure_rankings(
        rank,
        (query_labels, database_labels),
        bits=bits,
        groups=pool + bits + 9,
        at=at,
        ties=ties,
        curves=(),
        distance=pools.name,
    )


def _tied(*ranked: Numbers) -> npt.NDArray[np.int64]:
    """Give items (queries, n) that are equal in all they are ranked by the same number."""
    group = np.zeros(ranked[0].shape, np.int64)
    for values in ranked:
        group[:, 1:] |= values[:, 1:] != values[:, :-1]
    return np.cumsum(group, axis=1)


def _counts(group: Numbers, gains: Numbers, groups: int, levels: int) -> npt.NDArray[np.int64]:
    """Count the items of each group at each gain: (queries, groups, levels)."""
    queries = len(group)
    place = (np.arange(queries)[:, None] * groups + group) * levels + gains
    counts = np.bincount(place.ravel(), minlength=queries * groups * levels)
    return counts.reshape(queries, groups, levels)


def _check(distances: Numbers, query_labels: Numbers, database_labels: Numbers) -> None:
    expected = len(query_labels), len(database_labels)
    if distances.shape != expected:
        raise InputError(
            f"distances have the shape {distances.shape}",
            f"{expected[0]} rows of query labels and "
            f"{expected[1]} of database labels need {expected}",
        )
    if query_labels.shape[1] != database_labels.shape[1]:
        raise InputError(
            f"query labels have {query_labels.shape[1]} classes and database labels "
            f"{database_labels.shape[1]}",
            "both must name the same classes in the same order",
        )
    if not distances.size:
        raise InputError(f"distances have the shape {distances.shape}: there is nothing to rank")
    if np.isnan(distances).any():
        row = int(np.isnan(distances).any(axis=1).argmax())
        raise InputError(f"distances hold NaN, first for query {row}", "did training diverge?")
