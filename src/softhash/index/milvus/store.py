"""Codes and items in a Milvus collection: `milvus://host:port/collection`.

Codes are binary vectors under the Hamming metric with an exact index (BIN_FLAT); entries are
scalar fields of the same rows. What never changes (format, bits, model) is in the collection's
description, what may change (root, time of the last change) in its properties. It works with
servers from version 2.3 on. `_collection` documents consistency, `_lock` who may write.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from softhash.codes import Codes, check_packed, row_bytes
from softhash.errors import InputError, UnknownItemError, UsageError
from softhash.files import cache_folder
from softhash.index.items import Entry, Item, Near
from softhash.index.milvus import _rows
from softhash.index.milvus._address import Address
from softhash.index.milvus._checks import problems
from softhash.index.milvus._collection import IDS, WALK_ROWS, Collection
from softhash.index.milvus._expressions import labelled, one_of, quoted
from softhash.index.milvus._lock import WriteLock
from softhash.index.milvus._names import chunks
from softhash.index.milvus._ranking import check_window, rank
from softhash.index.milvus._writer import Writer
from softhash.index.store import Meta
from softhash.index.where import EVERYTHING, Folder, Where, leaves

__all__ = ["MilvusStore"]


class MilvusStore:
    """A `Store` on a Milvus collection. Open it with `create` or `open`.

    An id is a hash of the name that a file had when it was added, below 2^53.
    """

    def __init__(self, collection: Collection, meta: Meta, lock: WriteLock | None) -> None:
        self._collection = collection
        self._meta = meta
        self._writer = Writer(collection, lock, meta.bits) if lock is not None else None
        self._labels: tuple[int, dict[str, int]] = (-1, {})
        self._folders: tuple[int, frozenset[str]] = (-1, frozenset())

    @classmethod
    def create(cls, location: str, meta: Meta) -> Self:
        """Make an empty collection, open for writing; raise InputError when it is there."""
        with _opening(location, writable=True) as (collection, lock):
            if collection.exists():
                raise InputError(
                    f"{collection.address} exists",
                    "open it, or give the name of another collection",
                )
            collection.create(meta)
            store = cls(collection, meta, lock)
            store.set_root(meta.root)
            return store

    @classmethod
    def open(cls, location: str, *, writable: bool = False) -> Self:
        """Open a collection that `create` made."""
        with _opening(location, writable=writable) as (collection, lock):
            address = collection.address
            if not collection.exists():
                raise InputError(
                    f"the Milvus at {address.server} has no collection {address.collection}",
                    "make it first, by indexing pictures into it",
                )
            return cls(collection, collection.load(), lock)

    @property
    def location(self) -> str:
        """The address; a password is left out."""
        return str(self._collection.address)

    @property
    def meta(self) -> Meta:
        """Bits, model and root."""
        return self._meta

    @property
    def model_folder(self) -> Path:
        """Where this machine keeps the model: the user's cache, by the SHA-256 of its weights."""
        return cache_folder() / "models" / (self._meta.model or "unknown")

    @property
    def version(self) -> int:
        """When the contents last changed, in microseconds; reads that follow see that change.

        Only changes that softhash made count.
        """
        return self._collection.changed()

    def set_root(self, root: str) -> None:
        """Change the folder that file names are relative to."""
        with self._writing().changing():
            self._collection.set_property(_rows.ROOT, root)
            self._meta = replace(self._meta, root=root)

    def __len__(self) -> int:
        return self._collection.count()

    def add(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add new items, all or none: what a failed call wrote is deleted."""
        return self._writing().add(codes, entries)

    def upsert(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add items, or replace code and entry of those whose name is there, by the same id."""
        return self._writing().upsert(codes, entries)

    def revise(self, entries: Mapping[int, Entry]) -> None:
        """Replace entries by id; codes stay."""
        self._writing().revise(entries, self.get)

    def remove(self, ids: Sequence[int]) -> int:
        """Remove items, and return how many were there."""
        return self._writing().remove(ids)

    def get(self, ids: Sequence[int]) -> list[Item]:
        """Fetch items in the order asked for; raise UnknownItemError for one that is not there."""
        return [_rows.decode_item(row) for row in self._rows(ids, _rows.ITEM_FIELDS)]

    def codes(self, ids: Sequence[int]) -> Codes:
        """Fetch codes alone, in the order asked for; raise UnknownItemError as `get` does."""
        found = b"".join(_rows.decode_code(row) for row in self._rows(ids, ["id", "code"]))
        return np.frombuffer(found, np.uint8).reshape(-1, row_bytes(self._meta.bits))

    def _rows(self, ids: Sequence[int], fields: Sequence[str]) -> list[dict[str, Any]]:
        found: dict[int, dict[str, Any]] = {}
        for part in chunks([id for id in dict.fromkeys(ids) if 0 <= id < IDS]):
            rows = self._collection.query(one_of("id", part), fields)
            found |= {row["id"]: row for row in rows}
        missing = [id for id in ids if id not in found]
        if missing:
            raise UnknownItemError(f"no item of {self.location} has the id {missing[0]}")
        return [found[id] for id in ids]

    def find_names(self, file_names: Sequence[str]) -> dict[str, int]:
        """Look up ids by file name; names that are not there are left out."""
        found: dict[str, int] = {}
        for part in chunks([name for name in dict.fromkeys(file_names) if _rows.is_unicode(name)]):
            rows = self._collection.query(one_of("file_name", part), ["id", "file_name"])
            found |= {row["file_name"]: row["id"] for row in rows}
        return {name: found[name] for name in file_names if name in found}

    def find_content(self, sha256: str) -> int | None:
        """Look up the lowest id of a file with that content."""
        rows = self._collection.query(f"sha256 == {quoted(sha256)}", ["id"])
        return min((int(row["id"]) for row in rows), default=None)

    def search(
        self,
        codes: Codes,
        k: int,
        *,
        offset: int = 0,
        radius: int | None = None,
        where: Where = EVERYTHING,
    ) -> list[list[Near]]:
        """Rank items by (distance, id) for each code, and return the k after `offset`.

        Milvus ranks 16,384 items at most. Where more items than are asked for, and 64 to spare,
        are at the last distance, a second search of that query finds those of the lowest ids.
        """
        check_packed(codes, self._meta.bits, "queries")
        check_window(k, offset)
        if k < 1 or not len(codes) or (radius is not None and radius < 0):
            return [[] for _ in codes]
        queries = [code.tobytes() for code in codes]
        ranked = rank(self._collection, queries, offset + k, radius, self._expression(where))
        return [near[offset:] for near in ranked]

    def items(
        self, *, after: int = -1, limit: int = 100, offset: int = 0, where: Where = EVERYTHING
    ) -> list[Item]:
        """Return up to `limit` items with ids above `after`, in id order.

        A filter that few items pass takes several queries, each over four times as many ids.
        """
        if limit < 1:
            return []
        last = offset + limit
        size = min(last + last // 4 + 8, WALK_ROWS)
        rows = self._collection.walk(
            _rows.ITEM_FIELDS, after=after, expression=self._expression(where), size=size
        )
        return [_rows.decode_item(row) for row in islice(rows, offset, last)]

    def count(self, *filters: Where) -> list[int]:
        """Count the items that each of these filters keeps, by one query for each."""
        return [self._collection.count(self._expression(where)) for where in filters]

    def scan(self) -> Iterator[tuple[int, Entry]]:
        """Iterate over all entries in id order, in bounded memory."""
        rows = self._collection.walk(_rows.ENTRY_FIELDS)
        return ((row["id"], _rows.decode_entry(row)) for row in rows)

    def labels(self) -> dict[str, int]:
        """Count the items of every label that some item has, sorted by name.

        Milvus cannot count by label, so every item's labels are fetched, some 40,000 per second.
        The answer is cached until the contents change.
        """
        version = self.version
        if self._labels[0] != version:
            rows = self._collection.walk(["labels"])
            counts = Counter(label for row in rows for label in set(row["labels"]))
            self._labels = version, dict(sorted(counts.items()))
        return dict(self._labels[1])

    def _expression(self, where: Where) -> str:
        """Write a filter; for one by folders, all file names are fetched as `labels` does it."""
        if not any(isinstance(leaf, Folder) for leaf, _ in leaves(where)):
            return labelled(where)
        version = self.version
        if self._folders[0] != version:
            rows = self._collection.walk(["file_name"])
            found = frozenset(row["file_name"].rpartition("/")[0] for row in rows)
            self._folders = version, found
        return labelled(where, self._folders[1])

    def verify(self, progress: Callable[[int, int], None] | None = None) -> list[str]:
        """Check fields, index and every row, and return one line for each problem."""
        return problems(self._collection, self._meta.bits, progress)

    def close(self) -> None:
        """Close the connection and release the lock; may be called twice."""
        self._collection.close()
        if self._writer is not None:
            self._writer.close()

    def _writing(self) -> Writer:
        if self._writer is None:
            raise UsageError(
                f"{self.location} was opened for reading", "open it with writable=True"
            )
        return self._writer


@contextmanager
def _opening(location: str, *, writable: bool) -> Iterator[tuple[Collection, WriteLock | None]]:
    """Connect, and lock where it is to be written to; release both when what follows fails."""
    collection = Collection.connect(Address.parse(location))
    lock = None
    try:
        lock = WriteLock(collection.address) if writable else None
        yield collection, lock
    except BaseException:
        collection.close()
        if lock is not None:
            lock.release()
        raise
