"""Rows of items read from items.sqlite: none is passed on that does not match its checksum."""

import sqlite3
from collections.abc import Iterable, Sequence

from softhash.index.local._rows import (
    Row,
    decode_content,
    decode_text,
    encode_content,
    encode_text,
    is_sound,
)

ASKED_AT_ONCE = 1000  # ids
COLUMNS = {  # in the order of `Row`, by format version
    1: "id, file_name, labels, size, modified, sha256, 0, code, crc32",
    2: "id, file_name, labels, size, modified, sha256, uploaded, code, crc32",
}
INSERT = (
    "INSERT INTO items (id, file_name, labels, size, modified, sha256, uploaded, code, crc32) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
REPLACE = (
    "UPDATE items SET file_name = ?, labels = ?, size = ?, modified = ?, sha256 = ?, "
    "uploaded = ?, code = ?, crc32 = ? WHERE id = ?"
)
_CONTENT = """
    WHERE substr(sha256, 1, 8) IN (?1, ?2) AND sha256 IN (?3, ?4) AND sha256 <> ''
    ORDER BY +id LIMIT 1
"""  # bytes, or text as in older rows; an older index has whole values


def fetch(connection: sqlite3.Connection, version: int, ids: Sequence[int]) -> dict[int, Row]:
    """Fetch the rows of those ids that are there.

    Args:
        connection: to items.sqlite.
        version: of its format.
        ids: of items.

    """
    query = _select(version, "WHERE id IN (SELECT value FROM json_each(?))")
    rows: dict[int, Row] = {}
    for first in range(0, len(ids), ASKED_AT_ONCE):
        asked = f"[{','.join(map(str, ids[first : first + ASKED_AT_ONCE]))}]"
        rows.update((row[0], row) for row in checked(connection.execute(query, (asked,))))
    return rows


def walk(connection: sqlite3.Connection, version: int, after: int, limit: int) -> list[Row]:
    """Fetch the first rows above an id, in id order.

    Args:
        connection: to items.sqlite.
        version: of its format.
        after: the id before the first.
        limit: how many to fetch.

    """
    query = _select(version, "WHERE id > ? ORDER BY id LIMIT ?")
    rows = checked(connection.execute(query, (after, limit)))
    for row in rows:
        if row[0] <= after:
            raise sqlite3.DatabaseError(f"item {row[0]} is not in its place")
        after = row[0]
    return rows


def span(connection: sqlite3.Connection, version: int, first: int, stop: int) -> list[Row]:
    """Fetch the rows of a range of ids, unchecked.

    Args:
        connection: to items.sqlite.
        version: of its format.
        first: the first id.
        stop: the id after the last.

    """
    query = _select(version, "WHERE id >= ? AND id < ?")
    return connection.execute(query, (first, stop)).fetchall()


def find_name(connection: sqlite3.Connection, version: int, name: str) -> int | None:
    """Look up the id of a file name.

    Args:
        connection: to items.sqlite.
        version: of its format.
        name: relative to the index's root.

    """
    query = _select(version, "WHERE file_name = ?")
    for row in checked(connection.execute(query, (encode_text(name),))):
        if decode_text(row[1]) != name:
            raise sqlite3.DatabaseError(f"item {row[0]} is not in its place among the names")
        return row[0]
    return None


def find_content(connection: sqlite3.Connection, version: int, sha256: str) -> int | None:
    """Look up the lowest id of a file with some content.

    Args:
        connection: to items.sqlite.
        version: of its format.
        sha256: of the content, in hexadecimal.

    """
    query = _select(version, _CONTENT)
    kept = encode_content(sha256)
    for row in checked(connection.execute(query, (kept[:8], sha256[:8], kept, sha256))):
        if decode_content(row[5]) != sha256:
            raise sqlite3.DatabaseError(f"item {row[0]} is not in its place among the contents")
        return row[0]
    return None


def _select(version: int, where: str) -> str:
    return " ".join(("SELECT", COLUMNS[version], "FROM items", where))


def checked(rows: Iterable[Row]) -> list[Row]:
    """Return rows that match their checksums, or raise."""
    found = list(rows)
    for row in found:
        if not is_sound(row):
            raise sqlite3.DatabaseError(f"the row of item {row[0]} does not match its checksum")
    return found
