"""Write the page of a collection's first screen, with its tables and figures, from rows of results.

::

    softhash bench recipes/softhash/first-screen.toml --data PICTURES -o RESULTS
    softhash bench recipes/softhash/first-screen-ablation.toml --data PICTURES -o ABLATION
    python -m tools.results_page docs/results/coco --title COCO

The folder holds the rows: `first-screen.jsonl`, others of `EXTRAS` where there are some, and
`split.json` where the split is none that a protocol draws. Written are the page (README.md, or
`--page`) and a folder `first-screen` of tables and figures. Every number on the page comes from a
row.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.page_parts import (
    MEASURED,
    TIES,
    describe_data,
    keep_report,
    list_versions,
    wrap,
    write_table,
)

from softhash import InputError, SofthashError
from softhash.experiments.results import Row, read_results
from softhash.files import write_whole
from softhash.plots.details import training_seconds
from softhash.plots.entries import distinct_lines
from softhash.plots.groups import Group, group_rows
from softhash.plots.markup import to_markdown
from softhash.plots.tables import comparison_table, overview_table
from softhash.plots.writing import Choice

NAME = "first-screen"
CUTS = ("5000", "100", "20")  # of the generated tables; figures of MAP take the first
MEASURES = (
    ("map", "5000"), ("wap", "5000"), ("ndcg", "20"), ("ndcg", "100"), ("acg", "20"),
    ("acg", "100"),
)  # fmt: skip
BY_LENGTH = (("map", "5000"), ("ndcg", "20"), ("ndcg", "100"))
SPLIT = "split.json"
SHEETS = "--only softhash,float --bits 256 --seeds 1 --sheets 20"
KEPT = ("*.md", "*.tex", "*.png")

INTRODUCTION = """\
This page is for researchers who want to know how good the first screen of a search is: the twenty
nearest pictures, judged by how many labels they share with the query. `tools/results_page.py`
wrote it from the rows.
"""
FIRST_SCREEN = """\
Float features are the yardstick. They are the backbone's own, compared by cosine, and were never
trained on a label of this collection. NDCG and ACG count how many labels are shared, MAP and WAP
reach down to 5,000 hits. *Before* is our own method without the linear path beside the hidden
layer, trained for one length at a time.
"""
LENGTHS = """\
A line of first bits is one training whose shorter codes are the beginnings of its longest ones. All
other lines were trained for each length anew. A dash: not run.
"""
ABLATION = """\
The first line is the method by default; each of the others changes one thing.
"""
TIMES = """\
Several runs shared the device, so alone each is faster.
"""
RESCORED = """\
The first hits can be ordered anew: by the query's real-valued outputs, or by features that the
index keeps as int8, 1,280 bytes per picture. One seed.
"""
FINETUNED = """\
The whole network was trained, at 227×227. One seed.
"""
EXTRAS = (
    ("ablation", "What each part brings", ABLATION),
    ("rescored", "Rescored", RESCORED),
    ("finetune", "Fine-tuned", FINETUNED),
)  # further files of rows, and the part of the page that shows each


def write_page(folder: Path, title: str, page: str = "README.md") -> Path:
    """Write the page of a collection, and the folder of tables and figures beside it.

    Args:
        folder: with the rows.
        title: the collection's name.
        page: name of the page.

    """
    rows = read_results(folder / f"{NAME}.jsonl")
    group = one_group(rows)
    keep_report(rows, folder / NAME, Choice(CUTS, TIES, ("png",), force=True), KEPT)
    parts = [f"# {title}\n", INTRODUCTION, "## What was run\n", list_facts(group)]
    parts += ["## The first screen\n", FIRST_SCREEN, overview(group)]
    parts += ["## Every length\n", LENGTHS, *(by_length(group, *one) for one in BY_LENGTH)]
    parts += [list_figures(group)]
    for name, heading, text in EXTRAS:
        path = folder / f"{NAME}-{name}.jsonl"
        if path.exists():
            parts += [f"## {heading}\n", text, overview(one_group(read_results(path)))]
    parts += [
        "## Training time\n",
        TIMES,
        list_times(group),
        "## How to rerun\n",
        list_commands(group, folder),
    ]
    write_whole(folder / page, "\n".join(parts), force=True)
    return folder / page


def one_group(rows: Sequence[Row]) -> Group:
    """Return the one table that rows belong to; a page is about one split in one mode."""
    groups = group_rows(rows)
    if len(groups) > 1:
        raise InputError(f"rows are of {len(groups)} splits or modes", "put others elsewhere")
    if "labels_per_picture" not in rows[0].get("data", {}):
        raise InputError("rows are of an older version", "run the recipe again")
    return groups[0]


def list_facts(group: Group) -> str:
    """Write what was run: the split, the network, the methods, and with which code."""
    seeds = {row["recipe"]["seed"] for row in group.rows}
    facts = [
        *describe_data(group.rows[0]),
        ("lines", "; ".join(entry.label for entry in group.entries)),
        ("lengths, seeds", f"{', '.join(map(str, group.bits))} bits; {len(seeds)}"),
        MEASURED,
        ("code", list_versions(group.rows, "commit")),
        ("device", list_versions(group.rows, "device")),
        ("raw rows", f"[{NAME}.jsonl]({NAME}.jsonl)"),
        ("generated", f"[tables.md]({NAME}/tables.md), [tables.tex]({NAME}/tables.tex)"),
    ]
    return write_table(("", ""), facts)


def overview(group: Group) -> str:
    """Write one table of all measures at the longest code."""
    return wrap(to_markdown(overview_table(group, max(group.bits), MEASURES, TIES)))


def by_length(group: Group, metric: str, cut: str) -> str:
    """Write one table of one measure at every length."""
    return wrap(to_markdown(comparison_table(group, metric, cut, TIES)))


def list_figures(group: Group) -> str:
    """Show the figures of MAP and NDCG against the length."""
    drawn = (("MAP@5000", "map-bits"), ("NDCG@20", "ndcg-bits"))
    return "\n".join(
        f"![{name} against bits]({NAME}/{group.slug}-{file}.png)\n" for name, file in drawn
    )


def list_times(group: Group) -> str:
    """Write how long the longest codes took to train: the median over seeds."""
    longest, times = max(group.bits), []
    for entry in distinct_lines(group.entries, longest):
        if not entry.reference:
            seconds = training_seconds(entry.with_bits(longest))
            times.append((entry.label, "–" if seconds is None else f"{seconds:.1f} s"))
    return write_table(
        ("method", f"training, {longest} bits, {list_versions(group.rows, 'device')}"), times
    )


def list_commands(group: Group, folder: Path) -> str:
    """Write the commands that give these rows; a split file in the folder is the protocol."""
    protocol, file = group.rows[0]["data"]["protocol"], folder / SPLIT
    split = f" --protocol {file.as_posix() if file.exists() else protocol}"
    split = "" if split.endswith(" random") else split
    bench = f"softhash bench recipes/softhash/{NAME}"
    given = f"--data PICTURES{split}"
    commands = [
        ("rows", f"{bench}.toml {given} -o RESULTS"),
        ("what each part brings", f"{bench}-ablation.toml {given} -o ABLATION"),
        ("features, for a machine without pictures", f"{bench}.toml {given} --save-features FILE"),
        ("rows there", f"{bench}.toml --features FILE -o RESULTS"),
        ("nearest pictures of twenty queries", f"{bench}.toml {given} -o SHEETS {SHEETS}"),
        ("contact sheets of them", "softhash plot SHEETS -o FIGURES --data PICTURES"),
    ]
    return write_table(("what", "command"), [(what, f"`{command}`") for what, command in commands])


def main(arguments: list[str]) -> int | str:
    """Write the page of the folder that is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="with first-screen.jsonl")
    parser.add_argument("--title", required=True, help="the collection's name")
    parser.add_argument("--page", default="README.md", help="name of the page")
    given = parser.parse_args(arguments)
    try:
        print(write_page(given.folder, given.title, given.page))
    except SofthashError as error:
        return f"error: {error}"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
