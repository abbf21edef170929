"""What pages about results share: tables, wrapped prose, the facts of a split, kept figures."""

import shutil
import tempfile
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from softhash.experiments.results import Row
from softhash.plots.writing import Choice, write_report

WIDTH = 100
TIES = "expected"
MEASURED = ("measures", "ties `expected`: exact means over the orders of tied items")

Facts = list[tuple[str, str]]


def write_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table."""
    lines = [f"| {' | '.join(row)} |" for row in (header, *rows)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]]) + "\n"


def wrap(markdown: str) -> str:
    """Break long lines of prose; tables and headings stay as they are."""
    lines = (
        line if line.startswith(("|", "#")) else textwrap.fill(line, WIDTH)
        for line in markdown.splitlines()
    )
    return "\n".join(lines) + "\n"


def list_versions(rows: Sequence[Row], key: str) -> str:
    """List the versions of something that rows were computed with; of several, how many rows."""
    counts = Counter(str(row["versions"].get(key, "unknown")) for row in rows)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{name} ({count:,} rows)" for name, count in counts.most_common())


def describe_data(row: Row) -> Facts:
    """Return what a row was measured on: the collection, its labels, the split, the network."""
    data, contract = row["data"], row["contract"]
    return [
        ("collection", f"{data['pictures']:,} pictures, {contract['classes']} classes"),
        ("labels", f"{data['labels_per_picture']:.1f} per picture"),
        describe_split(row),
        ("network", f"{row['recipe']['backbone']}, frozen"),
    ]


def describe_split(row: Row) -> tuple[str, str]:
    """Return how many pictures a row was trained and measured on, and which."""
    data, contract = row["data"], row["contract"]
    return (
        "split",
        f"{data['protocol']}, seed {data['seed']}: {contract['queries']:,} queries, "
        f"{data['train']:,} to train, {contract['database']:,} database; "
        f"SHA-256 `{contract['split'][:12]}…`",
    )


def keep_report(rows: Sequence[Row], folder: Path, choice: Choice, kept: Sequence[str]) -> None:
    """Write tables and figures as `softhash plot` does, and keep those whose names match.

    Args:
        rows: of results.
        folder: made if need be.
        choice: what is wanted of the tables and figures.
        kept: patterns of names.

    """
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        write_report(rows, Path(scratch), choice)
        for path in (path for pattern in kept for path in Path(scratch).glob(pattern)):
            shutil.copyfile(path, folder / path.name)
