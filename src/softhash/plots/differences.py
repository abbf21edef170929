"""Tested differences between the lines of a table: which are level with the best of a column."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from softhash.data.text_files import read_json
from softhash.errors import InputError
from softhash.evaluation.rankings import Floats
from softhash.experiments.per_query import (
    FOLDER,
    QUERY_METRICS,
    TOLERANCE,
    check_means,
    load_per_query,
)
from softhash.experiments.results import Row
from softhash.experiments.significance import Comparison, compare_columns
from softhash.files import write_whole
from softhash.plots.entries import Entry, distinct_lines
from softhash.plots.groups import Group, group_rows

FILE = "significance.json"
DIGITS = 6
TIES = "expected"  # what values of single queries are measured with

Line = dict[str, Any]  # a method in a column, as the file has it
Column = tuple[str, str, int, str]  # split, mode, bits, metric
_KINDS: dict[str, type | tuple[type, ...]] = {
    "split": str, "mode": str, "bits": int, "metric": str, "method": str, "best": str,
    "difference": (int, float), "low": (int, float), "high": (int, float), "p": (int, float),
    "level": bool, "seeds": int, "queries": int, "replicates": int,
}  # fmt: skip


def find_folder(results: Path) -> Path:
    """Return where values of single queries are, for a folder of results or a file in it."""
    return (results if results.is_dir() else results.parent) / FOLDER


def find_file(results: Path) -> Path:
    """Return where the tested differences of results are: in their folder, or beside their file.

    >>> find_file(Path("coco/first-screen.jsonl")).as_posix()
    'coco/first-screen-significance.json'
    """
    return results / FILE if results.is_dir() else results.with_name(f"{results.stem}-{FILE}")


def compare_rows(rows: Sequence[Row], folder: Path) -> list[Line]:
    """Test every line of a table against the best of its column.

    Lines that do not compete are left out, and so are those with a row whose values were not saved.

    Args:
        rows: of results.
        folder: with values of single queries.

    Raises:
        InputError: values of single queries are damaged, or not those of their row.

    """
    lines = []
    for group in group_rows(rows):
        for bits in group.bits:
            for metric, found in _compare(group, bits, folder):
                key = dict(zip(("split", "mode"), group.key, strict=True))
                for label, one in found.items():
                    where = {"bits": bits, "metric": metric, "method": label}
                    lines.append({**key, **where, **_as_dict(one)})
    return lines


def _compare(group: Group, bits: int, folder: Path) -> Iterable[tuple[str, dict[str, Comparison]]]:
    """Compare the lines of one length by each metric."""
    values = {}
    for entry in distinct_lines(group.entries, bits):
        every = _values(entry, bits, folder) if entry.competes else None
        if every is not None:
            values[entry.label] = every
    if len(values) < 2:
        return ()
    metrics = range(len(QUERY_METRICS))
    columns = [{label: every[:, m] for label, every in values.items()} for m in metrics]
    return zip(QUERY_METRICS, compare_columns(columns), strict=True)


def _values(entry: Entry, bits: int, folder: Path) -> Floats | None:
    """Load the values of a line, (seeds, metrics, queries); None where those of a row are missing.

    Args:
        entry: the line.
        bits: length of its codes.
        folder: with values of single queries.

    """
    loaded = []
    for row in sorted(entry.with_bits(bits), key=lambda row: int(row["recipe"]["seed"])):
        first = bits if "first_of" in row else None
        whole = {**row["recipe"], "bits": row.get("first_of", bits)}
        values = load_per_query(folder, {**row, "recipe": whole}, first_bits=first)
        if values is None:
            return None
        check_means(values, row["metrics"])
        loaded.append(values)
    if len({every.shape for every in loaded}) > 1:
        raise InputError(f"seeds of {entry.label}, {bits} bits, have different numbers of queries")
    return np.stack(loaded)


def _as_dict(one: Comparison) -> Line:
    numbers = {name: getattr(one, name) for name in ("difference", "low", "high", "p")}
    return {
        "best": one.best,
        **{name: round(value, DIGITS) for name, value in numbers.items()},
        "level": one.level,
        **{name: getattr(one, name) for name in ("seeds", "queries", "replicates")},
    }


def write_differences(path: Path, lines: Sequence[Line]) -> None:
    """Write tested differences as a JSON list, one of them per line; replace what was there."""
    inner = ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    write_whole(path, f"[\n{inner}\n]\n", force=True)


def read_differences(path: Path) -> list[Line]:
    """Read what `write_differences` wrote.

    Raises:
        InputError: the file cannot be read, or has something else in it.

    """
    lines = read_json(path)
    if not (isinstance(lines, list) and all(map(_is_line, lines))):
        raise InputError(
            f"{path} is not a list of tested differences",
            "give what `softhash plot` wrote from values of single queries",
        )
    return lines


def _is_line(line: object) -> bool:
    return isinstance(line, dict) and all(
        key in line
        and isinstance(line[key], kind)
        and (kind is bool or not isinstance(line[key], bool))
        for key, kind in _KINDS.items()
    )


class Differences:
    """Tested differences, to be looked up by column.

    Args:
        lines: of `compare_rows`, or of `read_differences`.

    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self._columns: dict[Column, dict[str, Line]] = {}
        for line in lines:
            key = line["split"], line["mode"], line["bits"], line["metric"]
            self._columns.setdefault(key, {})[line["method"]] = line

    def find_level(
        self, group: Group, bits: int, metric: str, means: Mapping[str, tuple[float, int]]
    ) -> set[str] | None:
        """Find the lines that are level with the best of a column, and the best itself.

        Args:
            group: of the table.
            bits: length of the codes.
            metric: with its cut-off, such as `ndcg@20`.
            means: of each line that competes: its mean, and the number of seeds.

        Returns:
            Their labels. None where a line was not tested, or other rows were.

        """
        lines = self._columns.get((*group.key, bits, metric), {})
        bests = {lines[label]["best"] for label in means if label in lines}
        if len(bests) != 1 or not (lines.keys() >= means.keys() >= bests):
            return None
        (best,) = bests
        for label, (mean, seeds) in means.items():
            difference, top = mean - means[best][0], max(1.0, abs(means[best][0]))
            near = abs(lines[label]["difference"] - difference) <= 2 * TOLERANCE * top
            if lines[label]["seeds"] != seeds or not near:
                return None
        return {label for label in means if lines[label]["level"]}
