"""What stands above and below a table: seeds, marks, commits, and notes on lines and values."""

from collections.abc import Iterable, Sequence

from softhash.experiments import paper
from softhash.experiments.paper import Printed
from softhash.experiments.results import Row
from softhash.plots.entries import Entry
from softhash.plots.groups import count_commits
from softhash.training.methods import is_shallow

OTHER_NETWORK = (
    "† printed for AlexNet, fine-tuned (LSH, SH, ITQ, MLH, KSH: on features of its fc7); ours is "
    "another network, start or mode: compare the order of methods, not the level"
)
UNSTATED = "the paper states n = 5,000 for WAP alone, and no rule for ties"
DOUBTED = "‡ not to be tested against"
LEVEL_NOTE = (
    "grey, in Markdown ≈: level with the best of the column, as the 95 % interval of the "
    "difference contains 0 (paired bootstrap over queries and seeds)"
)


def describe_seeds(counts: Iterable[int]) -> str:
    """Write what a cell has, given the number of seeds of each.

    >>> describe_seeds([3, 5, 3]), describe_seeds([1])
    ('mean ± standard deviation of 3 to 5 seeds', 'one seed')
    """
    known = sorted(set(counts))
    if known == [1]:
        return "one seed"
    seeds = f"{known[0]}" if len(known) == 1 else f"{known[0]} to {known[-1]}"
    return f"mean ± standard deviation of {seeds} seeds"


def describe_marks(untested: Sequence[str] | None) -> str:
    """Write what is marked, given the columns that were not tested; None where none was.

    >>> describe_marks(["ACG@100"])
    'in bold what leads its column; not tested, so not marked: ACG@100'
    """
    if untested is None:
        return "best in bold, second underlined, differences not tested"
    unmarked = f"; not tested, so not marked: {', '.join(untested)}" if untested else ""
    return f"in bold what leads its column{unmarked}"


def describe_commits(rows: Iterable[Row]) -> str:
    """Name the commit of softhash that rows were measured with, or say how many there are.

    >>> describe_commits([{"versions": {"commit": "ab12"}}])
    'commit ab12'
    """
    commits = list(count_commits(rows))
    return f"commit {commits[0]}" if len(commits) == 1 else f"rows of {len(commits)} commits"


def list_lines(entries: Sequence[Entry]) -> list[str]:
    """Explain the lines that have no codes, and those not fine-tuned among others that were."""
    contracts = {e.label: e.rows[0]["contract"] for e in entries if e.reference}
    notes = [
        f"{label}: ranked by {contract.get('distance')}, {contract.get('bits', 0) // 8:,} bytes "
        "each, beside codes of every length"
        for label, contract in contracts.items()
    ]
    modes = {entry.label: entry.rows[0]["recipe"]["mode"] for entry in entries}
    fitted = [label for label, mode in modes.items() if mode == "frozen"]
    if 0 < len(fitted) < len(modes):
        notes.append(f"{', '.join(fitted)}: on features of the network as published")
    return notes


def mark_printed(entry: Entry, printed: Printed) -> str:
    """Return the marks of a printed value: another network than ours, a doubtful value."""
    return ("" if _same_network(entry) else "†") + ("‡" if printed.doubt else "")


def _same_network(entry: Entry) -> bool:
    """Return whether the paper's value has the network, the start and the mode of ours."""
    recipe = entry.rows[0]["recipe"]
    mode = "frozen" if is_shallow(entry.method) else "finetune"
    backbones = (paper.BACKBONE, "googlenet", "vgg19")
    usual = recipe["backbone"] in backbones and recipe["weights"] == "default"
    return bool(usual and recipe["mode"] == mode)


def list_printed(printed: Sequence[tuple[Printed, str]]) -> list[str]:
    """Explain the paper's values, each with its mark."""
    notes = [OTHER_NETWORK] if any("†" in mark for _, mark in printed) else []
    notes += [UNSTATED] if printed else []
    notes += [f"{DOUBTED}: {why}" for why in dict.fromkeys(p.doubt for p, _ in printed if p.doubt)]
    for p, _ in printed:
        if p.others:
            also = ", ".join(f"{value:.4f}" for value in p.others)
            notes.append(f"where {p.value:.4f} stands, another of the paper's tables has {also}")
    return list(dict.fromkeys(notes))
