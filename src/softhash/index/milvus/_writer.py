"""Changes of a collection's items, by the one process that may write."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from softhash.codes import Codes, check_packed
from softhash.errors import InputError, SofthashError
from softhash.index.items import Entry, Item
from softhash.index.milvus import _rows
from softhash.index.milvus._collection import Collection
from softhash.index.milvus._lock import WriteLock
from softhash.index.milvus._names import Names, choose_ids


class Writer:
    """What `MilvusStore` does when it writes, one thread at a time."""

    def __init__(self, collection: Collection, lock: WriteLock, bits: int) -> None:
        self._collection = collection
        self._lock = lock
        self._bits = bits
        self._names = Names(collection)
        self._one_at_a_time = threading.RLock()

    def add(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add new items, and delete what was written when not all of it could be."""
        self._check(codes, entries)
        names = [entry.file_name for entry in entries]
        with self.changing():
            twice = [name for name, times in Counter(names).items() if times > 1]
            known = twice or list(self._names.ids(names))
            if known:
                raise InputError(
                    f"{known[0]} is in the index already, or twice in what is added",
                    "use upsert to replace it",
                )
            chosen = choose_ids(names, self._names.at)
            ids = [chosen[name] for name in names]
            try:
                self._collection.upsert(_rows.encode_rows(ids, codes, entries))
            except BaseException:
                with suppress(SofthashError):  # the server may be gone; the first error counts
                    self._collection.delete(ids)
                raise
            self._names.wrote(dict(zip(ids, names, strict=True)))
        return ids

    def upsert(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add items, or replace those whose names are there."""
        self._check(codes, entries)
        names = [entry.file_name for entry in entries]
        last = {name: position for position, name in enumerate(names)}
        with self.changing():
            ids = self._names.ids(list(last))
            ids |= choose_ids([name for name in last if name not in ids], self._names.at)
            chosen = [ids[name] for name in last]
            kept = [entries[position] for position in last.values()]
            self._collection.upsert(_rows.encode_rows(chosen, codes[list(last.values())], kept))
            self._names.wrote(dict(zip(chosen, last, strict=True)))
        return [ids[name] for name in names]

    def revise(
        self, entries: Mapping[int, Entry], get: Callable[[Sequence[int]], list[Item]]
    ) -> None:
        """Replace entries by id; `get` fetches their codes."""
        _rows.check_entries(list(entries.values()))
        names = {id: entry.file_name for id, entry in entries.items()}
        with self.changing():
            codes = [item.code for item in get(list(entries))]
            others = self._names.ids(list(names.values()))
            taken = [name for name, id in others.items() if id not in entries]
            taken += [name for name, times in Counter(names.values()).items() if times > 1]
            if taken:
                raise InputError(f"two items would have the name {taken[0]}", "each needs its own")
            pairs = zip(entries.items(), codes, strict=True)
            self._collection.upsert(
                [_rows.encode_row(id, code, entry) for (id, entry), code in pairs]
            )
            self._names.wrote(names)

    def remove(self, ids: Sequence[int]) -> int:
        """Remove items, and return how many were there."""
        with self.changing():
            there = list(self._names.at(ids))
            self._collection.delete(there)
            self._names.wrote(dict.fromkeys(there))
        return len(there)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Let one thread write, and store the time of the change afterwards."""
        with self._one_at_a_time:
            writes = self._collection.writes
            try:
                yield
            except BaseException:
                if self._collection.writes > writes:  # some of it may have been written
                    self._names.forget()
                    with suppress(SofthashError):
                        self._collection.mark_changed()
                raise
            self._collection.mark_changed()

    def close(self) -> None:
        """Release the lock."""
        self._lock.release()

    def _check(self, codes: Codes, entries: Sequence[Entry]) -> None:
        check_packed(codes, self._bits)
        if len(codes) != len(entries):
            raise InputError(f"{len(codes):,} codes came with {len(entries):,} entries")
        _rows.check_entries(entries)
