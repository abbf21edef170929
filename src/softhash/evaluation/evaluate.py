"""Evaluation of binary codes: metrics together with the contract they were computed under."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softhash import hamming
from softhash.codes import pack, row_bytes
from softhash.errors import InputError, UsageError, unknown_name
from softhash.evaluation.metrics import METRICS
from softhash.evaluation.rankings import Floats, Ranking, StableRanking, TiedRanking, ideal_ranking
from softhash.evaluation.report import Report

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.data.loading import Progress
    from softhash.model.hasher import Hasher

Cut = int | str  # a number of returned items, or "all"
Positions = np.ndarray[Any, Any]
Rank = Callable[[Positions, int], tuple[Ranking, TiedRanking]]

TIES = {
    "expected": "the exact mean over all orders of items at equal distance",
    "stable": "items at equal distance in database order",
}
CURVES = ("acg", "ndcg", "precision", "recall")
CURVE_POINTS = tuple(range(100, 5001, 100))

WORKING_BYTES = 1 << 26  # what one group of queries may take beside the inputs


def evaluate_codes(
    query_codes: hamming.Array,
    database_codes: hamming.Array,
    query_labels: hamming.Array,
    database_labels: hamming.Array,
    *,
    bits: int,
    at: Cut | Sequence[Cut] = (5000, "all"),
    ties: str = "expected",
    curves: Sequence[int] = (),
    threads: int | None = None,
) -> Report:
    """Rank the database for every query by Hamming distance, and measure the rankings.

    Codes are packed (see `pack`), labels multi-hot: numpy arrays, or CUDA tensors for the GPU.
    ``at`` are the cut-offs; ``curves`` further ones at which ACG, NDCG, precision and recall are
    drawn. Queries without a label are left out and counted in the report's contract.

    >>> from softhash import pack
    >>> codes = pack([[-1, -1, -1], [-1, -1, 1], [1, 1, 1]])
    >>> labels = np.array([[1, 1], [1, 0], [0, 1]])
    >>> print(evaluate_codes(codes[:1], codes[1:], labels[:1], labels[1:], bits=3, at=2))
                      @2
    map           1.0000
    wap           1.0000
    acg           1.0000
    ndcg          1.0000
    precision     1.0000
    recall        1.0000
    1 queries, 2 items, 3 bits, ties: expected
    """
    hamming.check_rows(query_codes, database_codes, query_labels, database_labels)
    _check_bits(query_codes, bits)

    def rank(positions: Positions, deepest: int) -> tuple[Ranking, TiedRanking]:
        sides = query_codes[positions], database_codes, query_labels[positions], database_labels
        return _rankings(sides, ties, deepest, threads)

    labels = query_labels, database_labels
    return measured(rank, labels, bits=bits, groups=bits + 9, at=at, ties=ties, curves=curves)


def measured(
    rank: Rank,
    labels: tuple[hamming.Array, hamming.Array],
    *,
    bits: int,
    groups: int,
    at: Cut | Sequence[Cut],
    ties: str,
    curves: Sequence[int],
    distance: str = "Hamming",
) -> Report:
    """Measure rankings that `rank` makes, given the positions of some queries and how deep.

    ``groups`` is how many distances a query can have, which tells how many queries fit into memory
    at once; ``distance`` names what was ranked by.
    """
    if ties not in TIES:
        raise unknown_name("tie rule", ties, TIES)
    query_labels, database_labels = labels
    n = len(database_labels)
    cuts = _cuts(at, n)
    drawn = {min(cut, n): None for cut in curves if cut > 0}
    labelled = np.flatnonzero(_to_numpy((query_labels > 0).any(1)))
    if not len(labelled):
        raise InputError(f"none of the {len(query_labels)} queries has a label to be judged by")

    scores: dict[str, list[Floats]] = {}
    for positions in _groups(labelled, groups, database_labels.shape[1], max(cuts.values()), ties):
        ranking, ideal = rank(positions, max([*cuts.values(), *drawn]))
        for name, metric in METRICS.items():
            for cut, first in cuts.items():
                scores.setdefault(f"{name}@{cut}", []).append(metric(ranking, ideal, first))
            for first in drawn if name in CURVES else ():
                scores.setdefault(f"curve {name}@{first}", []).append(metric(ranking, ideal, first))

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


def evaluate(
    hasher: "Hasher",
    query: "ImageSet",
    database: "ImageSet",
    *,
    at: Cut | Sequence[Cut] = (5000, "all"),
    ties: str = "expected",
    curves: Sequence[int] = (),
    rescore: bool = False,
    device: str = "auto",
    progress: "Progress | None" = None,
) -> Report:
    """Encode queries and database, and measure; pictures that cannot be read are left out.

    With ``rescore``, rescored searches are measured too.
    """
    hasher.check_hamming()
    asked = hasher.encode_readable(query, "outputs", device=device, progress=progress)
    found = hasher.encode_readable(database, device=device, progress=progress)
    labels = query.labels[asked.positions], database.labels[found.positions]
    cuts: dict[str, Any] = {"at": at, "ties": ties}
    report = evaluate_codes(
        pack(asked.values), found.values, *labels, bits=hasher.bits, curves=curves, **cuts
    )
    if rescore:
        from softhash.evaluation.by_distance import evaluate_rescored

        again = evaluate_rescored(asked.values, found.values, *labels, **cuts)
        report = replace(report, rescored=again.metrics)
    broken = {"queries_broken": len(asked.broken), "database_broken": len(found.broken)}
    return replace(report, contract={**report.contract, **broken})


def _check_bits(codes: hamming.Array, bits: int) -> None:
    if codes.shape[1] != row_bytes(bits):
        raise InputError(
            f"codes have {codes.shape[1]} bytes a row, but {bits} bits need {row_bytes(bits)}"
        )


def _to_numpy(array: hamming.Array) -> Any:
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


def _rankings(
    sides: tuple[hamming.Array, ...], ties: str, deepest: int, threads: int | None
) -> tuple[Ranking, TiedRanking]:
    """Return the rankings of some queries, and the best there could be."""
    counts = hamming.histogram(*sides, threads=threads)
    ideal = ideal_ranking(_to_numpy(counts.sum(1)))
    if ties == "expected":
        return TiedRanking(counts), ideal
    gains = hamming.ranked_gains(*sides, first=deepest, threads=threads)
    return StableRanking(_to_numpy(gains).astype(np.uint16, copy=False)), ideal


def _curves(means: Mapping[str, float], drawn: Sequence[int]) -> dict[str, Sequence[float]]:
    if not drawn:
        return {}
    curves = {name: [means[f"curve {name}@{n}"] for n in drawn] for name in CURVES}
    return {"n": list(drawn), **curves}


def _spread(values: Floats, labelled: np.ndarray[Any, Any], query_labels: hamming.Array) -> Floats:
    """Put the values back at the queries' positions, NaN for queries without a label."""
    spread = np.full(len(query_labels), np.nan)
    spread[labelled] = values
    return spread


def _contract(
    bits: int,
    cuts: Mapping[str, int],
    ties: str,
    query_labels: hamming.Array,
    database_labels: hamming.Array,
    labelled: np.ndarray[Any, Any],
) -> dict[str, Any]:
    """Tell everything that decides what the numbers mean."""
    unlabelled = int((~_to_numpy((database_labels > 0).any(1))).sum())
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
