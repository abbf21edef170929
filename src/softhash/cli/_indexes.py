"""Indexes that are kept in the user's data folder, where a command names no other place."""

from pathlib import Path
from typing import TypedDict

from softhash.cli._output import say, warn
from softhash.errors import InputError, SofthashError, UsageError
from softhash.files import data_folder

INDEXES = "indexes"
MARK = "items.sqlite"  # in every index folder
UNNAMED = "pictures"  # of a folder without a name, as /


class KeptIndex(TypedDict):
    """One index of the data folder."""

    index: str
    pictures: str
    items: int
    bits: int


def choose_location(images: str, root: Path) -> str:
    """Return where the index of a collection is kept: its own, or a new one under a free name.

    Args:
        images: the collection, as given; its name becomes that of the index.
        root: its folder; two folders of the same name have an index each.

    """
    folder = _prepare()
    name, number = _name(images), 1
    location = folder / name
    while (location / MARK).exists():
        if _describe(location)["pictures"] in ("", str(root.resolve())):
            return str(location)
        number += 1
        location = folder / f"{name}-{number}"
    say(f"the index is kept in {location}; `softhash search` and `softhash serve` find it there")
    return str(location)


def find_index(given: str | None, option: str = "-i ") -> str:
    """Return the location of the index that is meant; where none is given, the only one kept.

    Args:
        given: a location, or the name of a kept index.
        option: what stands before an index on the command line.

    Raises:
        UsageError: none is given, and none is kept, or several are.

    """
    kept = {path.name: str(path) for path in _folders()}
    if given is not None:
        return given if _is_location(given) else kept.get(given, given)
    if len(kept) == 1:
        return next(iter(kept.values()))
    if kept:
        names = ", ".join(kept)
        raise UsageError(
            f"{len(kept)} indexes are kept, and none was named: {names}",
            f"give one of them, as {option}{next(iter(kept))}; `softhash list indexes` has more",
        )
    raise UsageError(
        "no index was named, and none is kept",
        f"make one with softhash index FOLDER, or give {option}INDEX",
    )


def kept_indexes() -> dict[str, KeptIndex]:
    """Describe the kept indexes by name; of one that cannot be opened, print why."""
    found = {}
    for path in _folders():
        try:
            found[path.name] = _describe(path)
        except SofthashError as error:
            warn(str(error))
    return found


def _describe(location: Path) -> KeptIndex:
    from softhash.index import HammingIndex

    with HammingIndex.open(location) as index:
        root = index.store.meta.root
        return {"index": str(location), "pictures": root, "items": len(index), "bits": index.bits}


def _folders() -> list[Path]:
    folder = data_folder() / INDEXES
    return sorted(path.parent for path in folder.glob(f"[!.]*/{MARK}"))


def _prepare() -> Path:
    """Make the folder of indexes, for its user alone."""
    folder = data_folder() / INDEXES
    try:
        data_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make {folder}: {error.strerror or error}", "name another place with -o INDEX"
        ) from error
    return folder


def _name(images: str) -> str:
    """Name an index after its collection: a folder, or the folder of a table.

    >>> _name("/photos/Italy 2024/"), _name("scenes"), _name("/")
    ('Italy 2024', 'scenes', 'pictures')
    """
    path = Path(images).resolve()
    return (path.parent if path.is_file() else path).name.lstrip(".") or UNNAMED


def _is_location(given: str) -> bool:
    """Return whether it says where an index is, and is not the name of a kept one."""
    return "://" in given or (Path(given) / MARK).exists()
