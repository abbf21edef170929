"""Write an ImageSet as the table that `formats.table` reads."""

import csv
import io
import json
from pathlib import Path

from softhash.data.formats.table import NAMES, RESERVED
from softhash.data.image_set import ImageSet
from softhash.errors import UsageError
from softhash.files import write_whole


def write(images: ImageSet, path: Path, *, force: bool = False) -> Path:
    """Write a set as a table; return the path of the table.

    Args:
        images: the set.
        path: a folder, which gets a metadata.csv, or a .csv or .jsonl file.
        force: whether an existing table is overwritten.

    """
    as_jsonl = path.suffix.lower() == ".jsonl"
    path = path if as_jsonl or path.suffix.lower() == ".csv" else path / NAMES[0]
    folder, root = path.parent.resolve(), images.root.resolve()
    if not root.is_relative_to(folder):
        raise UsageError(
            f"a table in {folder} cannot name pictures in {root}",
            f"save to {root} or a folder above",
        )
    names = [(root / name).relative_to(folder).as_posix() for name in images.file_names]
    splits: list[list[str]] = [[] for _ in names]
    for part, positions in (images.partition or {}).items():
        for i in positions:
            splits[i].append(part)
    text = _jsonl(images, names, splits) if as_jsonl else _csv(images, names, splits)
    write_whole(path, text, force=force)
    return path


def _csv(images: ImageSet, names: list[str], splits: list[list[str]]) -> str:
    taken = [
        name for name in images.classes if name in RESERVED or name != name.strip() or not name
    ]
    if taken:
        raise UsageError(
            f"a class called {taken[0]!r} cannot head a column", "save to a .jsonl file"
        )
    with_split = images.partition is not None
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["file_name", *["split"][: int(with_split)], *images.classes])
    for name, split, row in zip(names, splits, images.labels.tolist(), strict=True):
        table.writerow([name, *([";".join(split)] if with_split else []), *row])
    return text.getvalue()


def _jsonl(images: ImageSet, names: list[str], splits: list[list[str]]) -> str:
    lines = []
    for name, split, row in zip(names, splits, images.labels, strict=True):
        labels = [images.classes[i] for i in row.nonzero()[0]]
        cells = {"file_name": name, "labels": labels} | ({"split": split} if split else {})
        lines.append(json.dumps(cells, ensure_ascii=False) + "\n")
    return "".join(lines)
