"""The index of names in items.sqlite, which is not there while many items are added at once.

Names in random order touch a page each of that index, and write it twice; sorted in the end, each
page is written once. Without the index names are found too, by reading all rows.
"""

import sqlite3

_CREATE = "CREATE UNIQUE INDEX names ON items (file_name)"  # as `SCHEMA` has it
_DROP = "DROP INDEX IF EXISTS names"


def are_indexed(connection: sqlite3.Connection) -> bool:
    """Return whether names are indexed; in older indexes the table itself sees to that."""
    query = """SELECT 1 FROM pragma_index_list('items') WHERE "unique" """
    return connection.execute(query).fetchone() is not None


def drop_index(connection: sqlite3.Connection) -> bool:
    """Drop the index of names, and return whether it is gone: not where the table itself has it."""
    connection.execute(_DROP)
    return not are_indexed(connection)


def create_index(connection: sqlite3.Connection) -> None:
    """Index the names; raise DatabaseError where two items have one."""
    try:
        connection.execute(_CREATE)
    except sqlite3.IntegrityError as error:
        raise sqlite3.DatabaseError("two items have the same name") from error
