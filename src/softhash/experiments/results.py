"""Rows of results: one line of JSON for every cell of a benchmark, in the order they finished."""

import json
from os import SEEK_END
from pathlib import Path
from typing import Any, BinaryIO

from softhash.data.text_files import read_bytes
from softhash.errors import InputError
from softhash.experiments._row_checks import check_row

Row = dict[str, Any]


def read_rows(results: Path) -> list[Row]:
    """Read the rows that are there; a last line that was cut off does not count.

    Recipes are complete: a setting that is newer than a row has its default.

    Raises:
        InputError: the file cannot be read, or a line is not a row.

    """
    if not results.exists():
        return []
    *whole, last = read_bytes(results).split(b"\n")
    rows = [
        _read_row(line, f"{results} line {number}")
        for number, line in enumerate(whole, start=1)
        if line
    ]
    if _is_json(last):
        rows.append(_read_row(last, f"{results} line {len(whole) + 1}"))
    return rows


def _read_row(line: bytes, where: str) -> Row:
    try:
        return check_row(json.loads(line))
    except json.JSONDecodeError:
        raise InputError(f"{where} is damaged", "remove it") from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{where} is not a result that this version of softhash bench wrote: {error}"
        ) from None


def _is_json(line: bytes) -> bool:
    """Return whether a line is whole."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def append_row(results: Path, row: Row) -> None:
    """Add a row on a line of its own; a last line that was cut off is taken away first."""
    try:
        results.touch()
        with results.open("r+b") as file:
            _end_last_line(file)
            file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
    except OSError as error:
        raise InputError(f"cannot write {results}: {error.strerror or error}") from error


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
    if _is_json(content[start:]):
        file.write(b"\n")
    else:
        file.seek(start)
        file.truncate()


def read_results(path: Path) -> list[Row]:
    """Read the rows of a .jsonl file, or of all such files in a folder.

    Of rows of the same recipe on the same split the last one counts.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    found: dict[str, Row] = {}
    for file in files:
        if not file.is_file():
            raise InputError(f"{file} does not exist", "give what `softhash bench -o` wrote")
        for row in read_rows(file):
            key = json.dumps([row["recipe"], row["contract"]["split"]], sort_keys=True)
            found.pop(key, None)
            found[key] = row
    if not found:
        raise InputError(f"{path} has no rows of results", "give what `softhash bench -o` wrote")
    return list(found.values())
