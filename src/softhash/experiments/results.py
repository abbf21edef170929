"""Rows of results: one line of JSON for every cell of a benchmark, in the order they finished."""

import json
from os import SEEK_END
from pathlib import Path
from typing import Any, BinaryIO

from softhash.errors import InputError
from softhash.training.recipe import Recipe

Row = dict[str, Any]


def read_rows(results: Path) -> list[Row]:
    """Read the rows that are there; a last line that was cut off does not count."""
    if not results.exists():
        return []
    rows = []
    lines = results.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        try:
            rows += [json.loads(line)] if line else []
        except ValueError:
            if number == len(lines):
                continue
            raise InputError(f"{results} line {number} is damaged", "remove it") from None
    return rows


def append_row(results: Path, row: Row) -> None:
    """Add a row on a line of its own; a last line that was cut off is taken away first."""
    results.touch()
    with results.open("r+b") as file:
        _end_last_line(file)
        file.write(json.dumps(row).encode() + b"\n")


def _end_last_line(file: BinaryIO) -> None:
    """Go to the end of a file, whose last line is complete or not there."""
    if not file.seek(0, SEEK_END):
        return
    file.seek(-1, SEEK_END)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    content = file.read()
    start = content.rfind(b"\n") + 1
    try:
        json.loads(content[start:])
    except ValueError:
        file.seek(start)
        file.truncate()
    else:
        file.write(b"\n")


def read_results(path: Path) -> list[Row]:
    """Read the rows of a .jsonl file, or of all such files in a folder.

    Recipes are complete: a setting that is newer than a row has its default. Of rows of the same
    recipe on the same split the last one counts.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    found: dict[str, Row] = {}
    for file in files:
        if not file.is_file():
            raise InputError(f"{file} does not exist", "give what `softhash bench -o` wrote")
        for number, row in enumerate(read_rows(file), start=1):
            whole = _whole(row, f"{file} row {number}")
            key = json.dumps([whole["recipe"], whole["contract"]["split"]], sort_keys=True)
            found.pop(key, None)
            found[key] = whole
    if not found:
        raise InputError(f"{path} has no rows of results", "give what `softhash bench -o` wrote")
    return list(found.values())


def _whole(row: object, where: str) -> Row:
    """Return a row whose recipe has every key."""
    try:
        if not isinstance(row, dict):
            raise TypeError("(not a table)")
        whole = {**row, "recipe": Recipe(**row["recipe"]).as_dict()}
        _ = whole["metrics"], whole["contract"]["split"]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{where} is not a result that this version of softhash bench wrote: "
            f"{type(error).__name__} {error}"
        ) from None
    return whole
