"""``softhash evaluate``: how good codes are."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softhash.cli._output import print_json, say, warn
from softhash.errors import UsageError

if TYPE_CHECKING:
    from softhash.evaluation.report import Report

CODES_HELP = "`.npy`: packed uint8, or one column a bit."
LABELS_HELP = "`.npy`: 0 and 1, one column a class."


def evaluate(
    model: Annotated[Path | None, typer.Argument(help="A model folder.")] = None,
    data: Annotated[str | None, typer.Argument(help="A folder, a table, or `scenes`.")] = None,
    protocol: Annotated[
        str | None, typer.Option(help="How DATA is split; the model's own by default.")
    ] = None,
    split_seed: Annotated[int | None, typer.Option(help="Seed of the split.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Layout of DATA.")] = None,
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
    """Measure a model on a collection, or anybody's codes: exact under ties."""
    from softhash.cli._report import print_report

    arrays = (query_codes, database_codes, query_labels, database_labels)
    options: dict[str, Any] = {
        "at": at.split(","),
        "ties": ties,
        "curves": _curve_points() if curves else (),
    }
    if model and data:
        options["rescore"] = rescore
        split = (protocol, split_seed)
        report = _of_model(model, data, format, split, device, options)
    elif rescore:
        raise UsageError("--rescore needs a model's real-valued outputs", "give MODEL and DATA")
    elif bits is not None and all(arrays):
        report = _of_codes(arrays, bits, layout, device, options)  # type: ignore[arg-type]
    else:
        raise UsageError(
            "give MODEL and DATA, or --query-codes, --database-codes, --query-labels, "
            "--database-labels and --bits"
        )
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


def _curve_points() -> Sequence[int]:
    from softhash.evaluation.evaluate import CURVE_POINTS

    return CURVE_POINTS


def _of_codes(
    files: tuple[Path, Path, Path, Path],
    bits: int,
    layout: str,
    device: str,
    options: dict[str, Any],
) -> "Report":
    from softhash.data.arrays import read_codes, read_labels
    from softhash.devices import pick_device, to_device
    from softhash.evaluation.evaluate import evaluate_codes
    from softhash.hamming import check_rows

    sides = (
        read_codes(files[0], bits, layout),
        read_codes(files[1], bits, layout),
        read_labels(files[2]),
        read_labels(files[3]),
    )
    check_rows(*sides, names=files)
    chosen = pick_device(device)
    return evaluate_codes(*(to_device(side, chosen) for side in sides), bits=bits, **options)


def _of_model(
    model: Path,
    data: str,
    format: str | None,
    split: tuple[str | None, int | None],
    device: str,
    options: dict[str, Any],
) -> "Report":
    """Evaluate on the split that the model was trained with, unless another is asked for."""
    from dataclasses import replace

    from softhash.cli._progress import show_progress
    from softhash.data.image_set import ImageSet
    from softhash.evaluation.evaluate import evaluate as measure
    from softhash.model.hasher import Hasher

    hasher = Hasher.load(model)
    trained = hasher.config["card"].get("split", {})
    protocol = split[0] or trained.get("protocol", "random")
    seed = trained.get("seed", 0) if split[1] is None else split[1]
    parts = ImageSet.read(data, format).split(protocol, seed=seed)
    if trained and trained["sha256"] != parts.sha256:
        warn("this is not the split the model was trained with: queries may have been trained on")
    with show_progress("encoding") as progress:
        report = measure(
            hasher, parts.query, parts.database, device=device, progress=progress, **options
        )
    return replace(report, contract={**report.contract, "split": parts.sha256})
