"""Folders of the pictures, and the items in each."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from softhash.index import Item
from softhash.index.described import describe_items
from softhash.index.store import Store
from softhash.index.where import Described, Where

MAX_FOLDERS = 5_000  # folders in one answer
READ_AT_ONCE = 500  # items
MAX_READ = 20_000  # items that are looked at for one page

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Folders:
    """The ids of the items directly in each folder, in id order; folders by name."""

    ids: dict[str, Ids]

    @classmethod
    def read(cls, store: Store) -> "Folders":
        """Read the names of all items of an index."""
        found = defaultdict(list)
        for id, entry in store.scan():
            found[entry.file_name.rpartition("/")[0]].append(id)
        return cls({name: np.array(found[name], np.int64) for name in sorted(found)})

    def counts(self) -> list[dict[str, Any]]:
        """Count the items of every folder, with those of the folders in it.

        >>> Folders({"": np.array([1]), "a/b": np.array([2, 3])}).counts()
        [{'name': '', 'items': 1}, {'name': 'a', 'items': 2}, {'name': 'a/b', 'items': 2}]
        """
        counts: dict[str, int] = defaultdict(int)
        for name, ids in self.ids.items():
            counts[name] += len(ids)
            while "/" in name:
                name = name.rpartition("/")[0]
                counts[name] += len(ids)
        names = sorted(counts)[:MAX_FOLDERS]
        return [{"name": name, "items": counts[name]} for name in names]

    def within(self, folder: str) -> Ids:
        """Return the ids in a folder and in those in it; "" has the items in no folder."""
        below = f"{folder}/"
        inside = [
            ids
            for name, ids in self.ids.items()
            if name == folder or (folder and name.startswith(below))
        ]
        return np.sort(np.concatenate([np.empty(0, np.int64), *inside]))


def read_page(
    store: Store, ids: Ids, after: int, limit: int, where: Where
) -> tuple[list[Item], int | None]:
    """Read the next items, and the id to go on after; there may be fewer than the limit.

    Args:
        store: of the index.
        ids: of the items that may come, in order.
        after: the id before the first.
        limit: how many to return at most.
        where: the items that count.

    """
    rest = ids[np.searchsorted(ids, after, "right") :]
    found: list[Item] = []
    for item, described in _read(store, rest[:MAX_READ]):
        if where.keeps(described):
            if len(found) == limit:
                return found, found[-1].id
            found.append(item)
    return found, int(rest[MAX_READ - 1]) if len(rest) > MAX_READ else None


def _read(store: Store, ids: Ids) -> Iterator[tuple[Item, Described]]:
    """Read items, with what filters look at."""
    for start in range(0, len(ids), READ_AT_ONCE):
        items = store.get(ids[start : start + READ_AT_ONCE].tolist())
        yield from zip(items, describe_items(store, items), strict=True)
