"""Reports of a model on pictures, of a model on embeddings, and of codes."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from softhash.cli._output import warn
from softhash.errors import InputError

if TYPE_CHECKING:
    from softhash.data.splits.split import Split
    from softhash.evaluation.report import Report
    from softhash.model.hasher import Hasher

Lengths = Sequence[int]
Reports: TypeAlias = "dict[int, Report]"  # by the number of first bits
Files = tuple[Path, Path, Path, Path]  # of queries and database, then their labels


def measure_pictures(
    model: Path,
    data: str,
    *,
    format: str | None,
    protocol: str | None,
    seed: int | None,
    device: str,
    lengths: Lengths,
    options: dict[str, Any],
) -> Reports:
    """Measure a model on a collection, by the split it was trained with unless another is asked.

    Args:
        model: the model's folder.
        data: the collection.
        format: its layout, where detection is not wanted.
        protocol: how it is split; as the model's card has it by default.
        seed: of the split; the card's by default.
        device: where pictures are encoded.
        lengths: how many of the codes' first bits; all of them by default.
        options: of `softhash.evaluate`.

    """
    from softhash.cli._collection import read_collection, split_collection
    from softhash.cli._models import warn_of_lengths
    from softhash.cli._progress import show_progress
    from softhash.evaluation.evaluate import evaluate_lengths
    from softhash.model.hasher import Hasher

    hasher = Hasher.load(model)
    if hasher.backbone is None:
        raise InputError(
            "this model takes embeddings, not pictures",
            "give --query-features, --database-features and their labels instead of DATA",
        )
    trained = {"protocol": "random", "seed": 0, **hasher.config["card"].get("split", {})}
    usual = "random" if trained["protocol"] == "all" else trained["protocol"]
    split = split_collection(
        read_collection(data, format),
        protocol or usual,
        seed=trained["seed"] if seed is None else seed,
    )
    options = _with_cuts(options, len(split.database))
    with show_progress("encoding") as progress:
        reports = evaluate_lengths(
            hasher,
            split.query,
            split.database,
            lengths or (hasher.bits,),
            device=device,
            progress=progress,
            **options,
        )
    warn_of_lengths(hasher, *reports)
    _warn_of_broken(next(iter(reports.values())))
    return _with_leakage(reports, hasher, split)


def measure_features(
    model: Path, files: Files, device: str, lengths: Lengths, options: dict[str, Any]
) -> Reports:
    """Measure a model of embeddings on those of queries and database.

    Args:
        model: the model's folder.
        files: embeddings of queries and database, and labels of both.
        device: where embeddings are encoded.
        lengths: how many of the codes' first bits; all of them by default.
        options: of `softhash.evaluate`.

    """
    from softhash.cli._models import warn_of_lengths
    from softhash.codes import check_first_bits
    from softhash.data.arrays import read_features, read_labels
    from softhash.evaluation.evaluate import evaluate_first_bits
    from softhash.evaluation.feature_pair import FeaturePair
    from softhash.hamming import check_rows
    from softhash.hamming.cosine import quantise
    from softhash.model.hasher import Hasher

    hasher = Hasher.load(model)
    hasher.check_hamming()
    if hasher.backbone is not None:
        raise InputError("this model takes pictures, not embeddings", "give DATA")
    queries, database = (read_features(file) for file in files[:2])
    labels = read_labels(files[2]), read_labels(files[3])
    check_rows(queries, database, *labels, names=files)
    lengths = lengths or (hasher.bits,)
    for bits in lengths:
        check_first_bits(bits, hasher.bits)
    options = _with_cuts(options, len(database))
    outputs = hasher.outputs(queries, device=device)
    codes = hasher.encode(database, device=device)
    features = FeaturePair(queries, quantise(database)[0])  # what is given, as an index keeps it
    reports = evaluate_first_bits(outputs, codes, *labels, lengths, features=features, **options)
    warn_of_lengths(hasher, *reports)
    return _with_leakage(reports, hasher, None)


def measure_codes(
    files: Files, lengths: Sequence[int], layout: str, device: str, options: dict[str, Any]
) -> Reports:
    """Measure codes that any framework may have made.

    Args:
        files: codes of queries and database, and labels of both.
        lengths: how many of their first bits; the largest is the length of the codes.
        layout: how they are laid out: auto, packed or unpacked.
        device: where they are compared.
        options: of `softhash.evaluate_codes`.

    """
    from softhash.codes import first_bits
    from softhash.data.arrays import read_codes, read_labels
    from softhash.devices import pick_device, to_device
    from softhash.evaluation.evaluate import evaluate_codes, name_origin
    from softhash.hamming import check_rows

    whole, chosen = max(lengths), pick_device(device)
    codes = read_codes(files[0], whole, layout), read_codes(files[1], whole, layout)
    labels = read_labels(files[2]), read_labels(files[3])
    check_rows(*codes, *labels, names=files)
    options = _with_cuts(options, len(codes[1]))
    reports = {}
    for bits in lengths:
        sides = (first_bits(codes[0], bits), first_bits(codes[1], bits), *labels)
        on_device = (to_device(side, chosen) for side in sides)
        reports[bits] = name_origin(evaluate_codes(*on_device, bits=bits, **options), whole)
    return reports


def _with_cuts(options: dict[str, Any], database: int) -> dict[str, Any]:
    """Choose cut-offs that suit the database, where none are asked for."""
    from softhash.evaluation.measure import usual_cuts

    return options | {"at": options["at"] or usual_cuts(database)}


def _with_leakage(reports: Reports, hasher: "Hasher", split: "Split | None") -> Reports:
    """Add to contracts which split it was, and whether the model was trained on its queries."""
    from softhash.evaluation.leakage import NOTES, trained_on_queries

    found = trained_on_queries(hasher.config["card"], split)
    if found in NOTES:
        warn(NOTES[found])
    known = {"split": split.sha256 if split else None, "trained_on_queries": found}
    return {
        bits: replace(report, contract={**report.contract, **known})
        for bits, report in reports.items()
    }


def _warn_of_broken(report: "Report") -> None:
    broken = report.contract["queries_broken"] + report.contract["database_broken"]
    if broken:
        warn(f"{broken:,} pictures cannot be read and were left out; `softhash check` lists them")
