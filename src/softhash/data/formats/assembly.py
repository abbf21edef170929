"""From annotations to an ImageSet of files that are on disk."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softhash.data.image_set import ImageSet
from softhash.data.listing import Listing
from softhash.data.names import clean_names, several
from softhash.errors import InputError, unknown_name

MAX_LABEL_BYTES = 1 << 31  # of a label matrix: 26 million pictures with 81 labels

_T = TypeVar("_T")


def one_of(option: str, value: _T, allowed: Collection[_T]) -> _T:
    """Return an option's value, or raise an error that lists the allowed ones.

    Args:
        option: the option's name.
        value: the one that was given.
        allowed: those that exist.

    """
    if value not in allowed:
        raise unknown_name(option, str(value), map(str, allowed))
    return value


def check_label_matrix(pictures: int, classes: Sequence[str]) -> None:
    """Raise an InputError where a label matrix would be too large; to be asked before it is made.

    A matrix has a byte per picture and class. It grows with the square of a collection in which
    each picture has a label of its own, such as a caption.
    """
    if pictures * len(classes) > MAX_LABEL_BYTES:
        raise InputError(
            f"{len(classes):,} different labels of {pictures:,} pictures need a matrix of "
            f"{pictures * len(classes) / 1e9:,.1f} GB: {several([ascii(c)[:40] for c in classes])}",
            "labels are words that pictures share: are these captions or names? leave out the "
            "rare ones, or all labels to index the pictures without them",
        )


def multi_hot(rows: Sequence[Iterable[int]], classes: Sequence[str]) -> NDArray[np.uint8]:
    """Turn a list of class numbers for each picture into a label matrix.

    >>> multi_hot([[0, 2], []], ["boat", "sea", "sky"]).tolist()
    [[1, 0, 1], [0, 0, 0]]
    """
    check_label_matrix(len(rows), classes)
    labels = np.zeros((len(rows), len(classes)), dtype=np.uint8)
    for row, columns in zip(labels, rows, strict=True):
        row[list(columns)] = 1
    return labels


def named_labels(
    rows: Sequence[Collection[str]], classes: Sequence[str] | None = None
) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Turn the label names of each picture into a matrix and its classes, sorted unless given.

    >>> named_labels([["sky", "sea"], ["sky"]])[1]
    ('sea', 'sky')
    """
    names = tuple(classes) if classes is not None else tuple(sorted(set().union(*rows)))
    column = {name: i for i, name in enumerate(names)}
    return multi_hot([[column[name] for name in row] for row in rows], names), names


def assemble(
    root: Path,
    names: Sequence[str],
    labels: NDArray[np.uint8],
    classes: Sequence[str],
    *,
    format: str,
    partition: Mapping[str, ArrayLike] | None = None,
    notes: Iterable[str] = (),
) -> ImageSet:
    """Check the names, merge rows of one file, leave out what is not on disk, build the set.

    Rows of one file are merged into the union of their labels; where they differ, there is a note.

    Args:
        root: the folder that the names are relative to.
        names: one per row; a file may have several rows.
        labels: multi-hot, one row per name.
        classes: the name of each column.
        format: the layout's name.
        partition: row numbers by part; they become positions in the set, each picture once, in
            the same order.
        notes: one line for anything that was left out or repaired so far.

    Raises:
        InputError: a name leads out of the folder, or none of the files is there.

    """
    names, notes = clean_names(names), list(notes)
    position: dict[str, int] = {}
    merged_at = np.array([position.setdefault(name, len(position)) for name in names], np.int64)
    unique = list(position)
    if len(unique) < len(names):
        rows, labels = labels, np.zeros((len(unique), labels.shape[1]), np.uint8)
        np.maximum.at(labels, merged_at, rows)
        differ = sorted(set(merged_at[(rows != labels[merged_at]).any(axis=1)].tolist()))
        if differ:
            which = several([unique[i] for i in differ])
            notes.append(f"{len(differ):,} files have rows that differ; labels merged: {which}")

    listing = Listing(root)
    there = np.array([name in listing for name in unique], dtype=bool)
    missing = tuple(name for name, found in zip(unique, there, strict=True) if not found)
    if not there.any():
        raise InputError(
            f"none of the {len(unique):,} images that the {format} annotations name is in {root}: "
            f"{several(missing) or 'they name none'}"
        )
    moved_to = np.where(there, np.cumsum(there) - 1, -1)
    return ImageSet(
        root=root,
        file_names=tuple(name for name, found in zip(unique, there, strict=True) if found),
        labels=labels if there.all() else labels[there],
        classes=tuple(classes),
        format=format,
        missing=missing,
        notes=tuple(notes),
        partition=None
        if partition is None
        else {part: _moved(moved_to[merged_at], rows) for part, rows in partition.items()},
    )


def _moved(new: NDArray[np.int64], rows: ArrayLike) -> NDArray[np.int64]:
    moved = new[np.asarray(rows, dtype=np.int64)]
    return np.array(list(dict.fromkeys(moved[moved >= 0].tolist())), dtype=np.int64)
