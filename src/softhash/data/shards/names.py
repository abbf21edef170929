"""The shards that a command line names: patterns expanded, folders of `datasets` listed."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from softhash.data.names import clean_names, several
from softhash.errors import InputError

SUFFIXES = (".tar", ".parquet", ".arrow")
MAX_SHARDS = 1_000_000
MAX_JSON = 1 << 22

_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d{1,9})\.\.(\d{1,9})")
_STATE, _SPLITS = "state.json", "dataset_dict.json"


class Shard(NamedTuple):
    """A file with many pictures, and the name of what is made of it, without a suffix."""

    path: Path
    name: str


def is_shard(text: str) -> bool:
    """Return whether it names shards: a file, a pattern of files, or a folder of `datasets`.

    >>> is_shard("data-{000..999}.tar"), is_shard("photos"), is_shard("photos/metadata.csv")
    (True, False, False)
    """
    path = Path(text)
    if path.is_dir():
        return (path / _STATE).is_file() or (path / _SPLITS).is_file()
    return path.suffix.lower() in SUFFIXES


def find_shards(texts: Sequence[str]) -> list[Shard]:
    """Find all shards that are named, in their order.

    Raises:
        InputError: one is not there, or two would have codes of one name.

    """
    shards = [shard for text in texts for shard in _find(text)]
    if missing := [shard.path for shard in shards if not _is_file(shard.path)]:
        raise InputError(
            f"{len(missing):,} of {len(shards):,} shards do not exist: {several(missing)}",
            "copy them, or leave them out",
        )
    named: dict[str, Path] = {}
    for shard in shards:
        if other := named.get(shard.name):
            raise InputError(
                f"{other} and {shard.path} would both give {shard.name}.parquet",
                "encode them into two folders",
            )
        named[shard.name] = shard.path
    return shards


def expand_braces(pattern: str) -> Iterator[str]:
    """Expand ranges of numbers and lists in braces, as a shell does.

    >>> list(expand_braces("{train,val}-{08..10}.tar"))[:4]
    ['train-08.tar', 'train-09.tar', 'train-10.tar', 'val-08.tar']
    """
    found = _BRACES.search(pattern)
    if not found:
        yield pattern
        return
    for choice in _choices(found[1]):
        yield from expand_braces(f"{pattern[: found.start()]}{choice}{pattern[found.end() :]}")


def _choices(text: str) -> Iterator[str]:
    found = _RANGE.fullmatch(text)
    if not found:
        yield from text.split(",")
        return
    first, last = int(found[1]), int(found[2])
    width = max(map(len, found.groups())) if any(one[0] == "0" for one in found.groups()) else 0
    for number in range(first, last + 1) if first <= last else range(first, last - 1, -1):
        yield f"{number:0{width}}"


def _find(text: str) -> list[Shard]:
    path = Path(text)
    if path.is_dir():
        return list(_of_datasets(path))
    names = [text] if _is_file(path) else list(islice(expand_braces(text), MAX_SHARDS + 1))
    if len(names) > MAX_SHARDS:
        raise InputError(f"{text} names more than {MAX_SHARDS:,} shards", "give fewer at once")
    return [Shard(Path(name), Path(name).stem) for name in names]


def _of_datasets(folder: Path, split: str = "") -> Iterator[Shard]:
    """List the Arrow files of a folder that `datasets.save_to_disk` wrote, or of all its splits."""
    if _is_file(folder / _SPLITS) and not split:
        for name in clean_names(_texts(folder / _SPLITS, "splits")):
            yield from _of_datasets(folder / name, f"{name}-")
        return
    state = folder / _STATE
    content = _read(state)
    if content.get("_indices_data_files") or content.get("_indices_files"):
        raise InputError(
            f"{folder} is a selection of the rows of its files",
            "save it with datasets' flatten_indices() before save_to_disk",
        )
    files = content.get("_data_files")
    if not isinstance(files, list) or not all(isinstance(one, dict) for one in files):
        raise InputError(f"{state} lists no files", "is it a folder that save_to_disk wrote?")
    for name in clean_names(str(one.get("filename", "")) for one in files):
        yield Shard(folder / name, f"{split}{Path(name).stem}".replace("/", "-"))


def _is_file(path: Path) -> bool:
    """Return whether a file is there; no name is too long to ask."""
    try:
        return path.is_file()
    except OSError:
        return False


def _texts(path: Path, key: str) -> list[str]:
    values = _read(path).get(key)
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise InputError(f"{path} has no list of {key}", "is it complete?")
    return values


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(MAX_JSON))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read: {error}", "is it complete?") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no settings", "is it a folder that save_to_disk wrote?")
    return content
