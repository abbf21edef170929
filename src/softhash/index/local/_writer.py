"""Changes of a local index; each call is one transaction."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from softhash.codes import Codes, check_packed
from softhash.errors import InputError, UnknownItemError
from softhash.index.items import Entry
from softhash.index.local._rows import encode_row, encode_text
from softhash.index.local._transactions import Session

_REPLACE = (
    "UPDATE items SET file_name = ?, labels = ?, size = ?, modified = ?, sha256 = ?, code = ?, "
    "crc32 = ? WHERE id = ?"
)


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
            except sqlite3.IntegrityError:
                known = [entry.file_name for entry in entries if _find(connection, entry)]
                raise InputError(
                    f"{known[0]} is in the index already", "use upsert to replace it"
                ) from None

    def upsert(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add items, or replace those whose file names are there."""
        codes = self._checked(codes, entries)
        last = {entry.file_name: i for i, entry in enumerate(entries)}
        if not entries:
            return []
        with self._session.transaction() as connection:
            ids = {name: _find(connection, entries[i]) for name, i in last.items()}
            known = {id: last[name] for name, id in ids.items() if id is not None}
            new = [last[name] for name, id in ids.items() if id is None]
            self._replace({id: (entries[i], codes[i].tobytes()) for id, i in known.items()})
            added = self._session.append(codes[new], [entries[i] for i in new]) if new else []
        ids |= {entries[i].file_name: id for i, id in zip(new, added, strict=True)}
        return [ids[entry.file_name] for entry in entries]  # type: ignore[misc]

    def revise(self, entries: Mapping[int, Entry]) -> None:
        """Replace entries; names may be swapped among them."""
        if not entries:
            return
        with self._session.transaction() as connection:
            rows = {}
            for id, entry in entries.items():
                row = connection.execute("SELECT code FROM items WHERE id = ?", (id,)).fetchone()
                if row is None:
                    raise UnknownItemError(f"no item has the id {id}", "nothing was changed")
                rows[id] = entry, row[0]
            # names may be swapped: meanwhile an item's name is its id, which is not text
            connection.executemany(
                "UPDATE items SET file_name = id WHERE id = ?", ((id,) for id in rows)
            )
            try:
                self._replace(rows)
            except sqlite3.IntegrityError as error:
                raise InputError(
                    "a new file name is another item's, or twice among them", "nothing was changed"
                ) from error

    def remove(self, ids: Sequence[int]) -> int:
        """Remove items, and return how many were there."""
        gone = []
        with self._session.transaction() as connection:
            for id in dict.fromkeys(map(int, ids)):
                if connection.execute("DELETE FROM items WHERE id = ?", (id,)).rowcount:
                    gone.append(id)
            if gone:
                self._session.edited(gone, removed=len(gone))
        return len(gone)

    def _replace(self, rows: Mapping[int, tuple[Entry, bytes]]) -> None:
        if rows:
            each = (encode_row(id, entry, code) for id, (entry, code) in rows.items())
            self._session.connection.executemany(_REPLACE, ((*row[1:], row[0]) for row in each))
            self._session.edited(rows, [entry for entry, _ in rows.values()])

    def _checked(self, codes: Codes, entries: Sequence[Entry]) -> Codes:
        codes = check_packed(np.asarray(codes), self._bits)
        if len(codes) != len(entries):
            raise InputError(
                f"{len(codes):,} codes came with {len(entries):,} entries", "give one each"
            )
        return codes


def _find(connection: sqlite3.Connection, entry: Entry) -> int | None:
    found = connection.execute(
        "SELECT id FROM items WHERE file_name = ?", (encode_text(entry.file_name),)
    ).fetchone()
    return None if found is None else int(found[0])


def _repeated(entries: Sequence[Entry]) -> str:
    seen: set[str] = set()
    for entry in entries:
        if entry.file_name in seen:
            break
        seen.add(entry.file_name)
    return entry.file_name
