"""Label Studio: its export as JSON or JSON-MIN, given as the file, or as tasks.json in a folder.

A picture's labels are all choices, taxonomy entries and region labels of its annotations; skipped
annotations and predictions do not count, and a task nobody annotated is a picture without labels.
References such as /data/upload/1/3f2a9c01-cat.jpg, /data/local-files/?d=photos/cat.jpg and URLs are
looked up under the folder of the file by as much of their path as is there, also in images/, and
without the prefix of an upload.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from softhash.data.formats.assembly import assemble, named_labels
from softhash.data.image_set import ImageSet
from softhash.data.listing import Listing
from softhash.data.names import IMAGE_SUFFIXES, clean_names
from softhash.data.text_files import read_json, starts_with
from softhash.errors import InputError

NAMES = ("tasks.json", "labelstudio.json")
LABEL_KEYS = (
    "choices", "taxonomy", "labels", "rectanglelabels", "polygonlabels", "brushlabels",
    "keypointlabels", "ellipselabels",
)  # fmt: skip
_PLAIN = ("choice", "choices", "label", "labels", "taxonomy")  # where JSON-MIN has bare text


def matches(root: Path) -> bool:
    """Return whether a JSON list is given, or is in the folder under one of the names."""
    path = _file(root)
    return path is not None and path.suffix.lower() == ".json" and starts_with(path, b"[")


def read(root: Path, *, key: str | None = None) -> ImageSet:
    """Read an export.

    Args:
        root: the JSON file, or a folder with tasks.json in it.
        key: which entry of a task's data refers to the picture; found by its suffix by default.

    """
    path = _file(root)
    if path is None:
        raise InputError(f"{root} has no {' or '.join(NAMES)}", "give the exported JSON file")
    tasks = read_json(path)
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise InputError(f"{path} is not a list of tasks", "export as JSON or JSON-MIN")
    listing = Listing(path.parent)
    names = [
        _located(_reference(task, key, f"{path} task {i}"), listing) for i, task in enumerate(tasks)
    ]
    try:
        rows = [_labels(task) for task in tasks]
    except RecursionError:
        raise InputError(f"{path} nests its labels too deeply") from None
    labels, classes = named_labels(rows)
    return assemble(path.parent, names, labels, classes, format="labelstudio")


def _file(root: Path) -> Path | None:
    candidates = [root] if root.is_file() else [root / name for name in NAMES]
    return next((path for path in candidates if path.is_file()), None)


def _reference(task: dict[str, Any], key: str | None, where: str) -> str:
    data = task["data"] if isinstance(task.get("data"), dict) else task
    texts = {name: value for name, value in data.items() if isinstance(value, str)}
    if key is None:
        like = (n for n, v in texts.items() if Path(_path(v)).suffix.lower() in IMAGE_SUFFIXES)
        key = "image" if "image" in texts else next(like, "image")
    if key not in texts:
        raise InputError(f"{where} has no '{key}'", "name the entry of the picture with key=…")
    return texts[key]


def _path(reference: str) -> str:
    """Take the path out of a reference."""
    try:
        parts = urlsplit(reference)
    except ValueError:
        return reference
    if parts.path.endswith("/data/local-files/"):
        return parse_qs(parts.query).get("d", [""])[0]
    return unquote(parts.path)


def _located(reference: str, listing: Listing) -> str:
    """Find the file by the longest end of its path that exists; or else name it."""
    path = clean_names([_path(reference).lstrip("/")])[0]
    parts = path.split("/")
    base = parts[-1]
    ends = ["/".join(parts[i:]) for i in range(len(parts))]
    ends.append(re.sub(r"^[0-9a-f]{8}-", "", base))
    places = [place + end for end in ends for place in ("", "images/")]
    return next((name for name in places if name in listing), base)


def _labels(task: dict[str, Any]) -> set[str]:
    if "annotations" not in task:
        return {word for name, value in task.items() for word in _min_words(name, value)}
    found: set[str] = set()
    for annotation in _dicts(task["annotations"]):
        if not annotation.get("was_cancelled"):
            for region in _dicts(annotation.get("result")):
                found.update(_value_words(region.get("value")))
    return found


def _min_words(name: str, value: object) -> Iterator[str]:
    """Labels of one entry of JSON-MIN: bare text, a list of it, or regions."""
    if name in _PLAIN and isinstance(value, str):
        yield value
    for region in _dicts(value if isinstance(value, list) else [value]):
        yield from _value_words(region)
    if name in _PLAIN and isinstance(value, list):
        yield from _texts(value)


def _value_words(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key in LABEL_KEYS:
            yield from _texts(value.get(key))


def _texts(value: object) -> Iterator[str]:
    """Yield all text within nested lists: every step of a taxonomy's path is a label."""
    if isinstance(value, str) and value.strip():
        yield value.strip()
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
