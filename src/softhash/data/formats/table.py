"""metadata.csv or metadata.jsonl beside the pictures: file_name, and labels or 0/1 columns.

The convention of Hugging Face's imagefolder. `labels` is a list, or text with `;` between the
labels, or `,` where no cell has a `;`. Without it, every column of 0 and 1 is a label, and an empty
cell is a 0. An optional column `split` names the parts a picture belongs to, with `;` between them.

Pictures in the folder that the table does not name are kept without labels; a table that is given
by its own path stands for what it names alone.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softhash.data.formats import _spreadsheets, folder
from softhash.data.formats.assembly import assemble, check_label_matrix, named_labels
from softhash.data.image_set import ImageSet
from softhash.data.names import several
from softhash.data.text_files import parse_json, read_lines, read_text
from softhash.errors import InputError

NAMES = ("metadata.csv", "metadata.jsonl")
RESERVED = ("file_name", "labels", "label", "split")

_BITS = {"0": 0, "0.0": 0, "False": 0, "1": 1, "1.0": 1, "True": 1}

Row = tuple[str, dict[str, Any]]  # where it stands, and its cells


def matches(root: Path) -> bool:
    """Return whether the table is there, or is the file given."""
    if root.is_file():
        return root.suffix.lower() in (".csv", ".jsonl")
    return any((root / name).is_file() for name in NAMES)


def read(root: Path) -> ImageSet:
    """Read the table in a folder, or a given .csv or .jsonl file beside its pictures."""
    path = root
    if root.is_dir():
        path = next((root / name for name in NAMES if (root / name).is_file()), root / NAMES[0])
    rows = _rows(path)
    if not rows:
        raise InputError(f"{path} has no rows")
    names = [_file_name(row) for row in rows]
    columns = list(dict.fromkeys(column for _, cells in rows for column in cells))
    column = next((name for name in ("labels", "label") if name in columns), None)
    notes: list[str] = []
    if column:
        between = _label_separator(rows, column)
        labels, classes = named_labels([_words(row, column, between) for row in rows])
    else:
        labels, classes, notes = _bit_columns(rows, [c for c in columns if c not in RESERVED])
    partition: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        for part in _words(row, "split"):
            partition.setdefault(part, []).append(i)
    images = assemble(
        path.parent,
        names,
        labels,
        classes,
        format="table",
        partition=partition or None,
        notes=notes,
    )
    return folder.with_unlisted(images, path.name) if root.is_dir() else images


def named_rows(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Read file names and labels from a .jsonl file, whether the files are there or not."""
    rows = _json_rows(path)
    return [(_file_name(row), tuple(dict.fromkeys(_words(row, "labels")))) for row in rows]


def _rows(path: Path) -> list[Row]:
    if path.suffix.lower() == ".jsonl":
        return list(_json_rows(path))
    return [*_spreadsheets.parse(read_text(path), path)]


def _json_rows(path: Path) -> Iterator[Row]:
    for number, line in read_lines(path):
        where = f"{path} line {number}"
        cells = parse_json(line, where)
        if not isinstance(cells, dict):
            raise InputError(f"{where} is not an object", 'write {"file_name": …, "labels": […]}')
        yield where, cells


def _file_name(row: Row) -> str:
    where, cells = row
    name = cells.get("file_name")
    if not isinstance(name, str):
        raise InputError(f"{where} has no file_name", f"its columns are {several(list(cells))}")
    return name


def _label_separator(rows: list[Row], column: str) -> str:
    """Return what is between labels: `;` where any cell has one; `label` never has commas."""
    texts = [cell for _, cells in rows if isinstance(cell := cells.get(column), str)]
    return ";" if column == "label" or any(";" in text for text in texts) else ","


def _words(row: Row, column: str, separator: str = ";") -> list[str]:
    where, cells = row
    cell = cells.get(column)
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        cell = parse_json(cell, f"the list in {where}")
    if isinstance(cell, str):
        cell = cell.split(separator)
    words = cell if isinstance(cell, list) else [] if cell is None else [cell]
    if not all(isinstance(word, str | int) for word in words):
        raise InputError(f"{where} has {ascii(cell)[:60]} as {column}", "write a list of names")
    return [text for word in words if (text := str(word).strip())]


def _bit_columns(
    rows: list[Row], columns: list[str]
) -> tuple[NDArray[np.uint8], tuple[str, ...], list[str]]:
    """Find the columns of 0 and 1, and note the others."""
    check_label_matrix(len(rows), columns)
    labels, classes, others = [], [], []
    for column in columns:
        cells = ["" if (cell := row.get(column)) is None else str(cell).strip() for _, row in rows]
        wrong = [i for i, cell in enumerate(cells) if cell and cell not in _BITS]
        if any(cell in _BITS for cell in cells):
            if wrong:
                where, value = rows[wrong[0]][0], cells[wrong[0]]
                raise InputError(
                    f"{where} has {ascii(value)[:60]} in column {column!r}, "
                    "which elsewhere has 0 and 1",
                    "correct it, or list the labels in a column 'labels'",
                )
            classes.append(column)
            labels.append(np.array([_BITS.get(cell, 0) for cell in cells], np.uint8))
        else:
            others.append(column)
    notes = [f"columns without 0 and 1 are not labels: {several(others)}"] if others else []
    matrix = np.array(labels, np.uint8).reshape(len(labels), len(rows)).T
    return np.ascontiguousarray(matrix), tuple(classes), notes
