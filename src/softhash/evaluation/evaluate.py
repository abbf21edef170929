"""Evaluation of binary codes: metrics together with the contract they were computed under."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softhash import hamming
from softhash.codes import check_first_bits, check_packed, first_bits, pack, row_bytes
from softhash.errors import InputError, UsageError
from softhash.evaluation.code_statistics import describe_codes
from softhash.evaluation.extremes import read_ties
from softhash.evaluation.feature_pair import FeaturePair, encode_with_features
from softhash.evaluation.measure import Cut, Positions, Ranked, measure_rankings, to_numpy
from softhash.evaluation.radius import check_radii, radius_contract, within_radii
from softhash.evaluation.rankings import StableRanking, ideal_ranking
from softhash.evaluation.report import Report
from softhash.hamming.rescoring import BITS, FEATURES, choose_rescoring

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.data.loading import Progress
    from softhash.model.encoding import EncodeOptions
    from softhash.model.hasher import Hasher

CURVE_POINTS = tuple(range(100, 5001, 100))


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
    radii: Sequence[int] = (),
    describe: bool = False,
    threads: int | None = None,
) -> Report:
    """Rank the database for every query by Hamming distance, and measure the rankings.

    Queries without a label are left out and counted in the report's contract. All four arrays are
    numpy arrays, or CUDA tensors for the GPU.

    Args:
        query_codes: packed codes (q, ⌈bits/8⌉), see `pack`.
        database_codes: packed codes (n, ⌈bits/8⌉).
        query_labels: multi-hot (q, classes).
        database_labels: multi-hot (n, classes), the same classes in the same order.
        bits: length of the codes.
        at: the cut-offs: numbers of returned items, or "all".
        ties: "expected", the exact mean over all orders of items at equal distance, "stable", such
            items in database order, or "best" and "worst", the extremes over these orders.
        curves: further cut-offs at which ACG, NDCG, precision and recall are computed.
        radii: Hamming distances, to measure all items within each, see
            `softhash.evaluation.radius`.
        describe: add what `describe_codes` finds in the database codes, as the report's `codes`.
        threads: of the processor; all usable cores by default.

    Raises:
        InputError: rows, classes or bits do not fit each other, or no query has a label.
        UsageError: a cut-off, a radius or a tie rule that does not exist.

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
    for name, codes in (("query codes", query_codes), ("database codes", database_codes)):
        _check_bits(codes, bits, name)
    check_radii(radii)

    def rank(positions: Positions, deepest: int) -> Ranked:
        sides = query_codes[positions], database_codes, query_labels[positions], database_labels
        counts = hamming.histogram(*sides, threads=threads)
        ideal, further = ideal_ranking(to_numpy(counts.sum(1))), within_radii(counts, radii)
        if ties != "stable":
            return Ranked(read_ties(counts, ties), ideal, further)
        gains = to_numpy(hamming.ranked_gains(*sides, first=deepest, threads=threads))
        return Ranked(StableRanking(gains.astype(np.uint16, copy=False)), ideal, further)

    labels = query_labels, database_labels
    report = measure_rankings(
        rank, labels, bits=bits, groups=bits + 9, at=at, ties=ties, curves=curves
    )
    contract = {**report.contract, **radius_contract(radii)}
    found = describe_codes(to_numpy(database_codes), bits) if describe else {}
    return replace(report, contract=contract, codes=found)


def evaluate_outputs(
    outputs: hamming.Array,
    database_codes: hamming.Array,
    query_labels: hamming.Array,
    database_labels: hamming.Array,
    *,
    rescore: bool | str = False,
    features: FeaturePair | None = None,
    at: Cut | Sequence[Cut] = (5000, "all"),
    ties: str = "expected",
    **options: Any,
) -> Report:
    """Measure the codes of queries whose real-valued outputs are known.

    Args:
        outputs: real-valued outputs (q, bits) of the queries, whose signs are their codes.
        database_codes: packed codes (n, ⌈bits/8⌉).
        query_labels: multi-hot (q, classes).
        database_labels: multi-hot (n, classes).
        rescore: "bits" (or True) or "features" to measure searches rescored by these too, as the
            report's `rescored`.
        features: of the queries (q, d), and of the database as int8 (n, d), to rescore by.
        at: the cut-offs, as for `evaluate_codes`.
        ties: the tie rule, as for `evaluate_codes`.
        options: `curves`, `radii` and `describe`, as for `evaluate_codes`.

    """
    cuts: dict[str, Any] = {"at": at, "ties": ties}
    sides = database_codes, query_labels, database_labels
    asked = {**cuts, **options}
    report = evaluate_codes(pack(outputs), *sides, bits=outputs.shape[1], **asked)
    way = choose_rescoring(rescore)
    if not way:
        return report
    from softhash.evaluation.by_distance import evaluate_feature_rescored, evaluate_rescored

    if way == BITS:
        again = evaluate_rescored(outputs, *sides, **cuts)
    elif features is not None:
        again = evaluate_feature_rescored(outputs, *sides, features, **cuts)
    else:
        raise UsageError("there are no features to rescore by", "give features, or rescore by bits")
    contract = {**report.contract, "rescored": again.contract["distance"]}
    return replace(report, rescored=again.metrics, contract=contract)


def evaluate(
    hasher: "Hasher",
    query: "ImageSet",
    database: "ImageSet",
    *,
    at: Cut | Sequence[Cut] = (5000, "all"),
    ties: str = "expected",
    curves: Sequence[int] = (),
    radii: Sequence[int] = (),
    describe: bool = False,
    rescore: bool | str = False,
    device: str = "auto",
    progress: "Progress | None" = None,
) -> Report:
    """Encode queries and database, and measure; pictures that cannot be read are left out.

    How many pictures could not be read is in the contract, as `queries_broken` and
    `database_broken`.

    Args:
        hasher: the model to measure.
        query: the pictures to search with, and their labels.
        database: the pictures to search in, and their labels.
        at: the cut-offs: numbers of returned items, or "all".
        ties: "expected", "stable", "best" or "worst", as for `evaluate_codes`.
        curves: further cut-offs at which ACG, NDCG, precision and recall are computed.
        radii: Hamming distances, to measure all items within each.
        describe: add what `describe_codes` finds in the database codes, as the report's `codes`.
        rescore: "bits" (or True) or "features", rounded to int8 as an index keeps them, to measure
            searches rescored by these too.
        device: where pictures are encoded: auto, cpu or cuda.
        progress: called with (pictures done, pictures in all), for queries and for the database.

    Raises:
        UsageError: the model's codes are not compared by Hamming distance.

    """
    options: dict[str, Any] = {"at": at, "ties": ties, "curves": curves, "rescore": rescore}
    options |= {"radii": radii, "describe": describe}
    reports = evaluate_lengths(
        hasher, query, database, (hasher.bits,), device=device, progress=progress, **options
    )
    return reports[hasher.bits]


def evaluate_lengths(
    hasher: "Hasher",
    query: "ImageSet",
    database: "ImageSet",
    lengths: Sequence[int],
    *,
    device: str = "auto",
    progress: "Progress | None" = None,
    **options: Any,
) -> dict[int, Report]:
    """Encode queries and database once, and measure the first bits of their codes.

    The contract of a report has the length as `bits` and, where the codes have more, theirs as
    `first_of`.

    Args:
        hasher: the model to measure.
        query: the pictures to search with, and their labels.
        database: the pictures to search in, and their labels.
        lengths: how many of the first bits; one report for each.
        device: where pictures are encoded: auto, cpu or cuda.
        progress: as for `evaluate`.
        options: `at`, `ties`, `curves`, `radii`, `describe` and `rescore`, as for `evaluate`.

    Raises:
        UsageError: the codes are not so long, or are not compared by Hamming distance.

    """
    hasher.check_hamming()
    for bits in lengths:
        check_first_bits(bits, hasher.bits)
    run: EncodeOptions = {"device": device, "progress": progress}
    if choose_rescoring(options.get("rescore", False)) == FEATURES:
        asked, found, options["features"] = encode_with_features(hasher, query, database, **run)
    else:
        asked = hasher.encode_readable(query, "outputs", **run)
        found = hasher.encode_readable(database, **run)
    labels = query.labels[asked.positions], database.labels[found.positions]
    reports = evaluate_first_bits(asked.values, found.values, *labels, lengths, **options)
    broken = {"queries_broken": len(asked.broken), "database_broken": len(found.broken)}
    return {
        bits: replace(report, contract={**report.contract, **broken})
        for bits, report in reports.items()
    }


def evaluate_first_bits(
    outputs: hamming.Array,
    database_codes: hamming.Array,
    query_labels: hamming.Array,
    database_labels: hamming.Array,
    lengths: Sequence[int],
    **options: Any,
) -> dict[int, Report]:
    """Measure the first bits of codes, one report for each length.

    Args:
        outputs: real-valued outputs (q, bits) of the queries, whose signs are their codes.
        database_codes: packed codes (n, ⌈bits/8⌉).
        query_labels: multi-hot (q, classes).
        database_labels: multi-hot (n, classes).
        lengths: how many of the first bits.
        options: as for `evaluate_outputs`.

    """
    labels, whole = (query_labels, database_labels), outputs.shape[1]
    reports = {}
    for bits in lengths:
        sides = outputs[:, :bits], first_bits(database_codes, bits)
        reports[bits] = name_origin(evaluate_outputs(*sides, *labels, **options), whole)
    return reports


def name_origin(report: Report, whole: int) -> Report:
    """Add to the contract how many bits the codes have, where the first of them were measured."""
    if report.contract["bits"] == whole:
        return report
    return replace(report, contract={**report.contract, "first_of": whole})


def _check_bits(codes: hamming.Array, bits: int, name: str) -> None:
    if isinstance(codes, np.ndarray):
        check_packed(codes, bits, name)
    elif codes.shape[1] != row_bytes(bits):
        raise InputError(
            f"codes have {codes.shape[1]} bytes per row, but {bits} bits need {row_bytes(bits)}"
        )
