"""What a row of results must be, so that grids and plots can use what a file has.

Keys that a version did not write yet may be missing; what is there has the shape that
`softhash.experiments.cells.run_cell` gives it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from softhash.training.recipe import Recipe

Check = Callable[[Any], bool]
MAX_NUMBER = 1e300  # larger ones are none that was measured, and cannot be drawn


def check_row(row: object) -> dict[str, Any]:
    """Return a row with every key that a recipe has.

    Raises:
        ValueError: something is missing, or is not what a row has there.

    """
    if not isinstance(row, dict):
        raise ValueError("(not a table)")
    for name in ("recipe", "metrics", "contract"):
        if name not in row:
            raise ValueError(f"'{name}' is missing")
    for name, fits in _PARTS.items():
        if name in row and not fits(row[name]):
            raise ValueError(f"'{name}' is {ascii(row[name])[:60]}")
    if "split" not in row["contract"]:
        raise ValueError("'split' is missing")
    return {**row, "recipe": Recipe().changed(**row["recipe"]).as_dict()}


def _is_number(value: object) -> bool:
    whole = isinstance(value, int | float) and not isinstance(value, bool)
    return whole and -MAX_NUMBER <= value <= MAX_NUMBER  # type: ignore[operator]


def _is_count(value: object) -> bool:
    return _is_number(value) and isinstance(value, int) and value >= 0


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_numbers(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | bool) or _is_number(value)


def _is_setting(value: object) -> bool:
    return _is_scalar(value) or (isinstance(value, list) and all(map(_is_scalar, value)))


def _table_of(fits: Check) -> Check:
    """Return a check for a table all of whose values fit."""
    return lambda value: isinstance(value, dict) and all(map(fits, value.values()))


def _has(keys: Mapping[str, Check]) -> Check:
    """Return a check for a table that is empty, or has at least these keys."""
    return lambda value: (
        isinstance(value, dict)
        and (not value or all(key in value and fits(value[key]) for key, fits in keys.items()))
    )


def _is_recipe(value: object) -> bool:
    return isinstance(value, dict) and _table_of(_is_setting)(value.get("settings", {}))


def _is_contract(value: object) -> bool:
    counts = ("classes", "queries", "database", "database_without_labels")
    return (
        isinstance(value, dict)
        and _is_text(value.get("split", ""))
        and all(_is_count(value[key]) for key in counts if key in value)
    )


def _is_curves(value: object) -> bool:
    if not value:
        return value is None or value == {}
    if not (isinstance(value, dict) and _table_of(_is_numbers)(value)):
        return False
    wanted = {"n", "acg", "ndcg", "precision", "recall"} <= value.keys()
    return wanted and len({len(points) for points in value.values()}) == 1 and bool(value["n"])


def _is_hits(value: object) -> bool:
    one = _has({"query": _is_text, "nearest": lambda names: all(map(_is_text, names))})
    return isinstance(value, list) and all(
        hit and isinstance(hit, dict) and isinstance(hit.get("nearest"), list) and one(hit)
        for hit in value
    )


def _is_prefixes(value: object) -> bool:
    """Return whether it is a table of lengths, each with what a row has of its own length."""
    return isinstance(value, dict) and all(
        length.isdecimal() and isinstance(part, dict) and "metrics" in part and _fits(part)
        for length, part in value.items()
    )


def _fits(part: Mapping[str, Any]) -> bool:
    return all(_PARTS[name](value) for name, value in part.items() if name in _PARTS)


_METRICS = _table_of(_is_number)
_PARTS: dict[str, Check] = {
    "variant": _is_text,
    "command": _is_text,
    "recipe": _is_recipe,
    "metrics": _METRICS,
    "metrics_stable": _METRICS,
    "metrics_rescored": _METRICS,
    "metrics_rescored_by_features": _METRICS,
    "contract": _is_contract,
    "data": _has(
        {
            "name": _is_text, "format": _is_text, "pictures": _is_count,
            "protocol": _is_text, "seed": _is_number,
        }
    ),
    "prefixes": _is_prefixes,
    "by_epoch": _table_of(_is_numbers),
    "curves": _is_curves,
    "hits": _is_hits,
    "seconds": _table_of(_is_number),
    "versions": _table_of(_is_scalar),
}  # fmt: skip
