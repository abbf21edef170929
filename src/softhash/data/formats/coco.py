"""COCO: annotations/instances_{train,val}2017.json (or 2014), or one JSON file of that kind.

The labels of a picture are the categories of its objects, in the order of the category ids. The
pictures are in train2017/ and val2017/, in images/ or beside the JSON file.
"""

from pathlib import Path
from typing import TypeVar

from softhash.data.formats.assembly import assemble, multi_hot, one_of
from softhash.data.image_set import ImageSet
from softhash.data.listing import Listing
from softhash.data.names import clean_names, several
from softhash.data.text_files import read_json, starts_with
from softhash.errors import InputError, UsageError

YEARS = (2014, 2017)
PARTS = ("train", "val")

_T = TypeVar("_T", int, str)


def matches(root: Path) -> bool:
    """Return whether the instance files are there, or one JSON object is the file given."""
    if root.is_file():
        return root.suffix.lower() == ".json" and starts_with(root, b"{")
    return bool(_files(root))


def read(root: Path, *, year: int | None = None) -> ImageSet:
    """Read both parts of one year, or one given file.

    Args:
        root: the folder around `annotations`, or an instances JSON file.
        year: 2014 or 2017, where the folder has both.

    """
    if root.is_file():
        folder = root.parent.parent if root.parent.name == "annotations" else root.parent
        return _assemble(folder, {root.stem: root}, partition=False)
    files = _files(root)
    if year is not None:
        one_of("year", year, YEARS)
        files = {key: path for key, path in files.items() if key.endswith(str(year))}
    if not files:
        raise InputError(f"{root}/annotations has no instances_train{year or 2017}.json or _val")
    if len({key[-4:] for key in files}) > 1:
        raise UsageError(f"{root} has both years", "choose year=2014 or year=2017")
    return _assemble(root, files, partition=True)


def _files(root: Path) -> dict[str, Path]:
    keys = [f"{part}{year}" for year in YEARS for part in PARTS]
    files = {key: root / "annotations" / f"instances_{key}.json" for key in keys}
    return {key: path for key, path in files.items() if path.is_file()}


def _assemble(root: Path, files: dict[str, Path], *, partition: bool) -> ImageSet:
    names: list[str] = []
    rows: list[set[int]] = []
    classes: list[str] | None = None
    parts: dict[str, range] = {}
    for key, path in files.items():
        own_names, own_rows, own_classes = _instances(path)
        if classes is not None and own_classes != classes:
            raise InputError(f"{path} has other categories than the file before it")
        classes = own_classes
        parts[key[:-4]] = range(len(names), len(names) + len(own_names))
        names += _placed(root, key.removeprefix("instances_"), own_names)
        rows += own_rows
    labels = multi_hot(rows, classes or ())
    used = parts if partition else None
    return assemble(root, names, labels, classes or (), format="coco", partition=used)


def _placed(root: Path, key: str, names: list[str]) -> list[str]:
    """Put the folder in front of the names in which most of the first thousand are."""
    listing = Listing(root)
    sample = clean_names(names[:1000])
    places = [f"{key}/", f"images/{key}/", "images/", ""]
    best = max(places, key=lambda place: sum(place + name in listing for name in sample))
    return [best + name for name in names]


def _instances(path: Path) -> tuple[list[str], list[set[int]], list[str]]:
    data = read_json(path)
    categories = {
        _field(entry, "id", int, path): _field(entry, "name", str, path)
        for entry in _entries(data, "categories", path)
    }
    column = {number: i for i, number in enumerate(sorted(categories))}
    names = {
        _field(entry, "id", int, path): _field(entry, "file_name", str, path)
        for entry in _entries(data, "images", path)
    }
    labels: dict[int, set[int]] = {number: set() for number in names}
    no_image, no_category = [], []
    for entry in _entries(data, "annotations", path):
        image = _field(entry, "image_id", int, path)
        category = _field(entry, "category_id", int, path)
        if image not in labels:
            no_image.append(image)
        elif category not in column:
            no_category.append(category)
        else:
            labels[image].add(column[category])
    if no_image or no_category:
        kind, numbers = ("images", no_image) if no_image else ("categories", no_category)
        raise InputError(
            f"{path}: {len(numbers):,} annotations are of {kind} that it does not list: ids "
            f"{several(list(dict.fromkeys(numbers)))}"
        )
    return list(names.values()), list(labels.values()), [categories[i] for i in sorted(categories)]


def _entries(data: object, key: str, path: Path) -> list[object]:
    entries = data.get(key) if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise InputError(f"{path} has no list '{key}'", "COCO has images, annotations, categories")
    return entries


def _field(entry: object, key: str, kind: type[_T], path: Path) -> _T:
    value = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(value, kind):
        raise InputError(
            f"{path}: an entry's {key} is not of type {kind.__name__}: {ascii(entry)[:80]}"
        )
    return value
