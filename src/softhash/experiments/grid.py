"""A grid of runs on one split: the cells of a benchmark file, run and kept as they finish.

A table ``[grid]`` of lists makes a cell of every combination. Settings of the method are named as
``"settings.alpha"``, and may be given in terms of the bits, as ``"5/q"``. A table
``[methods.NAME]`` replaces keys of the recipe for that method alone, ``[methods.NAME.settings]``
gives its settings; what the grid varies wins over both. Shallow methods, which cannot be
fine-tuned, are fitted to features of the network as published. The names ``float`` and
``classifier`` among the methods ask for the rows of `references`. A table ``[variants.NAME]`` runs
the whole grid again with some of its keys fixed, and its rows carry that name::

    mode = "frozen"
    [grid]
    method = ["idhn", "dpsh"]
    bits = [12, 24, 36, 48]
    [methods.dpsh]
    head_rate = 1e-3
    [methods.dpsh.settings]
    eta = 0.1
    [variants."no hidden layer"]
    hidden = 0
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from softhash.data.splits.split import Split
from softhash.errors import UsageError
from softhash.experiments.cells import RowOptions, run_cell
from softhash.experiments.commit import find_commit
from softhash.experiments.feature_file import SavedFeatures
from softhash.experiments.inputs import GridInputs, prepare_inputs, shared_key
from softhash.experiments.references import REFERENCES, reference_recipe
from softhash.experiments.results import Row, append_row, read_rows
from softhash.training.methods import is_shallow, method_class
from softhash.training.options import Options
from softhash.training.recipe import Recipe

Values = dict[str, Any]
MAX_CELLS = 10_000
_TABLES = ("grid", "methods", "variants")
_log = logging.getLogger(__name__)


def expand(
    content: Mapping[str, Any], replaced: Mapping[str, list[Any]] | None = None
) -> list[Recipe]:
    """Make a recipe of every combination in the grid.

    Args:
        content: of a benchmark file.
        replaced: keys of the grid, with other values than the file has.

    >>> [r.bits for r in expand({"method": "idhn", "grid": {"bits": [12, 24], "seed": [0, 1]}})]
    [12, 12, 24, 24]

    """
    base = {key: value for key, value in content.items() if key not in _TABLES}
    grid = _table("grid", content) | dict(replaced or {})
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise UsageError(f"grid key {name} is {values!r}", "give a list of values")
    if prod(map(len, grid.values())) > MAX_CELLS:
        raise UsageError("the grid has too many cells", f"give lists that make up to {MAX_CELLS:,}")
    own = _table("methods", content)
    for method in [*own, *_listed(base, grid)]:
        if method not in REFERENCES:
            method_class(str(method))  # raises before hours are spent on the others
    recipes: list[Recipe] = []
    for chosen in product(*grid.values()):
        cell = _nested(dict(zip(grid, chosen, strict=True)))
        method = cell.get("method", base.get("method", Recipe.method))
        forced = {"mode": "frozen"} if is_shallow(method) else {}
        recipe = Recipe.with_defaults(**_merged(base, own.get(method, {}), cell, forced))
        recipe = reference_recipe(method, recipe) if method in REFERENCES else recipe
        if recipe not in recipes:  # a shallow method is the same in every mode
            recipes.append(recipe)
    return recipes


def expand_variants(
    content: Mapping[str, Any], replaced: Mapping[str, list[Any]] | None = None
) -> list[tuple[Recipe, str]]:
    """Make the recipes of a file: those of its grid, then those of its variants with their names.

    Args:
        content: of a benchmark file.
        replaced: keys of the grid, with other values than the file has; a variant's own keys win.

    >>> content = {"grid": {"seed": [0, 1]}, "variants": {"linear": {"hidden": 0}}}
    >>> [(recipe.hidden, recipe.seed, name) for recipe, name in expand_variants(content)]
    [(1024, 0, ''), (1024, 1, ''), (0, 0, 'linear'), (0, 1, 'linear')]

    """
    replaced = dict(replaced or {})
    cells = [(recipe, "") for recipe in expand(content, replaced)]
    for name, values in _table("variants", content).items():
        fixed = {key: [value] for key, value in values.items() if key != "settings"}
        for setting, value in _table("settings", values).items():
            fixed[f"settings.{setting}"] = [value]
        wanted = replaced.get("method", fixed.get("method", []))
        if any(method not in wanted for method in fixed.get("method", [])):
            continue  # other methods alone are asked for
        known = [recipe for recipe, _ in cells]
        again = expand(content, {**replaced, **fixed})
        cells += [(recipe, name) for recipe in again if recipe not in known]
    return cells


def run_grid(
    recipes: Sequence[Recipe],
    split: Split,
    results: Path,
    options: Options,
    *,
    variants: Sequence[str] = (),
    saved: SavedFeatures | None = None,
    on_cell: Callable[[int, int, Row], None] = lambda done, total, row: None,
    wanted: RowOptions | None = None,
    curves_of: Callable[[Recipe], bool] = lambda recipe: True,
) -> list[str]:
    """Run the cells that are not in the results yet; return one line about each that failed.

    Cells that share features or pictures are run one after the other, whatever the grid's order. A
    cell that fails is reported by `options.warn`, its traceback is logged at the level DEBUG, and
    the rest is done.

    Args:
        recipes: the cells.
        split: what they are trained and measured on.
        results: a .jsonl file; rows are appended as cells finish. Cells that another such file of
            its folder has are not run.
        options: where, and what is reported.
        variants: for each recipe the name that its row carries, empty for none.
        saved: features of the split, where pictures and backbone are not at hand.
        on_cell: called with (cells done, cells in all, the row) after each cell.
        wanted: what rows hold; a cell whose row lacks wanted rescored metrics is run again.
        curves_of: which cells have curves; few of them are drawn, and they make rows long.

    Raises:
        UsageError: a recipe needs other features than those that were saved, or the commit that
            the environment names makes no sense.

    """
    find_commit()  # raises before hours are spent
    if saved:
        saved.check(recipes)
    wanted = wanted or RowOptions()
    finished = [
        (Recipe(**row["recipe"]), row["contract"]["split"])
        for file in sorted(results.parent.glob("*.jsonl"))
        for row in read_rows(file)
        if not (wanted.rescore and _lacks_rescored(row))
    ]  # a setting that is newer than a row has its default there
    cells = zip(recipes, variants or [""] * len(recipes), strict=True)
    waiting = [cell for cell in cells if (cell[0], split.sha256) not in finished]
    waiting.sort(key=lambda cell: shared_key(cell[0]))
    shared: dict[tuple[Any, ...], GridInputs] = {}
    failed = []
    for done, (recipe, variant) in enumerate(waiting, len(recipes) - len(waiting) + 1):
        key = shared_key(recipe)
        try:
            if key not in shared:
                shared.clear()  # one at a time: they are large
                shared[key] = saved.inputs if saved else prepare_inputs(split, recipe, options)
            content = replace(wanted, curves=wanted.curves and curves_of(recipe))
            row = run_cell(recipe, shared[key], options, content)
        except Exception as error:  # whatever it is, the other cells are still worth running
            failed.append(f"{recipe.method}, {recipe.bits} bits, seed {recipe.seed}: {error}")
            options.warn(failed[-1])
            _log.debug("the traceback of that cell:", exc_info=True)
            continue
        row = {"variant": variant, **row} if variant else row
        append_row(results, row)
        on_cell(done, len(recipes), row)
    return failed


def _lacks_rescored(row: Row) -> bool:
    """Return whether rescoring would add to a row; quantisers have nothing to rescore."""
    hamming = row["contract"].get("distance", "Hamming") == "Hamming"
    return hamming and "metrics_rescored" not in row


def _table(name: str, content: Mapping[str, Any]) -> Values:
    """Return a table of the file, whose values may be tables themselves."""
    table = content.get(name, {})
    if not isinstance(table, Mapping):
        raise UsageError(f"{name} is {table!r}", f"give a table [{name}]")
    for key, values in table.items() if name in ("methods", "variants") else ():
        if not isinstance(values, Mapping):
            raise UsageError(f"{name}.{key} is {values!r}", f"give a table [{name}.{key}]")
        if name == "methods" and "method" in values:
            raise UsageError(f"[methods.{key}] has a key method", f"it is for {key} alone")
    return dict(table)


def _listed(base: Values, grid: Values) -> list[str]:
    return list(grid.get("method", [base["method"]] if "method" in base else []))


def _nested(cell: Values) -> Values:
    """Put "settings.alpha" into a table of settings.

    >>> _nested({"bits": 12, "settings.alpha": "5/q"})
    {'bits': 12, 'settings': {'alpha': '5/q'}}
    """
    nested: Values = {}
    for name, value in cell.items():
        if name.startswith("settings."):
            setting = name.removeprefix("settings.")
            nested["settings"] = {**_table("settings", nested), setting: value}
        else:
            nested[name] = value
    return nested


def _merged(*layers: Mapping[str, Any]) -> Values:
    """Let later layers win, setting by setting.

    >>> _merged({"bits": 12, "settings": {"a": 1, "b": 1}}, {"settings": {"b": 2}})
    {'bits': 12, 'settings': {'a': 1, 'b': 2}}
    """
    merged: Values = {}
    for layer in layers:
        _table("settings", layer)
        settings = {**merged.get("settings", {}), **layer.get("settings", {})}
        merged |= {**layer, "settings": settings}
    return merged
