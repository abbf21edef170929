"""MIRFlickr-25k: im1.jpg … im25000.jpg and an annotation file for each label (sky.txt, sky_r1.txt).

24 labels, and for 14 of them a stricter copy (`_r1`) for where the thing is salient. Each
file has one picture number per line. The pictures are beside the annotation folder or in a folder
mirflickr/ or images/.
"""

import re
from pathlib import Path
from typing import Literal

import numpy as np

from softhash.data.formats.assembly import assemble, one_of
from softhash.data.image_set import ImageSet
from softhash.data.listing import list_folder
from softhash.data.names import several
from softhash.data.text_files import read_lines
from softhash.errors import InputError

POTENTIAL = (
    "animals", "baby", "bird", "car", "clouds", "dog", "female", "flower", "food", "indoor", "lake",
    "male", "night", "people", "plant_life", "portrait", "river", "sea", "sky", "structures",
    "sunset", "transport", "tree", "water",
)  # fmt: skip
RELEVANT = (
    "baby_r1", "bird_r1", "car_r1", "clouds_r1", "dog_r1", "female_r1", "flower_r1", "male_r1",
    "night_r1", "people_r1", "portrait_r1", "river_r1", "sea_r1", "tree_r1",
)  # fmt: skip

_ANNOTATIONS = ("annotations", "mirflickr25k_annotations_v080", "mirflickr/annotations", ".")
_IMAGES = (".", "mirflickr", "images", "mirflickr25k")


def matches(root: Path) -> bool:
    """Return whether three of the annotation files are there."""
    return _annotations(root) is not None


def read(root: Path, *, concepts: Literal[38, 24] = 38) -> ImageSet:
    """Read all pictures, with 38 labels or with the 24 that are not stricter copies."""
    one_of("concepts", concepts, (38, 24))
    annotations = _annotations(root)
    if annotations is None:
        raise InputError(f"{root} has no annotations/sky.txt, nor mirflickr25k_annotations_v080")
    classes = sorted(POTENTIAL + RELEVANT if concepts == 38 else POTENTIAL)
    lacking = [f"{name}.txt" for name in classes if not (annotations / f"{name}.txt").is_file()]
    if lacking:
        raise InputError(f"{annotations} lacks {len(lacking)} files: {several(lacking)}")
    annotated = {name: _numbers(annotations / f"{name}.txt") for name in classes}
    folder, on_disk = _pictures(root)
    numbers = sorted(on_disk.union(*annotated.values()))
    row = {number: i for i, number in enumerate(numbers)}
    labels = np.zeros((len(numbers), len(classes)), np.uint8)
    for column, name in enumerate(classes):
        labels[[row[number] for number in annotated[name]], column] = 1
    return assemble(
        root,
        [f"{folder}/im{number}.jpg" for number in numbers],
        labels,
        classes,
        format="mirflickr",
    )


def _annotations(root: Path) -> Path | None:
    for name in _ANNOTATIONS:
        if all(
            (root / name / f"{label}.txt").is_file() for label in ("sky", "plant_life", "baby_r1")
        ):
            return root / name
    return None


def _numbers(path: Path) -> list[int]:
    numbers = []
    for number, line in read_lines(path):
        if not re.fullmatch(r"[0-9]{1,8}", line):
            raise InputError(
                f"{path} line {number} is {line[:60]!r}", "it should be a picture's number"
            )
        numbers.append(int(line))
    return numbers


def _pictures(root: Path) -> tuple[str, set[int]]:
    """Find the folder with im1.jpg and the like in it, and their numbers."""
    for name in _IMAGES:
        folder = root / name
        if folder.is_dir():
            found = (re.fullmatch(r"im([0-9]{1,8})\.jpg", entry) for entry in list_folder(folder))
            numbers = {int(match[1]) for match in found if match}
            if numbers:
                return name, numbers
    raise InputError(f"{root} has no im1.jpg and the like, nor have {several(_IMAGES[1:])} in it")
