"""Changes of a local index; each call is one transaction."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np

from softhash.codes import Codes, check_packed
from softhash.errors import InputError, UnknownItemError
from softhash.index.items import Entry, Item
from softhash.index.local import _facts, _likely
from softhash.index.local._columns import Ids
from softhash.index.local._derived import forget
from softhash.index.local._items import REPLACE, fetch, find_name
from softhash.index.local._rows import decode_item, encode_row
from softhash.index.local._transactions import Session


class Writer:
    """Adds, replaces, revises and removes items."""

    def __init__(self, folder: Path, bits: int) -> None:
        self._bits = bits
        self._session = Session(folder, bits)

    def close(self) -> None:
        """Release the lock; may be called twice."""
        self._session.close()

    def set_root(self, root: str) -> None:
        """Change the folder that file names are relative to."""
        with self._session.transaction():
            self._session.state = self._session.state._replace(root=root)

    def add(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add new items; raise InputError for a name that is in the index, or occurs twice."""
        codes = self._checked(codes, entries)
        names = {entry.file_name for entry in entries}
        if len(names) < len(entries):
            raise InputError(
                f"{len(entries) - len(names):,} file names occur twice, such as "
                f"{_repeated(entries)}",
                "give every item a name of its own",
            )
        if not entries:
            return []
        with self._session.transaction() as connection:
            try:
                return self._session.append(codes, entries)
            except sqlite3.IntegrityError as error:
                for entry in entries:
                    if self._find(connection, entry) is not None:
                        raise InputError(
                            f"{entry.file_name} is in the index already", "use upsert to replace it"
                        ) from None
                raise sqlite3.DatabaseError(f"new items do not fit in: {error}") from error

    def names_later(self) -> AbstractContextManager[None]:
        """Index names at the end of what is done within; nothing for an index that has items."""
        return nullcontext() if self._session.state.items else self._session.names_later()

    def upsert(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add items, or replace those whose file names are there."""
        codes = self._checked(codes, entries)
        last = {entry.file_name: i for i, entry in enumerate(entries)}
        if not entries:
            return []
        with self._session.transaction() as connection:
            ids = {name: self._find(connection, entries[i]) for name, i in last.items()}
            known = {id: last[name] for name, id in ids.items() if id is not None}
            new = [last[name] for name, id in ids.items() if id is None]
            old = self._items(connection, list(known))
            self._replace(
                old, [Item(id, entries[i], codes[i].tobytes()) for id, i in known.items()]
            )
            added = self._session.append(codes[new], [entries[i] for i in new]) if new else []
        ids |= {entries[i].file_name: id for i, id in zip(new, added, strict=True)}
        return [ids[entry.file_name] for entry in entries]  # type: ignore[misc]

    def revise(self, entries: Mapping[int, Entry]) -> None:
        """Replace entries; names may be swapped among them."""
        if not entries:
            return
        with self._session.transaction() as connection:
            old = {item.id: item for item in self._items(connection, list(entries))}
            for id in entries:
                if id not in old:
                    raise UnknownItemError(f"no item has the id {id}", "nothing was changed")
            # names may be swapped: meanwhile an item's name is its id, which is not text
            connection.executemany(
                "UPDATE items SET file_name = id WHERE id = ?", ((id,) for id in entries)
            )
            try:
                new = [Item(id, entry, old[id].code) for id, entry in entries.items()]
                self._replace(list(old.values()), new)
            except sqlite3.IntegrityError as error:
                raise InputError(
                    "a new file name is another item's, or twice among them", "nothing was changed"
                ) from error

    def remove(self, ids: Sequence[int]) -> int:
        """Remove items, and return how many were there."""
        with self._session.transaction() as connection:
            gone = self._items(connection, list(map(int, ids)))
            connection.executemany("DELETE FROM items WHERE id = ?", ((item.id,) for item in gone))
            if gone:
                self._session.edited(gone, [])
        return len(gone)

    def _items(self, connection: sqlite3.Connection, ids: Sequence[int]) -> list[Item]:
        """Return those of some items that are there, as they are before a change."""
        return list(map(decode_item, fetch(connection, self._session.state.version, ids).values()))

    def _find(self, connection: sqlite3.Connection, entry: Entry) -> int | None:
        return find_name(connection, self._session.state.version, entry.file_name)

    def _replace(self, old: Sequence[Item], new: Sequence[Item]) -> None:
        if new:
            before = {item.id: item.entry.sha256 for item in old}
            changed = [item.id for item in new if item.entry.sha256 != before[item.id]]
            self._forget(np.array(sorted(changed), np.int64))
            each = (encode_row(*item) for item in new)
            self._session.connection.executemany(REPLACE, ((*row[1:], row[0]) for row in each))
            self._session.edited(old, new)

    def _forget(self, ids: Ids) -> None:
        """Clear what filters would read of items whose content is about to change."""
        for kind, record in (("likely", _likely.RECORD), ("facts", _facts.RECORD)):
            forget(self._session.folder.glob(f"{kind}-*.bin"), record, ids)

    def _checked(self, codes: Codes, entries: Sequence[Entry]) -> Codes:
        codes = check_packed(np.asarray(codes), self._bits)
        if len(codes) != len(entries):
            raise InputError(
                f"{len(codes):,} codes came with {len(entries):,} entries", "give one each"
            )
        return codes


def _repeated(entries: Sequence[Entry]) -> str:
    seen: set[str] = set()
    for entry in entries:
        if entry.file_name in seen:
            break
        seen.add(entry.file_name)
    return entry.file_name
