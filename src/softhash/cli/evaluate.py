"""``softhash evaluate``: how good codes are."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softhash.cli._output import print_json, say, warn
from softhash.errors import UsageError
from softhash.files import write_whole

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
    bits: Annotated[
        str | None,
        typer.Option(
            help="Measure so many of the first bits, as `16,48,256`; all of a MODEL's by default. "
            "The largest is the length of --query-codes."
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            help="Cut-offs, as `20,5000,all`; by default 5000 and all, in databases of fewer items "
            "20, 100 and all."
        ),
    ] = None,
    ties: Annotated[
        str,
        typer.Option(
            help="`expected`: mean over all orders of ties; `stable`: file order; "
            "`best`, `worst`: the extremes over all orders."
        ),
    ] = "expected",
    radius: Annotated[
        str | None,
        typer.Option(help="Measure all items within Hamming distances too, as `2` or `2,3`."),
    ] = None,
    layout: Annotated[str, typer.Option(help="Of the codes: auto, packed or unpacked.")] = "auto",
    curves: Annotated[
        bool, typer.Option("--curves", help="Add ACG, NDCG, precision, recall against n.")
    ] = False,
    rescore: Annotated[
        str,
        typer.Option(
            metavar="bits|features",
            help="Measure searches rescored by bits or features too; for a MODEL.",
        ),
    ] = "",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Save the report as JSON.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing report.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure a model on a collection or on embeddings, or anybody's codes: exact under ties."""
    from softhash.cli import _evaluations

    lengths = _lengths(bits)
    labels = (query_labels, database_labels)
    features = _files(query_features, database_features, *labels)
    codes = _files(query_codes, database_codes, *labels)
    options: dict[str, Any] = {
        "at": at.split(",") if at else None,
        "ties": ties,
        "curves": _curve_points() if curves else (),
        "radii": _numbers(radius, "Hamming distance", "2, or 2,3"),
        "describe": True,
    }
    if model and data:
        reports = _evaluations.measure_pictures(
            model,
            data,
            format=format,
            protocol=protocol,
            seed=split_seed,
            device=device,
            lengths=lengths,
            options={**options, "rescore": rescore},
        )
    elif model and features:
        options["rescore"] = rescore
        reports = _evaluations.measure_features(model, features, device, lengths, options)
    elif rescore:
        raise UsageError("--rescore needs a model's outputs or features", WAYS[0])
    elif codes and lengths:
        reports = _evaluations.measure_codes(codes, lengths, layout, device, options)
    else:
        raise UsageError(*WAYS)
    _show(reports, output, force=force, as_json=as_json)


def _lengths(text: str | None) -> tuple[int, ...]:
    """Read lengths of codes, in the order given; none where nothing is.

    >>> _lengths("16,48")
    (16, 48)
    """
    return _numbers(text, "number of bits", "48, or 16,48,256")


def _numbers(text: str | None, kind: str, example: str) -> tuple[int, ...]:
    """Read numbers with commas between them, each once.

    Args:
        text: what was given, if anything.
        kind: what each of them is.
        example: what to give, for the error.

    """
    parts = dict.fromkeys(text.split(",") if text else ())
    if odd := [part for part in parts if not part.strip().isdecimal()]:
        raise UsageError(f"'{odd[0]}' is not a {kind}", f"give such as {example}")
    return tuple(map(int, parts))


def _show(reports: "dict[int, Report]", output: Path | None, *, force: bool, as_json: bool) -> None:
    """Save and print: one report as it is, several by their number of bits."""
    from softhash.cli._report import print_lengths, print_report

    first = next(iter(reports.values()))
    if left_out := first.contract["queries_without_labels"]:
        total = left_out + first.contract["queries"]
        warn(f"{left_out} of {total} queries have no label and were left out")
    by_bits = {str(bits): report.as_dict() for bits, report in reports.items()}
    content = by_bits if len(reports) > 1 else first.as_dict()
    if output:
        write_whole(output, json.dumps(content, indent=2) + "\n", force=force)
        say(f"saved {output}")
    if as_json:
        print_json(content)
    elif len(reports) > 1:
        print_lengths(reports)
    else:
        print_report(first)
    if not as_json:
        _print_details(reports)


def _print_details(reports: "dict[int, Report]") -> None:
    """Print what was measured beside the rankings, under the table."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for bits, report in reports.items():
        for line in report.details:
            console.print(f"  {bits} bits: {line}" if len(reports) > 1 else f"  {line}")


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
