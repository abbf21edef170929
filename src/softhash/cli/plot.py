"""``softhash plot``: tables and figures of what ``softhash bench`` measured."""

from pathlib import Path
from typing import Annotated

import typer

from softhash.cli._output import say, warn
from softhash.errors import unknown_name


def plot(
    results: Annotated[Path, typer.Argument(help="A folder of `bench`, or a .jsonl file.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A folder for the figures.")],
    at: Annotated[
        str, typer.Option(help="Cut-offs; figures of NDCG take the last, others the first.")
    ] = "5000",
    ties: Annotated[
        str, typer.Option(help="`expected`: mean over all orders of ties; `stable`: file order.")
    ] = "expected",
    only: Annotated[str | None, typer.Option(help="Methods, with commas between.")] = None,
    data: Annotated[
        str | None, typer.Option("--data", help="The pictures, to draw the nearest of queries.")
    ] = None,
    format: Annotated[str, typer.Option("--format", help="Of figures: png, svg, pdf.")] = "png,svg",
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
) -> None:
    """Write tables (Markdown, LaTeX), figures and report.html of results."""
    from softhash.experiments.results import read_results
    from softhash.plots.tables import TIES
    from softhash.plots.writing import REPORT, Choice, write_report

    if ties not in TIES:
        raise unknown_name("tie rule", ties, TIES)
    rows = read_results(results)
    if only:
        known = {row["recipe"]["method"] for row in rows}
        for name in only.split(","):
            if name not in known:
                raise unknown_name("method of these results", name, known)
        rows = [row for row in rows if row["recipe"]["method"] in only.split(",")]
    choice = Choice(at.split(","), ties, format.split(","), force, warn=warn)
    if data:
        from softhash.data.image_set import ImageSet

        choice.images = ImageSet.read(data)
    for path in write_report(rows, output, choice):
        typer.echo(path)
    say(f"open {output / REPORT}")
