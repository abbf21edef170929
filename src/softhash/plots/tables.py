"""Tables of results: means over seeds, the best marked, the paper's printed value next to them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, stdev

from softhash.codes import row_bytes
from softhash.errors import InputError, UsageError
from softhash.experiments import paper
from softhash.experiments.paper import Printed
from softhash.experiments.results import Row
from softhash.plots import captions, differences
from softhash.plots.differences import Differences
from softhash.plots.entries import Entry, Sweep, distinct_lines, with_rescored
from softhash.plots.groups import Group
from softhash.plots.places import LEVEL, level_places, rank_places
from softhash.plots.styles import display_name

METRICS = {"map": "MAP", "wap": "WAP", "acg": "ACG", "ndcg": "NDCG", "precision": "precision"}
TIES = {
    "expected": "ties: exact mean over their orders",
    "stable": "ties in database order",
}
SETTINGS = {"alpha": "α", "lambda_": "λ", "gamma": "γ"}

Means = Mapping[str, tuple[float, int]]  # of lines that compete: the mean, the number of seeds
FindPrinted = Callable[[Entry, int], Printed | None]  # for an entry and a number of bits
FindLevel = Callable[[int, str, Means], set[str] | None]  # for bits and a metric; None: not tested


@dataclass(frozen=True)
class Cell:
    """A mean over seeds, its standard deviation if there are several, its place in the column."""

    mean: float
    deviation: float | None
    seeds: int
    place: int = 0  # BEST, SECOND or LEVEL of `plots.places`, or none of them
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


@dataclass(frozen=True)
class _Column:
    """A column before its places are marked: cells, and the lines that compete in it by name."""

    heading: str
    cells: Sequence[Cell | None]
    names: Sequence[str | None]  # None for lines that do not compete
    level: set[str] | None  # the lines that are level with the best, None where not tested

    @property
    def means(self) -> dict[str, float]:
        pairs = zip(self.names, self.cells, strict=True)
        return {name: cell.mean for name, cell in pairs if name and cell}

    def placed(self, *, some_tested: bool) -> list[Cell | None]:
        """Mark the cells; what was not tested, in a table where others were, is left unmarked."""
        if self.level is not None:
            places = level_places(self.means, self.level)
        else:
            places = {} if some_tested else rank_places(self.means)
        return [
            cell and replace(cell, place=places.get(name or "", 0))
            for name, cell in zip(self.names, self.cells, strict=True)
        ]


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


def comparison_table(
    group: Group, metric: str, cut: str, ties: str, tested: Differences | None = None
) -> Table:
    """Compare methods, one row each, over numbers of bits.

    Args:
        group: the methods.
        metric: such as `map`.
        cut: cut-off of the metric, such as "5000".
        ties: `expected` or `stable`.
        tested: differences between the methods, where they were tested.

    """

    def find_printed(entry: Entry, bits: int) -> Printed | None:
        at_paper = group.data if cut == paper.CUT else None
        return paper.printed(at_paper, metric, entry.method, entry.backbone, bits)

    entries = _lines(group.entries, ties)
    find = find_printed, _level_finder(tested, group, ties)
    columns = [
        _column(f"{bits} bits", entries, bits, (metric, cut, ties), *find) for bits in group.bits
    ]
    return _table(f"{METRICS[metric]}@{cut}: {group.title}", "method", entries, columns, ties)


def overview_table(
    group: Group,
    bits: int,
    measures: Sequence[tuple[str, str]],
    ties: str,
    tested: Differences | None = None,
) -> Table:
    """Compare methods, one row each, over several metrics at one length of code.

    Args:
        group: the methods.
        bits: the length.
        measures: metrics and their cut-offs, such as ("ndcg", "20").
        ties: `expected` or `stable`.
        tested: differences between the methods, where they were tested.

    """
    entries = _lines(distinct_lines(group.entries, bits), ties)
    find = _no_printed, _level_finder(tested, group, ties)
    columns = [
        _column(f"{METRICS[metric]}@{cut}", entries, bits, (metric, cut, ties), *find)
        for metric, cut in measures
    ]
    title = f"{bits} bits, {row_bytes(bits)} bytes: {group.title}"
    return _table(title, "method", entries, columns, ties)


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
    find = find_printed, _level_finder(None, group, ties)
    columns = [
        _column(f"{bits} bits", entries, bits, ("map", cut, ties), *find) for bits in sweep.bits
    ]
    symbol = SETTINGS.get(sweep.setting, sweep.setting)
    title = f"MAP@{cut} for values of {symbol}: {display_name(sweep.method)}, {group.title}"
    return _table(title, symbol, entries, columns, ties)


def _no_printed(entry: Entry, bits: int) -> None:
    """Find nothing: other tables have what the paper prints."""


def _level_finder(tested: Differences | None, group: Group, ties: str) -> FindLevel:
    """Return where to look up tested differences, which are of one rule for ties alone."""
    if tested is None or ties != differences.TIES:
        return lambda bits, metric, means: None
    return partial(tested.find_level, group)


def _lines(entries: Sequence[Entry], ties: str) -> Sequence[Entry]:
    """Add lines of rescored searches, which were measured with one rule for ties alone."""
    return with_rescored(entries) if ties == "expected" else entries


def _column(
    heading: str,
    entries: Sequence[Entry],
    bits: int,
    measure: tuple[str, str, str],
    find_printed: FindPrinted,
    find_level: FindLevel,
) -> _Column:
    """Average every line, and find which of those that compete are level.

    Args:
        heading: of the column.
        entries: the lines.
        bits: length of the codes.
        measure: metric, cut-off and rule for ties.
        find_printed: finds what the paper prints.
        find_level: finds the lines that are level with the best.

    """
    metric, cut, _ = measure
    cells, names = [], _names(entries, bits)
    for entry, name in zip(entries, names, strict=True):
        cell = summary(entry.with_bits(bits), *measure)
        cells.append(_beside_printed(cell, entry, find_printed(entry, bits)) if name else cell)
    pairs = zip(names, cells, strict=True)
    means = {name: (cell.mean, cell.seeds) for name, cell in pairs if name and cell}
    level = find_level(bits, f"{metric}@{cut}", means) if len(means) > 1 else None
    return _Column(heading, cells, names, level)


def _names(entries: Sequence[Entry], bits: int) -> list[str | None]:
    """Name the lines that compete; lines of the same codes have the name of the first of them."""
    first: dict[int, str] = {}
    names = []
    for entry in entries:
        rows = entry.with_bits(bits)
        competes = rows and entry.competes
        names.append(first.setdefault(id(rows[0]), entry.label) if competes else None)
    return names


def _beside_printed(cell: Cell | None, entry: Entry, printed: Printed | None) -> Cell | None:
    """Add the paper's value to a cell."""
    if not (cell and printed):
        return cell
    return replace(cell, printed=printed, mark=captions.mark_printed(entry, printed))


def _table(
    title: str, corner: str, entries: Sequence[Entry], columns: Sequence[_Column], ties: str
) -> Table:
    """Put columns together.

    Args:
        title: of the table.
        corner: what the lines are.
        entries: the lines.
        columns: one per heading.
        ties: `expected` or `stable`.

    """
    some_tested = any(column.level is not None for column in columns)
    placed = [column.placed(some_tested=some_tested) for column in columns]
    rows = [(entry.label, [cells[i] for cells in placed]) for i, entry in enumerate(entries)]
    coded = [i for i, entry in enumerate(entries) if not entry.reference]
    cells = [cell for column in placed for i in coded if (cell := column[i])]
    printed = [(cell.printed, cell.mark) for cell in cells if cell.printed]
    missing = [c.heading for c in columns if c.level is None and len(c.means) > 1]
    caption = "; ".join(
        [
            captions.describe_seeds(cell.seeds for cell in cells),
            TIES[ties],
            captions.describe_marks(missing if some_tested else None),
            *(["in brackets what the paper prints"] if printed else []),
            captions.describe_commits(row for entry in entries for row in entry.rows),
        ]
    )
    level = [captions.LEVEL_NOTE] if any(cell.place == LEVEL for cell in cells) else []
    notes = [*captions.list_lines(entries), *level, *captions.list_printed(printed)]
    return Table(title, caption, corner, [column.heading for column in columns], rows, notes)
