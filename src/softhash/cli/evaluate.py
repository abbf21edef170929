"""``softhash evaluate``: how good codes are."""

from pathlib import Path
from typing import Annotated

import typer

from softhash.cli._output import print_json, say, warn

CODES_HELP = "`.npy`: packed uint8, or one column a bit."
LABELS_HELP = "`.npy`: 0 and 1, one column a class."


def evaluate(
    query_codes: Annotated[Path, typer.Option(help=CODES_HELP)],
    database_codes: Annotated[Path, typer.Option(help=CODES_HELP)],
    query_labels: Annotated[Path, typer.Option(help=LABELS_HELP)],
    database_labels: Annotated[Path, typer.Option(help=LABELS_HELP)],
    bits: Annotated[int, typer.Option(help="Length of the codes.")],
    at: Annotated[str, typer.Option(help="Cut-offs: numbers or `all`.")] = "5000,all",
    ties: Annotated[
        str, typer.Option(help="`expected`: mean over all orders of ties; `stable`: file order.")
    ] = "expected",
    layout: Annotated[str, typer.Option(help="Of the codes: auto, packed or unpacked.")] = "auto",
    curves: Annotated[
        bool, typer.Option("--curves", help="Add ACG, NDCG, precision, recall against n.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Save the report as JSON.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing report.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure anybody's codes: MAP, WAP, ACG, NDCG, precision and recall, exact under ties."""
    from softhash.arrays import read_codes, read_labels
    from softhash.cli._report import print_report
    from softhash.devices import pick_device, to_device
    from softhash.evaluation import CURVE_POINTS, check_rows, evaluate_codes

    sides = (
        read_codes(query_codes, bits, layout),
        read_codes(database_codes, bits, layout),
        read_labels(query_labels),
        read_labels(database_labels),
    )
    check_rows(*sides, names=(query_codes, database_codes, query_labels, database_labels))
    chosen = pick_device(device)
    report = evaluate_codes(
        *(to_device(side, chosen) for side in sides),
        bits=bits,
        at=at.split(","),
        ties=ties,
        curves=CURVE_POINTS if curves else (),
    )
    left_out = report.contract["queries_without_labels"]
    if left_out:
        warn(f"{left_out} of {len(sides[2])} queries have no label and were left out")
    if output:
        report.save(output, force=force)
        say(f"saved {output}")
    if as_json:
        print_json(report.as_dict())
    else:
        print_report(report)
