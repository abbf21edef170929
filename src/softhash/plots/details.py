"""The facts behind the numbers of a group of results: data, settings, versions, time."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from softhash.experiments.float_features import FLOAT
from softhash.experiments.results import Row
from softhash.plots.entries import Entry
from softhash.plots.groups import Group, setting_text

Facts = list[tuple[str, str]]
_COUNTED = ("bits", "seed", "settings", "method")


def describe_group(group: Group) -> Facts:
    """List the data, the measurement, the settings that all rows share, versions and durations."""
    facts = [*_data(group.rows), *_measure(group.rows[0]), *_settings(group.rows)]
    return [*facts, *_run(group.rows)]


def list_entries(group: Group) -> list[tuple[str, str, int, float]]:
    """List of each method: settings of its own, cells, and the median seconds of training."""
    swept = [
        (f"{sweep.setting} {entry.label}", entry)
        for sweep in group.sweeps
        for entry in sweep.entries
    ]
    named = [(entry.label, entry) for entry in group.entries] + swept
    shared = dict(_settings(group.rows))
    return [
        (label, _own(entry, shared), len(entry.rows), median(map(_training, entry.rows)))
        for label, entry in named
    ]


def _training(row: Row) -> float:
    return float(row.get("seconds", {}).get("train", 0.0))


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
    """List the settings that are the same in every row of a method; float features have none."""
    rows = [row for row in rows if row["recipe"]["method"] != FLOAT] or rows
    first = {name: value for name, value in rows[0]["recipe"].items() if name not in _COUNTED}
    return [
        (name, setting_text(value))
        for name, value in first.items()
        if all(row["recipe"][name] == value for row in rows)
    ]


def _own(entry: Entry, shared: Mapping[str, str]) -> str:
    if entry.reference:
        return ""
    recipe: dict[str, Any] = entry.rows[0]["recipe"]
    own = {k: v for k, v in recipe.items() if k not in _COUNTED and k not in shared}
    own |= recipe["settings"]
    return ", ".join(f"{name} {setting_text(value)}" for name, value in own.items())


def _run(rows: Sequence[Row]) -> Facts:
    seconds = sum(sum(row.get("seconds", {}).values()) for row in rows)
    versions = {
        ", ".join(f"{name} {value}" for name, value in row.get("versions", {}).items()): None
        for row in rows
    }
    took = f"{len(rows):,} cells, {seconds / 60:,.1f} minutes in all"
    return [("run", took), ("versions", "; ".join(filter(None, versions)))]
