"""``softhash evaluate``: how good codes are."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softhash.cli._output import print_json, say, warn
from softhash.errors import UsageError

if TYPE_CHECKING:
    from softhash.evaluation.report import Report

CODES_HELP = "`.npy`: packed uint8, or one column per bit."
FEATURES_HELP = "`.npy` of embeddings, for a MODEL of `train --features`."
LABELS_HELP = "`.npy`: 0 and 1, one column per class."
WAYS = (
    "give MODEL and DATA; or MODEL, --query-features, --database-features and labels; "
    "or --query-codes, --database-codes, labels and --bits",
    "labels are --query-labels and --database-labels",
)


def evaluate(
    model: Annotated[Path | None, typer.Argument(help="A model folder.")] = None,
    data: Annotated[str | None, typer.Argument(help="A folder, a table, or `scenes`.")] = None,
    protocol: Annotated[
        str | None, typer.Option(help="How DATA is split; the model's own by default.")
    ] = None,
    split_seed: Annotated[int | None, typer.Option(help="Seed of the split.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Layout of DATA.")] = None,
    query_features: Annotated[Path | None, typer.Option(help=FEATURES_HELP)] = None,
    database_features: Annotated[Path | None, typer.Option(help=FEATURES_HELP)] = None,
    query_codes: Annotated[Path | None, typer.Option(help=CODES_HELP)] = None,
    database_codes: Annotated[Path | None, typer.Option(help=CODES_HELP)] = None,
    query_labels: Annotated[Path | None, typer.Option(help=LABELS_HELP)] = None,
    database_labels: Annotated[Path | None, typer.Option(help=LABELS_HELP)] = None,
    bits: Annotated[int | None, typer.Option(help="Length of the codes.")] = None,
    at: Annotated[str, typer.Option(help="Cut-offs: numbers or `all`.")] = "5000,all",
    ties: Annotated[
        str, typer.Option(help="`expected`: mean over all orders of ties; `stable`: file order.")
    ] = "expected",
    layout: Annotated[str, typer.Option(help="Of the codes: auto, packed or unpacked.")] = "auto",
    curves: Annotated[
        bool, typer.Option("--curves", help="Add ACG, NDCG, precision, recall against n.")
    ] = False,
    rescore: Annotated[
        bool, typer.Option("--rescore", help="Measure rescored searches too; for a MODEL.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Save the report as JSON.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing report.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure a model on a collection or on embeddings, or anybody's codes: exact under ties."""
    from softhash.cli import _evaluations
    from softhash.cli._report import print_report

    labels = (query_labels, database_labels)
    features = _files(query_features, database_features, *labels)
    codes = _files(query_codes, database_codes, *labels)
    options: dict[str, Any] = {
        "at": at.split(","),
        "ties": ties,
        "curves": _curve_points() if curves else (),
    }
    report: Report
    if model and data:
        report = _evaluations.measure_pictures(
            model,
            data,
            format=format,
            protocol=protocol,
            seed=split_seed,
            device=device,
            options={**options, "rescore": rescore},
        )
    elif model and features:
        options["rescore"] = rescore
        report = _evaluations.measure_features(model, features, device, options)
    elif rescore:
        raise UsageError("--rescore needs a model's real-valued outputs", WAYS[0])
    elif codes and bits is not None:
        report = _evaluations.measure_codes(codes, bits, layout, device, options)
    else:
        raise UsageError(*WAYS)
    left_out = report.contract["queries_without_labels"]
    if left_out:
        total = left_out + report.contract["queries"]
        warn(f"{left_out} of {total} queries have no label and were left out")
    if output:
        report.save(output, force=force)
        say(f"saved {output}")
    if as_json:
        print_json(report.as_dict())
    else:
        print_report(report)


def _files(
    queries: Path | None, database: Path | None, query_labels: Path | None, labels: Path | None
) -> tuple[Path, Path, Path, Path] | None:
    """Return the four files where all of them are given."""
    if queries and database and query_labels and labels:
        return queries, database, query_labels, labels
    return None


def _curve_points() -> Sequence[int]:
    from softhash.evaluation.evaluate import CURVE_POINTS

    return CURVE_POINTS
