"""Lines of tables and figures: the rows of one method, or of one value of a setting."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from softhash.experiments.results import Row

RESCORED = {
    "metrics_rescored": "rescored",
    "metrics_rescored_by_features": "rescored by features",
}  # parts of a row, and what their lines are called


@dataclass(frozen=True)
class Entry:
    """A line of a table: a method (or a value of a setting) with its rows of all bits and seeds."""

    label: str
    method: str
    backbone: str
    rows: Sequence[Row] = field(repr=False)
    rescored: bool = False  # whether the metrics of its rows are those of rescored searches
    reference: bool = False  # whether it has no codes, and stands beside those of every length
    first_bits: bool = False  # whether its codes are beginnings of another line's

    @property
    def competes(self) -> bool:
        """Whether it can be the best of a column: methods compete, not ways to use them."""
        return not (self.rescored or self.reference or self.first_bits)

    def with_bits(self, bits: int) -> list[Row]:
        """Return the rows of one length of code; a reference has the same for all."""
        return [row for row in self.rows if self.reference or row["recipe"]["bits"] == bits]


def list_bits(entries: Iterable[Entry]) -> list[int]:
    """List the lengths of code, shortest first."""
    coded = [entry for entry in entries if not entry.reference]
    return sorted({row["recipe"]["bits"] for entry in coded for row in entry.rows})


@dataclass(frozen=True)
class Sweep:
    """A setting of a method at several values, all else being equal."""

    method: str
    setting: str
    entries: Sequence[Entry]

    @property
    def bits(self) -> list[int]:
        """The lengths of code that were run."""
        return list_bits(self.entries)


def distinct_lines(entries: Iterable[Entry], bits: int) -> list[Entry]:
    """Return the lines that have codes of one length, each row in one of them alone.

    At full length, the codes of a line of first bits are those of the line above it.
    """
    lines: dict[int, Entry] = {}
    for entry in entries:
        rows = entry.with_bits(bits)
        if rows:
            lines.setdefault(id(rows[0]), entry)
    return list(lines.values())


def with_rescored(entries: Sequence[Entry]) -> list[Entry]:
    """Put lines of rescored searches below each entry whose rows have them."""
    lines = []
    for entry in entries:
        lines.append(entry)
        for key, what in RESCORED.items():
            again = [{**row, "metrics": row[key]} for row in entry.rows if key in row]
            if again:
                label = f"{entry.label}, {what}"
                lines.append(Entry(label, entry.method, entry.backbone, again, rescored=True))
    return lines


def with_prefixes(entry: Entry) -> list[Entry]:
    """Put a line of first bits below an entry whose codes were trained for several lengths.

    It has the first bits of the longest codes, and at full length these codes themselves. Its rows
    of first bits have the length of the whole code as `first_of`.
    """
    nested = [row for row in entry.rows if row.get("prefixes")]
    longest = max((row["recipe"]["bits"] for row in nested), default=0)
    nested = [row for row in nested if row["recipe"]["bits"] == longest]
    if not nested:
        return [entry]
    shorter = [
        {
            **row,
            **part,
            "recipe": {**row["recipe"], "bits": int(bits)},
            "first_of": longest,
            "hits": [],
        }
        for row in nested
        for bits, part in row["prefixes"].items()
    ]
    label = f"{entry.label}, first bits of {longest}"
    rows = [*shorter, *nested]
    return [entry, Entry(label, entry.method, entry.backbone, rows, first_bits=True)]
