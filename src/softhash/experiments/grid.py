"""The cells of a benchmark file: a recipe with lists, and what single methods need otherwise.

A table ``[grid]`` of lists makes a cell of every combination. Settings of the method are named as
``"settings.alpha"``, and may be given in terms of the bits, as ``"5/q"``. A table
``[methods.NAME]`` replaces keys of the recipe for that method alone, ``[methods.NAME.settings]``
gives its settings; what the grid varies wins over both. Methods that cannot be fine-tuned are
fitted to features of the network as published, among those that are::

    mode = "frozen"
    [grid]
    method = ["idhn", "dpsh"]
    bits = [12, 24, 36, 48]
    [methods.dpsh]
    head_rate = 1e-3
    [methods.dpsh.settings]
    eta = 0.1
"""

from collections.abc import Mapping
from itertools import product
from typing import Any

from softhash.errors import UsageError, unknown_name
from softhash.training.recipe import Recipe

Values = dict[str, Any]


def expand(content: Mapping[str, Any]) -> list[Recipe]:
    """Make a recipe of every combination in the grid.

    >>> [r.bits for r in expand({"method": "idhn", "grid": {"bits": [12, 24], "seed": [0, 1]}})]
    [12, 12, 24, 24]
    """
    base = {key: value for key, value in content.items() if key not in ("grid", "methods")}
    grid = _table("grid", content)
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise UsageError(f"grid key {name} is {values!r}", "give a list of values")
    own = _table("methods", content)
    _check_names([*own, *_listed(base, grid)])
    recipes: list[Recipe] = []
    for chosen in product(*grid.values()):
        cell = _nested(dict(zip(grid, chosen, strict=True)))
        method = cell.get("method", base.get("method", Recipe.method))
        recipe = Recipe.with_defaults(**_merged(base, own.get(method, {}), cell, _forced(method)))
        if recipe not in recipes:  # a shallow method is the same in every mode
            recipes.append(recipe)
    return recipes


def _forced(method: str) -> Values:
    """Return what a method takes whatever the file says."""
    from softhash.training.methods import Shallow, method_class  # with torch

    return {"mode": "frozen"} if issubclass(method_class(method), Shallow) else {}


def _table(name: str, content: Mapping[str, Any]) -> Values:
    """Return a table of the file, whose values may be tables themselves."""
    table = content.get(name, {})
    if not isinstance(table, Mapping):
        raise UsageError(f"{name} is {table!r}", f"give a table [{name}]")
    if name != "methods":
        return dict(table)
    for method, values in table.items():
        if not isinstance(values, Mapping):
            raise UsageError(f"methods.{method} is {values!r}", f"give a table [methods.{method}]")
        if "method" in values:
            raise UsageError(f"[methods.{method}] has a key method", f"it is for {method} alone")
    return dict(table)


def _listed(base: Values, grid: Values) -> list[str]:
    return list(grid.get("method", [base["method"]] if "method" in base else []))


def _check_names(names: list[str]) -> None:
    """Refuse a method that does not exist before hours are spent on the others."""
    from softhash.training.methods import METHODS  # with torch

    for name in names:
        if name not in METHODS:
            raise unknown_name("method", str(name), METHODS)


def _nested(cell: Values) -> Values:
    """Put "settings.alpha" into a table of settings.

    >>> _nested({"bits": 12, "settings.alpha": "5/q"})
    {'bits': 12, 'settings': {'alpha': '5/q'}}
    """
    nested: Values = {}
    for name, value in cell.items():
        if name.startswith("settings."):
            nested.setdefault("settings", {})[name.removeprefix("settings.")] = value
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
        settings = {**merged.get("settings", {}), **layer.get("settings", {})}
        merged |= {**layer, "settings": settings}
    return merged
