"""Ids of files: an id is a hash of the first name, and stays when the name changes."""

import hashlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from softhash.index.milvus._collection import IDS, Collection
from softhash.index.milvus._expressions import one_of

CHUNK = 5_000  # names or ids in one query
MAX_RECENT = 20_000

Value = TypeVar("Value", str, int)


def first_id(file_name: str) -> int:
    """Return the id that a name gets, unless another item has it.

    >>> first_id("a.jpg"), first_id("b.jpg")
    (7614419771573178, 4973728228463698)
    """
    return int.from_bytes(hashlib.sha256(file_name.encode()).digest()[:8], "big") % IDS


def chunks(values: Sequence[Value]) -> Iterator[Sequence[Value]]:
    """Split names or ids into parts that fit into one query."""
    return (values[start : start + CHUNK] for start in range(0, len(values), CHUNK))


def choose_ids(
    file_names: Sequence[str], taken: Callable[[Iterable[int]], Container[int]]
) -> dict[str, int]:
    """Give each new name an id: its own, or the next that is free.

    >>> choose_ids(["a.jpg"], taken=lambda ids: {first_id("a.jpg")})["a.jpg"] - first_id("a.jpg")
    1
    """
    ids: dict[str, int] = {}
    given: set[int] = set()
    left = {name: first_id(name) for name in file_names}
    while left:
        occupied = taken(left.values())
        for name, id in list(left.items()):
            if id in occupied or id in given:
                left[name] = (id + 1) % IDS
            else:
                ids[name] = id
                given.add(id)
                del left[name]
    return ids


class Names:
    """Ids by name and names by id, as the writing process sees them.

    It caches what this process wrote since its last Strong read, so that a batch of new pictures
    need not wait until the one before it is visible.
    """

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._recent: dict[int, str | None] = {}  # None: removed
        self._complete = True  # whether `_recent` holds everything that was written

    def ids(self, file_names: Sequence[str]) -> dict[str, int]:
        """Look up ids by name; names that are not there are left out."""
        found = self._ask("file_name", file_names)
        known = {name: id for id, name in found.items() if id not in self._recent}
        wanted = set(file_names)
        for id, name in self._recent.items():
            if name is not None and name in wanted:
                known[name] = id
        return known

    def at(self, ids: Iterable[int]) -> dict[int, str]:
        """Look up names by id; ids that no item has are left out."""
        wanted = [id for id in dict.fromkeys(ids) if 0 <= id < IDS]
        found = self._ask("id", [id for id in wanted if id not in self._recent])
        recent = {id: self._recent[id] for id in wanted if id in self._recent}
        return found | {id: name for id, name in recent.items() if name is not None}

    def wrote(self, names: Mapping[int, str | None]) -> None:
        """Cache what was just written; None stands for a removal."""
        self._recent.update(names)
        if len(self._recent) > MAX_RECENT:
            self._collection.count()  # after a write this is a Strong read: all of it is visible
            self._recent.clear()

    def forget(self) -> None:
        """Drop the cache after a write that may have succeeded in part."""
        self._recent.clear()
        self._complete = False

    def _ask(self, field: str, values: Sequence[Value]) -> dict[int, str]:
        found: dict[int, str] = {}
        for part in chunks(values):
            rows = self._collection.query(
                one_of(field, part), ["id", "file_name"], old=self._complete
            )
            found |= {int(row["id"]): str(row["file_name"]) for row in rows}
            self._complete = True
        return found
