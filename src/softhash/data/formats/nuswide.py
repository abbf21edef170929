"""NUS-WIDE: ImageList/ImageList.txt and Groundtruth/AllLabels/Labels_<concept>.txt.

81 concepts, or the 21 most frequent ones that hashing papers use. The pictures are where the list
has them (Flickr/<tag>/0001_2124494179.jpg) or flat in images/, by file name or by photo id alone;
many of them are no longer online, and those come out as `missing`. The partition is that of
TrainImagelist.txt and TestImagelist.txt where these are there.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from softhash.data.formats.assembly import assemble, one_of
from softhash.data.image_set import ImageSet
from softhash.data.listing import Listing
from softhash.data.names import clean_names, several
from softhash.data.text_files import read_bytes, read_lines
from softhash.errors import InputError

FREQUENT = (
    "animal", "beach", "buildings", "clouds", "flowers", "grass", "lake", "mountain", "ocean",
    "person", "plants", "reflection", "road", "rocks", "sky", "snow", "sunset", "tree", "vehicle",
    "water", "window",
)  # fmt: skip

# Where a picture is, from its name in the list: <tag>/<index>_<photo id>.jpg
_LAYOUTS: tuple[Callable[[str], str], ...] = (
    lambda name: f"Flickr/{name}",
    lambda name: f"images/{name}",
    lambda name: f"images/{name.rpartition('/')[2]}",
    lambda name: f"images/{name.rpartition('_')[2]}",
    lambda name: name,
)


def matches(root: Path) -> bool:
    """Return whether the image list and the ground truth are there."""
    return _list_file(root, "") is not None and (root / "Groundtruth" / "AllLabels").is_dir()


def read(root: Path, *, concepts: Literal[81, 21] = 81) -> ImageSet:
    """Read all pictures, with all concepts or the 21 most frequent."""
    one_of("concepts", concepts, (81, 21))
    path = _list_file(root, "")
    if path is None:
        raise InputError(f"{root} has no ImageList/ImageList.txt")
    listed = _names(path)
    folder = root / "Groundtruth" / "AllLabels"
    found = sorted(file.stem.removeprefix("Labels_") for file in folder.glob("Labels_*.txt"))
    classes = found if concepts == 81 else list(FREQUENT)
    lacking = [f"Labels_{name}.txt" for name in classes if name not in found]
    if lacking or not classes:
        raise InputError(f"{folder} lacks {len(lacking) or 'all'} files: {several(lacking)}")
    notes = [] if len(classes) == concepts else [f"{len(classes)} concepts are there, not 81"]
    columns = [_column(folder / f"Labels_{name}.txt", len(listed)) for name in classes]

    row = {name: i for i, name in enumerate(listed)}
    parts: dict[str, list[int]] = {}
    for part in ("train", "test"):
        if own := _list_file(root, part.title()):
            unknown = [name for name in _names(own) if name not in row]
            if unknown:
                raise InputError(
                    f"{own} names {len(unknown):,} pictures that {path.name} does not: "
                    f"{several(unknown)}"
                )
            parts[part] = [row[name] for name in _names(own)]
    return assemble(
        root,
        _placed(root, listed),
        np.stack(columns, axis=1),
        classes,
        format="nuswide",
        partition=parts or None,
        notes=notes,
    )


def _list_file(root: Path, part: str) -> Path | None:
    spellings = [
        root / "ImageList" / f"{part}{name}" for name in ("ImageList.txt", "Imagelist.txt")
    ]
    return next((path for path in spellings if path.is_file()), None)


def _names(path: Path) -> list[str]:
    return clean_names(line.replace("\\", "/") for _, line in read_lines(path))


def _column(path: Path, rows: int) -> NDArray[np.uint8]:
    data = np.frombuffer(read_bytes(path), np.uint8)
    values: NDArray[np.uint8] = data[(data == ord("0")) | (data == ord("1"))] - ord("0")
    breaks = np.isin(data, np.frombuffer(b" \r\n", np.uint8)).sum()
    if len(values) + breaks != len(data):
        raise InputError(f"{path} has other lines than 0 and 1")
    if len(values) != rows:
        raise InputError(f"{path} has {len(values):,} lines, but the image list has {rows:,}")
    return values


def _placed(root: Path, names: list[str]) -> list[str]:
    """Spell the names in the layout in which the most of them exist."""
    listing = Listing(root)
    ways = [[layout(name) for name in names] for layout in _LAYOUTS]
    return max(ways, key=lambda spelled: sum(name in listing for name in spelled))
