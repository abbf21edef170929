"""From rankings to a report: which queries, which cut-offs, and what the numbers mean."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from softhash.errors import InputError, UsageError, unknown_name
from softhash.evaluation.metrics import METRICS
from softhash.evaluation.rankings import Floats, Ranking, TiedRanking
from softhash.evaluation.report import Report
from softhash.hamming import Array

Cut = int | str  # a number of returned items, or "all"
Positions = np.ndarray[Any, Any]
NOTHING: Mapping[str, Floats] = MappingProxyType({})

TIES = {
    "expected": "the exact mean over all orders of items at equal distance",
    "stable": "items at equal distance in database order",
    "best": "the largest value over all orders of items at equal distance, of each query",
    "worst": "the smallest value over all orders of items at equal distance, of each query",
}
PAPER_CUTS = (5000,)
SMALL_CUTS = (20, 100)  # about a screen of hits, and five
CURVES = ("acg", "ndcg", "precision", "recall")

WORKING_BYTES = 1 << 26  # what one group of queries may take beside the inputs


class Ranked(NamedTuple):
    """The rankings of some queries, and what to measure them by.

    Attributes:
        ranking: what is among the first n items.
        ideal: the best order there could be.
        further: values that need no ranking, by the names they get in the report.

    """

    ranking: Ranking
    ideal: TiedRanking
    further: Mapping[str, Floats] = NOTHING


Rank = Callable[[Positions, int], Ranked]


def measure_rankings(
    rank: Rank,
    labels: tuple[Array, Array],
    *,
    bits: int,
    groups: int,
    at: Cut | Sequence[Cut],
    ties: str,
    curves: Sequence[int],
    distance: str = "Hamming",
) -> Report:
    """Measure the rankings of all queries that have a label, a few queries at a time.

    Args:
        rank: called with the positions of some queries and the largest cut-off; returns their
            rankings.
        labels: multi-hot, of the queries and of the database.
        bits: length of the codes, for the contract.
        groups: how many distances a query can have, which decides how many queries fit into
            memory at once.
        at: the cut-offs.
        ties: one of `TIES`.
        curves: further cut-offs, for `CURVES`.
        distance: the name of what was ranked by, for the contract.

    Raises:
        InputError: no query has a label.
        UsageError: a cut-off or a tie rule that does not exist.

    """
    if ties not in TIES:
        raise unknown_name("tie rule", ties, TIES)
    query_labels, database_labels = labels
    n = len(database_labels)
    cuts = _cuts(at, n)
    drawn = {min(cut, n): None for cut in curves if cut > 0}
    labelled = np.flatnonzero(to_numpy((query_labels > 0).any(1)))
    if not len(labelled):
        raise InputError(f"none of the {len(query_labels)} queries has a label to be judged by")

    scores: dict[str, list[Floats]] = {}
    for positions in _groups(labelled, groups, database_labels.shape[1], max(cuts.values()), ties):
        ranking, ideal, further = rank(positions, max([*cuts.values(), *drawn]))
        for name, metric in METRICS.items():
            for cut, first in cuts.items():
                scores.setdefault(f"{name}@{cut}", []).append(metric(ranking, ideal, first))
            for first in drawn if name in CURVES else ():
                scores.setdefault(f"curve {name}@{first}", []).append(metric(ranking, ideal, first))
        for name, values in further.items():
            scores.setdefault(name, []).append(values)

    every = {name: np.concatenate(values) for name, values in scores.items()}
    means = {name: float(values.mean()) for name, values in every.items()}
    per_query = {name: every[name] for name in every if not name.startswith("curve")}
    return Report(
        metrics={name: means[name] for name in per_query},
        contract=_contract(bits, cuts, ties, query_labels, database_labels, labelled)
        | {"distance": distance},
        curves=_curves(means, list(drawn)),
        per_query={
            name: _spread(values, labelled, query_labels) for name, values in per_query.items()
        },
    )


def usual_cuts(database: int) -> tuple[Cut, ...]:
    """Return cut-offs that mean something in a database of that size: none that is all of it.

    >>> usual_cuts(10_000), usual_cuts(750), usual_cuts(60)
    ((5000, 'all'), (20, 100, 'all'), (20, 'all'))
    """
    cuts = PAPER_CUTS if database >= max(PAPER_CUTS) else SMALL_CUTS
    return (*(cut for cut in cuts if cut <= database), "all")


def to_numpy(array: Array) -> Any:
    """Return an array, or a tensor on any device, as a numpy array."""
    return array.cpu().numpy() if hasattr(array, "cpu") else np.asarray(array)


def _cuts(at: Cut | Sequence[Cut], n: int) -> dict[str, int]:
    """Resolve cut-offs to numbers of items; one beyond the database stands for all of it."""
    cuts = [at] if isinstance(at, int | str) else list(at)
    if not cuts:
        raise UsageError("no cut-off was given", "name at least one, such as 5000 or all")
    resolved = {}
    for cut in cuts:
        text = str(cut)
        if text != "all" and not (text.isdecimal() and int(text) > 0):
            raise UsageError(f"cut-off '{cut}' is neither a number above 0 nor 'all'")
        resolved[text] = n if text == "all" else min(int(text), n)
    return resolved


def _groups(
    positions: Positions, distances: int, classes: int, deepest: int, ties: str
) -> Iterator[Positions]:
    """Cut the queries into groups whose histograms, or ranked gains, fit into memory."""
    bytes_each = 16 * distances * (classes + 8) + (2 * deepest if ties == "stable" else 0)
    size = max(1, WORKING_BYTES // bytes_each)
    for start in range(0, len(positions), size):
        yield positions[start : start + size]


def _curves(means: Mapping[str, float], drawn: Sequence[int]) -> dict[str, Sequence[float]]:
    if not drawn:
        return {}
    curves = {name: [means[f"curve {name}@{n}"] for n in drawn] for name in CURVES}
    return {"n": list(drawn), **curves}


def _spread(values: Floats, labelled: np.ndarray[Any, Any], query_labels: Array) -> Floats:
    """Put the values back at the queries' positions, NaN for queries without a label."""
    spread = np.full(len(query_labels), np.nan)
    spread[labelled] = values
    return spread


def _contract(
    bits: int,
    cuts: Mapping[str, int],
    ties: str,
    query_labels: Array,
    database_labels: Array,
    labelled: np.ndarray[Any, Any],
) -> dict[str, Any]:
    """Collect everything that decides what the numbers mean."""
    unlabelled = int((~to_numpy((database_labels > 0).any(1))).sum())
    return {
        "bits": bits,
        "queries": len(labelled),
        "queries_without_labels": len(query_labels) - len(labelled),
        "database": len(database_labels),
        "database_without_labels": unlabelled,
        "classes": int(database_labels.shape[1]),
        "at": dict(cuts),
        "ties": ties,
        "relevant": "shares at least one label",
        "gain": "number of shared labels",
        "divisor": "relevant items within the first n",
        "empty_query": "a query with nothing relevant within the first n scores 0",
        "ideal": "best order of the whole database",
        "split": None,
    }
