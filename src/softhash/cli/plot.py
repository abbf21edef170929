"""``softhash plot``: tables and figures of what ``softhash bench`` measured."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from softhash.cli._output import say, warn
from softhash.errors import InputError, unknown_name

if TYPE_CHECKING:
    from softhash.experiments.results import Row
    from softhash.plots.differences import Differences


def plot(
    results: Annotated[Path, typer.Argument(help="A folder of `bench`, or a .jsonl file.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A folder for the figures.")],
    at: Annotated[
        str | None,
        typer.Option(
            help="Cut-offs; figures of NDCG take the last, others the first. By default 5000, then "
            "20 and 100 for NDCG and ACG."
        ),
    ] = None,
    ties: Annotated[
        str, typer.Option(help="`expected`: mean over all orders of ties; `stable`: file order.")
    ] = "expected",
    only: Annotated[str | None, typer.Option(help="Methods, with commas between.")] = None,
    data: Annotated[
        str | None, typer.Option("--data", help="The pictures, to draw the nearest of queries.")
    ] = None,
    significance: Annotated[
        Path | None,
        typer.Option("--significance", help="Tested differences; by default those beside RESULTS."),
    ] = None,
    mixed_commits: Annotated[
        bool,
        typer.Option("--mixed-commits", help="Allow rows of several commits in one table."),
    ] = False,
    format: Annotated[str, typer.Option("--format", help="Of figures: png, svg, pdf.")] = "png,svg",
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
) -> None:
    """Write tables (Markdown, LaTeX), figures and report.html of results."""
    from softhash.experiments.results import read_results
    from softhash.plots.tables import TIES
    from softhash.plots.writing import REPORT, Choice, write_report

    if ties not in TIES:
        raise unknown_name("tie rule", ties, TIES)
    rows = _choose(read_results(results), only)
    cuts = at.split(",") if at else ()
    choice = Choice(cuts, ties, format.split(","), force, mixed_commits=mixed_commits, warn=warn)
    if data:
        from softhash.data.image_set import ImageSet

        choice.images = ImageSet.read(data)
    choice.tested = _differences(rows, results, significance, whole=not only)
    for path in write_report(rows, output, choice):
        typer.echo(path)
    say(f"open {output / REPORT}")


def _choose(rows: "Sequence[Row]", only: str | None) -> "Sequence[Row]":
    """Return the rows of the methods that are asked for."""
    if not only:
        return rows
    known = {row["recipe"]["method"] for row in rows}
    for name in only.split(","):
        if name not in known:
            raise unknown_name("method of these results", name, known)
    return [row for row in rows if row["recipe"]["method"] in only.split(",")]


def _differences(
    rows: "Sequence[Row]", results: Path, given: Path | None, *, whole: bool
) -> "Differences | None":
    """Test the differences between methods, or read what was tested before.

    Args:
        rows: of results.
        results: where they are.
        given: a file of tested differences, which goes before all else.
        whole: whether these are all rows, so that what is found is kept beside them.

    """
    from softhash.plots import differences

    file, folder = given or differences.find_file(results), differences.find_folder(results)
    if given or not folder.is_dir():
        known = given or file.exists()
        return differences.Differences(differences.read_differences(file)) if known else None
    lines = differences.compare_rows(rows, folder)
    if whole and lines:
        try:
            differences.write_differences(file, lines)
        except InputError as error:
            warn(f"tested differences are not kept: {error.detail}")
    return differences.Differences(lines)
