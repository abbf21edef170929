"""Evaluation of rankings by real-valued distances, for methods that are not Hamming methods."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from softhash.errors import InputError
from softhash.evaluation import Cut, Report, measured
from softhash.rankings import Ranking, StableRanking, TiedRanking, ideal_ranking

Numbers = npt.NDArray[Any]


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

    Everything else is as in `evaluate_codes`; items at equal distances are tied. ``distance`` is
    the name that the report gives to what was ranked by.

    >>> labels = np.array([[1, 1], [1, 0], [0, 1]])
    >>> near = np.array([[0.5, 0.1]])
    >>> report = evaluate_distances(
    ...     near, labels[:1], labels[1:], bits=3, distance="Euclidean distance", at=2
    ... )
    >>> report.metrics["map@2"], report.contract["distance"]
    (1.0, 'Euclidean distance')
    """
    _check(distances, query_labels, database_labels)

    def rank(positions: Numbers, deepest: int) -> tuple[Ranking, TiedRanking]:
        gains = (query_labels[positions] > 0).astype(np.float32) @ (database_labels > 0).T
        near = distances[positions]
        order = np.argsort(near, axis=1, kind="stable")
        ranked = np.take_along_axis(gains.astype(np.int64), order, axis=1)
        counts = _counts(np.take_along_axis(near, order, axis=1), ranked)
        ideal = ideal_ranking(counts.sum(axis=1))
        if ties == "stable":
            return StableRanking(ranked[:, :deepest].astype(np.uint16)), ideal
        return TiedRanking(counts), ideal

    labels = query_labels, database_labels
    return measured(
        rank,
        labels,
        bits=bits,
        groups=distances.shape[1],
        at=at,
        ties=ties,
        curves=curves,
        distance=distance,
    )


def _counts(near: Numbers, gains: Numbers) -> npt.NDArray[np.int64]:
    """Count the items of each tied group at each gain; both sides are in ranked order."""
    queries = len(near)
    group = np.zeros(near.shape, np.int64)
    group[:, 1:] = np.cumsum(near[:, 1:] != near[:, :-1], axis=1)
    levels, most = int(gains.max()) + 1, int(group.max()) + 1
    place = (np.arange(queries)[:, None] * most + group) * levels + gains
    counts = np.bincount(place.ravel(), minlength=queries * most * levels)
    return counts.reshape(queries, most, levels)


def _check(distances: Numbers, query_labels: Numbers, database_labels: Numbers) -> None:
    expected = len(query_labels), len(database_labels)
    if distances.shape != expected:
        raise InputError(
            f"distances have the shape {distances.shape}; {expected[0]} rows of query labels and "
            f"{expected[1]} of database labels need {expected}"
        )
    if query_labels.shape[1] != database_labels.shape[1]:
        raise InputError(
            f"query labels have {query_labels.shape[1]} classes and database labels "
            f"{database_labels.shape[1]}; both must name the same classes in the same order"
        )
    if not distances.size:
        raise InputError(f"distances have the shape {distances.shape}: there is nothing to rank")
    if np.isnan(distances).any():
        row = int(np.isnan(distances).any(axis=1).argmax())
        raise InputError(f"distances hold NaN, first for query {row}; did training diverge?")
