"""Lines "path 0 1 0 …" in train.txt, test.txt, database.txt, as hashing papers exchange splits.

Paths are relative to the folder. classes.txt, one name per line, names the columns; without it they
are called 0, 1, …. The partition is that of the files, and a picture may be in several of them.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softhash.data.formats.assembly import assemble
from softhash.data.image_set import ImageSet
from softhash.data.names import several
from softhash.data.text_files import read_lines
from softhash.errors import InputError

PARTS = ("train", "test", "database", "val", "query")
_LINE = re.compile(rb"\s*\S.*\s[01]\s*")


def matches(root: Path) -> bool:
    """Return whether one of the lists is there and starts like one."""
    paths = [root] if root.is_file() else list(_files(root).values())
    return any(path.suffix == ".txt" and _starts_like_one(path) for path in paths)


def read(root: Path) -> ImageSet:
    """Read all lists in a folder, or one given list."""
    files = {root.stem: root} if root.is_file() else _files(root)
    folder = root.parent if root.is_file() else root
    if not files:
        raise InputError(f"{root} has none of {several([f'{part}.txt' for part in PARTS])}")
    classes: list[str] = []
    if (folder / "classes.txt").is_file():
        classes = [line for _, line in read_lines(folder / "classes.txt")]
    names: list[str] = []
    labels: list[NDArray[np.uint8]] = []
    partition: dict[str, range] = {}
    for part, path in files.items():
        own, matrix = _parse(path, len(classes))
        classes = classes or [str(i) for i in range(matrix.shape[1])]
        partition[part] = range(len(names), len(names) + len(own))
        names += own
        labels.append(matrix)
    return assemble(
        folder, names, np.concatenate(labels), classes, format="lists", partition=partition
    )


def _files(root: Path) -> dict[str, Path]:
    files = {part: root / f"{part}.txt" for part in PARTS}
    return {part: path for part, path in files.items() if path.is_file()}


def _starts_like_one(path: Path) -> bool:
    with path.open("rb") as file:
        return _LINE.fullmatch(file.readline(100_000)) is not None


def _parse(path: Path, columns: int) -> tuple[list[str], NDArray[np.uint8]]:
    """Split each line into a path, which may have spaces, and its `columns` labels.

    With 0 columns, their number is that of the first line: the zeros and ones at its end.
    """
    names: list[str] = []
    digits: list[str] = []
    for number, line in read_lines(path):
        if not columns:
            run = re.search(r"(\s+[01])+$", line)
            columns = len(run[0].split()) if run else 0
        name, *bits = line.rsplit(None, columns)
        text = "".join(bits)
        fits = columns and len(bits) == len(text) == columns and not text.strip("01")
        if not fits or name.endswith((" 0", " 1")):
            raise InputError(
                f"{path} line {number} should be a path and {columns or 'some'} zeros and ones: "
                f"{line[:60]!r}"
            )
        names.append(name)
        digits.append(text)
    if not names:
        raise InputError(f"{path} has no lines")
    flat = np.frombuffer("".join(digits).encode("ascii"), np.uint8) - ord("0")
    return names, flat.reshape(len(names), columns)
