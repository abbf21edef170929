"""Write the page that compares every method on a collection under the same recipes, from its rows.

::

    softhash bench recipes/compare/frozen-common.toml --data PICTURES -o RESULTS --curves 48
    softhash plot RESULTS -o FIGURES
    python -m tools.comparison docs/results/coco --title COCO

The folder holds `frozen-common.jsonl` and `frozen-strong.jsonl`, and beside each the tested
differences that `softhash plot` writes as `significance.json`, as `frozen-common-significance.json`
and so on. It may hold the further parts of `further`. Written are `comparison.md` and folders of
tables and figures. Every number on the page comes from a row; a test writes the committed pages
again and compares.
"""

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tools.comparison.further import list_further, list_further_commands
from tools.comparison.part import SHOWN_BITS, Part, read_part
from tools.comparison.standing import list_gains, list_printed, list_standing
from tools.comparison.tables import PAPER, SCREEN, by_length, overview
from tools.page_parts import MEASURED, describe_data, keep_report, list_versions, write_table

from softhash.experiments.results import Row
from softhash.files import write_whole
from softhash.plots.writing import Choice

PAGE, ABOUT = "comparison.md", "about.txt"
COMMON, STRONG = "frozen-common", "frozen-strong"
BY_LENGTH = (("map", "5000"), ("ndcg", "100"), ("ndcg", "20"))
KEPT = ("tables.md", "*map-bits.png", "*ndcg-bits.png", "*curves.png")

INTRODUCTION = """\
This page is for researchers who want to compare hashing methods. Every method was trained by the
same recipe, ours included. `common` was chosen for none of them; `strong` is the recipe that our
own method has by default. Weights of a loss are the defaults of its method, and in the tuned part
those of its best trial. `tools/comparison` wrote the page from the rows.
"""
RECIPES = """\
`common` is plain training. `strong` is what our own method has by default: a linear path beside the
hidden layer, more dropout, batches twice as large and twice as many epochs.
"""
DPSH = """\
DPSH's rows were run with η = 0.3, as they say, while the default of their commit was 0.6. It was
chosen on halves of VOC2012's train set, and has been the default since.
"""
TESTED = """\
Differences were tested by a paired bootstrap over queries and seeds. Values marked ≈ are level with
the best of their column: the 95 % interval of the difference contains 0. Then nobody leads.
Intervals are not corrected for the number of columns; how often chance calls a lead is in [Compare
methods](../../how-to/compare.md).
"""
GAINS = """\
What the recipe brings to a method is the difference of the two columns. What the rest of our method
brings is the distance to the best other method under the same recipe: loss, soft labels, anchors
and nested lengths together. [The method](../../why/method.md) has each of them alone.
"""
STANDING = """\
How our own method stands in each column: it leads, it is level with the best, or it is behind.
*Level with X* where it is not the best itself: X has the higher mean, and others may be level too.
DQN and SPQ are quantisers: they compare the query's real numbers with codebooks, so their database
has codes of the same length, but their queries are not codes.
"""
PRINTED = """\
In brackets is what the IDHN paper prints: another network (AlexNet, fine-tuned; features of its fc7
for shallow methods) and other labels. Compare the order of methods, not the level.
"""


def write_page(folder: Path, title: str, data: str = "", *, figures: bool = True) -> str:
    """Write the page of a collection, and folders of tables and figures; return its text.

    Args:
        folder: with the rows; a file `about.txt` in it has what else is to be known of them.
        title: the collection's name.
        data: the paper's name of the data set, to put its numbers beside ours.
        figures: whether the folders are written too.

    """
    common, strong = (read_part(folder, name) for name in (COMMON, STRONG))
    if figures:
        for part in (common, strong):
            choice = Choice(formats=("png",), force=True, tested=part.tested)
            keep_report(part.group.rows, folder / part.name, choice, KEPT)
    bits = SHOWN_BITS
    parts = [f"# {title}: every method under one recipe\n", INTRODUCTION, "## What was run\n"]
    parts += [list_facts(common, strong)]
    parts += [(folder / ABOUT).read_text()] if (folder / ABOUT).exists() else []
    parts += [RECIPES, DPSH, TESTED]
    parts += [
        "## The common recipe\n",
        overview(common, bits, PAPER),
        overview(common, bits, SCREEN),
    ]
    parts += [list_figures(common)]
    parts += ["## The strong recipe\n", overview(strong, bits, (*PAPER[:2], *SCREEN))]
    parts += ["## What the method brings, and what the recipe\n", GAINS]
    parts += [
        list_gains(common, strong, *measure) for measure in (("map", "5000"), ("ndcg", "100"))
    ]
    parts += ["## Where our own method stands\n", STANDING]
    parts += [list_standing(part) for part in (common, strong)]
    parts += list_further(folder)
    parts += ["## Every length\n", *(by_length(common, *measure) for measure in BY_LENGTH)]
    parts += ["## Beside the paper\n", PRINTED, list_printed(common, data)] if data else []
    further = list_further_commands(folder)
    parts += ["## How to rerun\n", list_commands(common, folder.name, title, data, further)]
    text = "\n".join(parts)
    write_whole(folder / PAGE, text, force=True)
    return text


def list_facts(common: Part, strong: Part) -> str:
    """Write what was run: the split, the network, the methods, and with which code."""
    rows = [*common.group.rows, *strong.group.rows]
    methods = {row["recipe"]["method"] for row in rows}
    facts = [
        *describe_data(common.group.rows[0]),
        ("lines", f"{len(methods)}, references included"),
        ("rows", f"{len(common.group.rows)} common, {len(strong.group.rows)} strong"),
        ("lengths", f"{', '.join(map(str, common.group.bits))} bits"),
        ("seeds", _seeds(rows)),
        MEASURED,
        ("code of these rows", list_versions(rows, "commit")),
        ("device of these rows", list_versions(rows, "device")),
        ("raw rows", ", ".join(f"[{p.name}.jsonl]({p.name}.jsonl)" for p in (common, strong))),
        ("generated", ", ".join(f"[{p.name}]({p.name}/tables.md)" for p in (common, strong))),
    ]
    return write_table(("", ""), facts)


def list_figures(part: Part) -> str:
    """Show the figures of MAP and NDCG against the length."""
    return "\n".join(
        f"![{name} against bits]({part.name}/{part.group.slug}-{file}.png)\n"
        for name, file in (("MAP", "map-bits"), ("NDCG", "ndcg-bits"))
    )


def list_commands(
    part: Part, folder: str, title: str, data: str, further: Sequence[tuple[str, str]]
) -> str:
    """Write the commands that give these rows.

    Args:
        part: the rows.
        folder: name of theirs in docs/results.
        title: the collection's name.
        data: the paper's name of the data set.
        further: what the further parts are, and their commands.

    """
    protocol = part.group.rows[0]["data"]["protocol"]
    given = "--data PICTURES" + ("" if protocol == "random" else f" --protocol {protocol}")
    bench = "softhash bench recipes/compare"
    given_again = [f"docs/results/{folder}", "--title", title]
    given_again += ["--paper", data] if data else []
    commands = [
        ("rows", f"{bench}/frozen-common.toml {given} -o RESULTS --curves 48"),
        ("the other recipe", f"{bench}/frozen-strong.toml {given} -o STRONG --curves 48"),
        *further,
        ("tables, figures, tested differences", "softhash plot RESULTS -o FIGURES"),
        ("this page", shlex.join(["python", "-m", "tools.comparison", *given_again])),
    ]
    return write_table(("what", "command"), [(what, f"`{command}`") for what, command in commands])


def _seeds(rows: Sequence[Row]) -> str:
    """Write how many seeds a method has at a length; references have no codes, and one row."""
    coded = (row for row in rows if row["contract"].get("bits") == row["recipe"]["bits"])
    keys = ("method", "bits", "epochs")
    counts = Counter(tuple(row["recipe"][key] for key in keys) for row in coded)
    return " or ".join(str(count) for count in sorted(set(counts.values())))
