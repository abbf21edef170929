"""Tables of results: means over seeds, the best marked, the paper's printed value next to them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from softhash.codes import row_bytes
from softhash.errors import InputError, UsageError
from softhash.experiments import paper
from softhash.experiments.paper import Printed
from softhash.experiments.results import Row
from softhash.plots.entries import Entry, Sweep, distinct_lines, with_rescored
from softhash.plots.groups import Group
from softhash.plots.styles import display_name
from softhash.training.methods import is_shallow

METRICS = {"map": "MAP", "wap": "WAP", "acg": "ACG", "ndcg": "NDCG", "precision": "precision"}
TIES = {
    "expected": "ties: exact mean over their orders",
    "stable": "ties in database order",
}
SETTINGS = {"alpha": "α", "lambda_": "λ", "gamma": "γ"}
DIGITS = 4
BEST, SECOND = 1, 2

FindPrinted = Callable[[Entry, int], Printed | None]  # for an entry and a number of bits

OTHER_NETWORK = (
    "† printed for AlexNet, fine-tuned (LSH, SH, ITQ, MLH, KSH: on features of its fc7); ours is "
    "another network, start or mode: compare the order of methods, not the level"
)
UNSTATED = "the paper states n = 5,000 for WAP alone, and no rule for ties"
DOUBTED = "‡ not to be tested against"


@dataclass(frozen=True)
class Cell:
    """A mean over seeds, its standard deviation if there are several, its place in the column."""

    mean: float
    deviation: float | None
    seeds: int
    place: int = 0  # BEST, SECOND, or neither
    printed: Printed | None = None
    mark: str = ""  # of the printed value: †, ‡


@dataclass(frozen=True)
class Table:
    """A table: a heading for each column, a label for each row, None where nothing was run."""

    title: str
    caption: str
    corner: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell | None]]]
    notes: Sequence[str] = ()


def read_value(row: Row, metric: str, cut: str, ties: str) -> float:
    """Look up a metric.

    Args:
        row: of results.
        metric: such as `map`.
        cut: cut-off of the metric, such as "5000".
        ties: `expected` or `stable`.

    """
    metrics = row.get("metrics" if ties == "expected" else f"metrics_{ties}")
    if metrics is None:
        raise InputError(f"a row of {row['recipe']['method']} has no metrics with ties '{ties}'")
    name = f"{metric}@{cut}"
    if name not in metrics:
        cuts = dict.fromkeys(key.partition("@")[2] for key in metrics)
        raise UsageError(f"the rows have no {name}", f"they were measured at {', '.join(cuts)}")
    return float(metrics[name])


def summary(rows: Sequence[Row], metric: str, cut: str, ties: str) -> Cell | None:
    """Average a metric over seeds; None without rows.

    Args:
        rows: one per seed.
        metric: such as `map`.
        cut: cut-off of the metric, such as "5000".
        ties: `expected` or `stable`.

    """
    if not rows:
        return None
    values = [read_value(row, metric, cut, ties) for row in rows]
    return Cell(fmean(values), stdev(values) if len(values) > 1 else None, len(values))


def comparison_table(group: Group, metric: str, cut: str, ties: str) -> Table:
    """Compare methods, one row each, over numbers of bits.

    Args:
        group: the methods.
        metric: such as `map`.
        cut: cut-off of the metric, such as "5000".
        ties: `expected` or `stable`.

    """

    def find_printed(entry: Entry, bits: int) -> Printed | None:
        at_paper = group.data if cut == paper.CUT else None
        return paper.printed(at_paper, metric, entry.method, entry.backbone, bits)

    entries = _lines(group.entries, ties)
    columns = [_column(entries, bits, (metric, cut, ties), find_printed) for bits in group.bits]
    title = f"{METRICS[metric]}@{cut}: {group.title}"
    return _table(title, "method", entries, _lengths(group.bits), columns, ties)


def overview_table(
    group: Group, bits: int, measures: Sequence[tuple[str, str]], ties: str
) -> Table:
    """Compare methods, one row each, over several metrics at one length of code.

    Args:
        group: the methods.
        bits: the length.
        measures: metrics and their cut-offs, such as ("ndcg", "20").
        ties: `expected` or `stable`.

    """
    entries = _lines(distinct_lines(group.entries, bits), ties)
    columns = [_column(entries, bits, (*one, ties), lambda entry, bits: None) for one in measures]
    headings = [f"{METRICS[metric]}@{cut}" for metric, cut in measures]
    title = f"{bits} bits, {row_bytes(bits)} bytes: {group.title}"
    return _table(title, "method", entries, headings, columns, ties)


def sweep_table(group: Group, sweep: Sweep, cut: str, ties: str) -> Table:
    """Compare MAP for values of a setting, one row each, over numbers of bits.

    Args:
        group: that the sweep is of.
        sweep: the setting.
        cut: cut-off of MAP, such as "5000".
        ties: `expected` or `stable`.

    """

    def find_printed(entry: Entry, bits: int) -> Printed | None:
        ours = sweep.method == "idhn" and cut == paper.CUT
        at_paper = group.data if ours else None
        return paper.printed_setting(at_paper, sweep.setting, entry.label, bits)

    entries = _lines(sweep.entries, ties)
    columns = [_column(entries, bits, ("map", cut, ties), find_printed) for bits in sweep.bits]
    symbol = SETTINGS.get(sweep.setting, sweep.setting)
    title = f"MAP@{cut} for values of {symbol}: {display_name(sweep.method)}, {group.title}"
    return _table(title, symbol, entries, _lengths(sweep.bits), columns, ties)


def _lengths(bits: Sequence[int]) -> list[str]:
    return [f"{number} bits" for number in bits]


def _lines(entries: Sequence[Entry], ties: str) -> Sequence[Entry]:
    """Add lines of rescored searches, which were measured with one rule for ties alone."""
    return with_rescored(entries) if ties == "expected" else entries


def _column(
    entries: Sequence[Entry], bits: int, measure: tuple[str, str, str], find_printed: FindPrinted
) -> list[Cell | None]:
    cells = [summary(entry.with_bits(bits), *measure) for entry in entries]
    pairs = list(zip(entries, cells, strict=True))
    means = {round(cell.mean, DIGITS) for entry, cell in pairs if cell and entry.competes}
    best = sorted(means, reverse=True)[:SECOND]
    return [
        cell
        if cell is None or not entry.competes
        else _finished(cell, best, entry, find_printed(entry, bits))
        for entry, cell in pairs
    ]


def _finished(cell: Cell, best: list[float], entry: Entry, printed: Printed | None) -> Cell:
    """Add the place, which a lone value has not, and the paper's value."""
    shown = round(cell.mean, DIGITS)
    place = best.index(shown) + 1 if len(best) > 1 and shown in best else 0
    mark = ""
    if printed:
        mark += "" if _same_network(entry) else "†"
        mark += "‡" if printed.doubt else ""
    return Cell(cell.mean, cell.deviation, cell.seeds, place, printed, mark)


def _same_network(entry: Entry) -> bool:
    """Return whether the paper's value has the network, the start and the mode of ours."""
    recipe = entry.rows[0]["recipe"]
    mode = "frozen" if is_shallow(entry.method) else "finetune"
    backbones = (paper.BACKBONE, "googlenet", "vgg19")
    usual = recipe["backbone"] in backbones and recipe["weights"] == "default"
    return bool(usual and recipe["mode"] == mode)


def _table(
    title: str,
    corner: str,
    entries: Sequence[Entry],
    headings: Sequence[str],
    columns: Sequence[Sequence[Cell | None]],
    ties: str,
) -> Table:
    rows = [(entry.label, [c[i] for c in columns]) for i, entry in enumerate(entries)]
    coded = [i for i, entry in enumerate(entries) if not entry.reference]
    cells = [cell for column in columns for i in coded if (cell := column[i])]
    notes = [*_references(entries), *_fitted(entries), *_notes(cells)]
    return Table(title, _caption(cells, ties), corner, headings, rows, notes)


def _references(entries: Sequence[Entry]) -> list[str]:
    """Explain the lines that have no codes."""
    contracts = {e.label: e.rows[0]["contract"] for e in entries if e.reference}
    return [
        f"{label}: ranked by {contract.get('distance')}, {contract.get('bits', 0) // 8:,} bytes "
        "each, beside codes of every length"
        for label, contract in contracts.items()
    ]


def _fitted(entries: Sequence[Entry]) -> list[str]:
    """Name the methods that were not fine-tuned, among those that were."""
    modes = {entry.label: entry.rows[0]["recipe"]["mode"] for entry in entries}
    fitted = [label for label, mode in modes.items() if mode == "frozen"]
    mixed = 0 < len(fitted) < len(modes)
    return [f"{', '.join(fitted)}: on features of the network as published"] if mixed else []


def _caption(cells: Sequence[Cell], ties: str) -> str:
    counts = sorted({cell.seeds for cell in cells})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    mean = "one seed" if counts == [1] else f"mean ± standard deviation of {seeds} seeds"
    brackets = "; in brackets what the paper prints" if any(c.printed for c in cells) else ""
    return f"{mean}; {TIES[ties]}; best in bold, second underlined{brackets}"


def _notes(cells: Sequence[Cell]) -> list[str]:
    printed = [(cell.printed, cell.mark) for cell in cells if cell.printed]
    notes = [OTHER_NETWORK] if any("†" in mark for _, mark in printed) else []
    notes += [UNSTATED] if printed else []
    notes += [f"{DOUBTED}: {why}" for why in dict.fromkeys(p.doubt for p, _ in printed if p.doubt)]
    for p, _ in printed:
        if p.others:
            also = ", ".join(f"{value:.4f}" for value in p.others)
            notes.append(f"where {p.value:.4f} stands, another of the paper's tables has {also}")
    return list(dict.fromkeys(notes))
