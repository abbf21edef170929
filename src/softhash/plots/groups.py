"""Rows of results put together: what may stand in one table, under which names."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from softhash.errors import InputError, UsageError
from softhash.experiments import paper
from softhash.experiments.commit import UNKNOWN
from softhash.experiments.references import REFERENCES
from softhash.experiments.results import Row
from softhash.plots.entries import Entry, Sweep, list_bits, with_prefixes
from softhash.plots.styles import display_name, plot_rank
from softhash.training.methods import is_shallow

MODES = {"frozen": "frozen backbone", "finetune": "fine-tuned"}
TITLES = {"coco": "COCO", "iaprtc12": "IAPR TC-12"}  # of folders that are called so
SWEPT = 3  # values of a setting that make a sweep; fewer are lines of the table of methods
_COUNTS = ("classes", "queries", "database")  # of a contract
_APART = ("bits", "seed", "mode")  # what a table has columns, means and captions for


@dataclass(frozen=True)
class Group:
    """What was run on one split in one mode.

    Attributes:
        title: the data set, the mode and the variant, where all rows are of one, for people.
        slug: the data set and the mode, for names of files.
        data: the paper's name of the data set, where the split is like the paper's.
        entries: the methods, in the order of tables.
        sweeps: settings at several values.
        rows: everything.

    """

    title: str
    slug: str
    data: str | None
    entries: Sequence[Entry]
    sweeps: Sequence[Sweep]
    rows: Sequence[Row] = field(repr=False)

    @property
    def bits(self) -> list[int]:
        """The lengths of code that the methods were run with."""
        return list_bits(self.entries)

    @property
    def key(self) -> tuple[str, str]:
        """The split and the mode, which tell groups apart."""
        tuned = any(row["recipe"]["mode"] == "finetune" for row in self.rows)
        return str(self.rows[0]["contract"]["split"]), "finetune" if tuned else "frozen"


def count_commits(rows: Iterable[Row]) -> dict[str, int]:
    """Count the rows of each commit of softhash, in the order in which they came.

    >>> count_commits([{"versions": {"commit": "ab1"}}, {}, {"versions": {"commit": "ab1"}}])
    {'ab1': 2, 'unknown': 1}
    """
    return dict(Counter(str(row.get("versions", {}).get("commit", UNKNOWN)) for row in rows))


def check_commits(groups: Iterable[Group]) -> None:
    """Raise unless the rows of each group were measured with one commit.

    Raises:
        UsageError: a table would mix several; a changed checkout, `-dirty`, is one of its own.

    """
    for group in groups:
        commits = count_commits(group.rows)
        if len(commits) > 1:
            listed = ", ".join(f"{commit} ({rows:,})" for commit, rows in commits.items())
            raise UsageError(
                f"rows of '{group.title}' are of {len(commits)} commits: {listed}",
                "run the rest again with one, or allow it: --mixed-commits, mixed_commits=True",
            )


def group_rows(rows: Sequence[Row]) -> list[Group]:
    """Put rows of one split and one mode together, in the order in which they came.

    Shallow methods and float features, which cannot be fine-tuned, are put with those that were on
    the same network.

    Raises:
        InputError: a row does not say how many pictures it was measured on.

    """
    for row in rows:
        if lacking := [name for name in _COUNTS if name not in row["contract"]]:
            method = row["recipe"]["method"]
            raise InputError(f"a row of {method} has no number of {lacking[0]} in its contract")
    tuned = {_network(row) for row in rows if row["recipe"]["mode"] == "finetune"}
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        fitted = row["recipe"]["method"] in REFERENCES or is_shallow(row["recipe"]["method"])
        among_tuned = fitted and _network(row) in tuned
        mode = "finetune" if among_tuned else row["recipe"]["mode"]
        parts.setdefault((row["contract"]["split"], mode), []).append(row)
    names = {key: _data_name(part[0]) for key, part in parts.items()}
    groups = []
    for (split, mode), part in parts.items():
        name = names[split, mode]
        if any(names[key] == name and key[0] != split for key in parts):
            name = f"{name} (split {split[:8]})"
        variant = _common_variant(part)
        entries, sweeps = _sorted_out(part, variant)
        data = paper.data_set(part[0]["contract"])
        slug = "".join(c if c.isalnum() else "-" for c in f"{name}-{mode}".lower())
        slug = "-".join(filter(None, slug.split("-")))
        title = ", ".join(filter(None, (name, MODES[mode], variant)))
        groups.append(Group(title, slug, data, entries, sweeps, part))
    return groups


def _common_variant(rows: Sequence[Row]) -> str:
    """Return the name that all rows of methods have, if any: a title has it once, no label does."""
    names = {_named([row]) for row in rows if row["recipe"]["method"] not in REFERENCES}
    return names.pop() if len(names) == 1 else ""


def _network(row: Row) -> tuple[Any, ...]:
    return row["contract"]["split"], *(row["recipe"][k] for k in ("backbone", "weights", "size"))


def _data_name(row: Row) -> str:
    known = paper.data_set(row["contract"])
    if known:
        return paper.title(known)
    contract = row["contract"]
    unnamed = f"{contract['classes']} classes, {contract['database']:,} pictures"
    name = str(row.get("data", {}).get("name") or unnamed)
    return TITLES.get(name, name)


def _sorted_out(rows: Sequence[Row], common: str) -> tuple[list[Entry], list[Sweep]]:
    """Separate settings at several values from methods that are compared.

    The variant's name that all rows have in common is not part of labels.
    """
    variants: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        method = row["recipe"]["method"]
        variants.setdefault(method, {}).setdefault(_key(row["recipe"]), []).append(row)
    backbones = {row["recipe"]["backbone"] for row in rows}
    entries, sweeps = [], []
    for method in sorted(variants, key=plot_rank):
        own = _joined(list(variants[method].values()))
        found = _sweeps(method, [variant for variant in own if not _named(variant)])
        swept = {id(row) for sweep in found for entry in sweep.entries for row in entry.rows}
        rest = [variant for variant in own if id(variant[0]) not in swept]
        # The one without a name, or that was run most, is the method's main line.
        rest.sort(key=lambda variant: (bool(_named(variant)), -len(variant)))
        for entry in _entries(method, rest, common, several_backbones=len(backbones) > 1):
            entries += with_prefixes(entry)
        sweeps += found
    return entries, sweeps


def _joined(variants: Sequence[list[Row]]) -> list[list[Row]]:
    """Join variants of one name that differ from length to length, as tuned settings do."""
    named: dict[tuple[Any, ...], list[list[Row]]] = {}
    for number, rows in enumerate(variants):
        name = _named(rows)
        network = _network(rows[0]) if name else (number,)
        named.setdefault((name, *network), []).append(rows)
    joined = []
    for alike in named.values():
        together = [row for rows in alike for row in rows]
        cells = {(row["recipe"]["bits"], row["recipe"]["seed"]) for row in together}
        joined += [together] if len(cells) == len(together) else alike
    return joined


def _key(recipe: Mapping[str, Any], *, without: str | None = None) -> str:
    """Return what is equal for rows that differ in bits, seed and one setting alone."""
    settings = {k: v for k, v in recipe["settings"].items() if k != without}
    kept = {k: v for k, v in recipe.items() if k not in _APART}
    return json.dumps({**kept, "settings": settings}, sort_keys=True)


def _sweeps(method: str, variants: Sequence[Sequence[Row]]) -> list[Sweep]:
    names = {name: None for variant in variants for name in variant[0]["recipe"]["settings"]}
    sweeps = []
    for setting in names:
        alike: dict[str, list[Sequence[Row]]] = {}
        for variant in variants:
            recipe = variant[0]["recipe"]
            if setting in recipe["settings"]:
                alike.setdefault(_key(recipe, without=setting), []).append(variant)
        for same in alike.values():
            if len(same) >= SWEPT:
                entries = [
                    Entry(
                        setting_text(rows[0]["recipe"]["settings"][setting]),
                        method,
                        rows[0]["recipe"]["backbone"],
                        rows,
                    )
                    for rows in same
                ]
                sweeps.append(Sweep(method, setting, entries))
    return sweeps


def setting_text(value: object) -> str:
    """Write a value of a setting as the paper does.

    >>> setting_text("5/q"), setting_text(1.0), setting_text(0.01)
    ('5/q', '1', '0.01')
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:g}" if number else str(value)


def _entries(
    method: str, variants: Sequence[Sequence[Row]], common: str, *, several_backbones: bool
) -> list[Entry]:
    """Name the variants of a method: as their rows do, and by what differs among equal names.

    Args:
        method: its name.
        variants: the rows of each.
        common: a name that all methods have, and no label.
        several_backbones: whether backbones are named too; what differs is sought in each alone.

    """
    flat = [(_named(rows), _flat(rows[0]["recipe"])) for rows in variants]
    entries = []
    for rows, (name, values) in zip(variants, flat, strict=True):
        backbone = values["backbone"]
        alike = [other for named, other in flat if named == name and other["backbone"] == backbone]
        parts = [backbone] if several_backbones else []
        parts += [name] if name not in ("", common) else []
        parts += [f"{key} {setting_text(values.get(key, 'default'))}" for key in _differing(alike)]
        label = f"{display_name(method)} ({', '.join(parts)})" if parts else display_name(method)
        entries.append(Entry(label, method, backbone, rows, reference=method in REFERENCES))
    return entries


def _named(rows: Sequence[Row]) -> str:
    """Return the name that a benchmark file gives to rows of one recipe, if any."""
    return str(rows[0].get("variant", ""))


def _differing(recipes: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the keys that do not have one value."""
    names = dict.fromkeys(name for values in recipes for name in values)
    return [name for name in names if len({repr(values.get(name)) for values in recipes}) > 1]


def _flat(recipe: Mapping[str, Any]) -> dict[str, Any]:
    kept = {k: v for k, v in recipe.items() if k not in (*_APART, "settings", "method")}
    return {**kept, **recipe["settings"]}
