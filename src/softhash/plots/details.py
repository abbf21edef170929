"""The facts behind the numbers of a group of results: data, settings, versions, time."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from softhash.experiments.references import REFERENCES
from softhash.experiments.results import Row
from softhash.plots.entries import Entry
from softhash.plots.groups import Group, setting_text

Facts = list[tuple[str, str]]
Line = tuple[str, str, int, float | None]  # label, settings, cells, seconds
SIDE_BY_SIDE = "side_by_side"  # among the seconds of a row: how many runs shared the device
_COUNTED = ("bits", "seed", "settings", "method")


def describe_group(group: Group) -> Facts:
    """List the data, the measurement, the settings that all rows share, versions and durations."""
    facts = [*_data(group.rows), *_measure(group.rows[0]), *_settings(group.rows)]
    return [*facts, *_run(group.rows)]


def list_entries(group: Group) -> list[Line]:
    """List of each method: settings of its own, cells, and the median seconds of training."""
    swept = [
        (f"{sweep.setting} {entry.label}", entry)
        for sweep in group.sweeps
        for entry in sweep.entries
    ]
    named = [(entry.label, entry) for entry in group.entries] + swept
    shared = dict(_settings(group.rows))
    return [
        (label, _own(entry, shared), len(entry.rows), training_seconds(entry.rows))
        for label, entry in named
    ]


def training_seconds(rows: Sequence[Row]) -> float | None:
    """Return the median time of training, of runs that had the device to themselves; or None.

    >>> alone, shared = {"train": 2.0}, {"train": 9.0, "side_by_side": 4}
    >>> training_seconds([{"seconds": alone}, {"seconds": shared}])
    2.0
    >>> training_seconds([{"seconds": shared}]) is None
    True
    """
    alone = [row.get("seconds", {}) for row in rows if not _shared(row)]
    return median(float(seconds.get("train", 0.0)) for seconds in alone) if alone else None


def _shared(row: Row) -> bool:
    """Return whether a run shared the device with others, so that its time means little."""
    return bool(row.get("seconds", {}).get(SIDE_BY_SIDE, 1) > 1)


def _data(rows: Sequence[Row]) -> Facts:
    contract, data = rows[0]["contract"], rows[0].get("data", {})
    facts = [("split, SHA-256", str(contract["split"]))]
    if data:
        facts.append(("protocol", f"{data['protocol']}, seed {data['seed']}"))
        facts.append(("collection", f"{data['name']} ({data['format']}), {data['pictures']:,}"))
    counts = f"{contract['queries']:,} queries, {contract['database']:,} in the database"
    return [*facts, ("pictures", counts), ("classes", str(contract["classes"]))]


def _measure(row: Row) -> Facts:
    contract = row["contract"]
    names = ("relevant", "gain", "divisor", "empty_query", "ideal")
    return [(name.replace("_", " "), str(contract[name])) for name in names if name in contract]


def _settings(rows: Sequence[Row]) -> Facts:
    """List the settings that are the same in every row of a method; references have none."""
    rows = [row for row in rows if row["recipe"]["method"] not in REFERENCES] or rows
    first = {name: value for name, value in rows[0]["recipe"].items() if name not in _COUNTED}
    return [
        (name, setting_text(value))
        for name, value in first.items()
        if all(row["recipe"][name] == value for row in rows)
    ]


def _own(entry: Entry, shared: Mapping[str, str]) -> str:
    """Write what a line does not share with the others; several values are of several lengths."""
    if entry.reference:
        return ""
    found: dict[str, dict[str, None]] = {}
    for row in entry.rows:
        recipe: dict[str, Any] = row["recipe"]
        own = {k: v for k, v in recipe.items() if k not in _COUNTED and k not in shared}
        for name, value in {**own, **recipe["settings"]}.items():
            found.setdefault(name, {})[setting_text(value)] = None
    return ", ".join(f"{name} {' or '.join(values)}" for name, values in found.items())


def _run(rows: Sequence[Row]) -> Facts:
    seconds = sum(
        value
        for row in rows
        for name, value in row.get("seconds", {}).items()
        if name != SIDE_BY_SIDE
    )
    versions = {
        ", ".join(f"{name} {value}" for name, value in row.get("versions", {}).items()): None
        for row in rows
    }
    took = f"{len(rows):,} cells, {seconds / 60:,.1f} minutes in all"
    shared = sum(map(_shared, rows))
    took += f", {shared:,} of them side by side with others" if shared else ""
    return [("run", took), ("versions", "; ".join(filter(None, versions)))]
