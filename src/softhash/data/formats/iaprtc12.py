"""IAPR TC-12: images/00/25.jpg, iaprtc12_dictionary.txt, lists and label matrices (291 words).

The lists (…train_list.txt, …test_list.txt) name pictures as 00/25, and the matrices
(…TrainLabels.mat, …TestLabels.mat) have a row for each line and a column for each word. They are
beside the folder of pictures or in labels/ or annotations/. The partition is train and test.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softhash.data.formats._matlab import read_matrices
from softhash.data.formats.assembly import assemble
from softhash.data.image_set import ImageSet
from softhash.data.listing import Listing
from softhash.data.names import clean_names, several
from softhash.data.text_files import read_lines
from softhash.errors import InputError

DICTIONARY = "iaprtc12_dictionary.txt"
_FOLDERS = (".", "labels", "annotations")


def matches(root: Path) -> bool:
    """Return whether the dictionary is there."""
    return _annotations(root) is not None


def read(root: Path) -> ImageSet:
    """Read the pictures of both lists, with the 291 words taken from their captions."""
    folder = _annotations(root)
    if folder is None:
        raise InputError(f"{root} has no {DICTIONARY}, nor have labels and annotations in it")
    words = [line for _, line in read_lines(folder / DICTIONARY)]
    names: list[str] = []
    labels: list[NDArray[np.uint8]] = []
    parts: dict[str, range] = {}
    for part in ("train", "test"):
        own = [line for _, line in read_lines(_only(folder, f"*{part}_list.txt"))]
        labels.append(_matrix(_only(folder, f"*{part.title()}Labels.mat"), len(own), len(words)))
        parts[part] = range(len(names), len(names) + len(own))
        names += own
    files = [f"{name}.jpg" for name in clean_names(names)]
    listing = Listing(root)
    place = max(("images/", ""), key=lambda place: sum(place + name in listing for name in files))
    return assemble(
        root,
        [place + name for name in files],
        np.concatenate(labels),
        words,
        format="iaprtc12",
        partition=parts,
    )


def _annotations(root: Path) -> Path | None:
    return next((root / name for name in _FOLDERS if (root / name / DICTIONARY).is_file()), None)


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        there = several([path.name for path in found]) or "none"
        raise InputError(f"{folder} should have one {pattern}, and has {there}")
    return found[0]


def _matrix(path: Path, rows: int, columns: int) -> NDArray[np.uint8]:
    """Take the matrix of that shape; the published files have it twice."""
    matrices = read_matrices(path)
    fitting = [matrix for matrix in matrices if matrix.shape == (rows, columns)]
    if not fitting:
        shapes = several([matrix.shape for matrix in matrices]) or "none"
        raise InputError(
            f"{path} should have a matrix of {rows} pictures and {columns} words, and has {shapes}"
        )
    if any((other != fitting[0]).any() for other in fitting[1:]):
        raise InputError(f"{path} has several matrices of {rows}×{columns}, and they differ")
    if not np.isin(fitting[0], (0, 1)).all():
        raise InputError(f"{path} has other values than 0 and 1")
    return fitting[0].astype(np.uint8)
