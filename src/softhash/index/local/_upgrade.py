"""An index of an earlier format becomes one of today's when it is opened for writing."""

import logging
import sqlite3
from pathlib import Path

from softhash.index.local import _layout
from softhash.index.local._database import read_labels, read_state, write_labels, write_state
from softhash.index.local._expected import write_sums

STATEMENTS = (
    "ALTER TABLE items ADD COLUMN uploaded INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE labels ADD COLUMN crc32 INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE state ADD COLUMN labels INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE state ADD COLUMN crc32 INTEGER NOT NULL DEFAULT 0",
    "CREATE TABLE blocks "
    "(number INTEGER PRIMARY KEY, codes INTEGER NOT NULL, labels INTEGER NOT NULL)",
)

_log = logging.getLogger("softhash")


def upgrade(folder: Path, connection: sqlite3.Connection) -> None:
    """Bring the database to today's format in one transaction, then note it in index.json.

    A crash in between leaves a database that says itself what it is; the note is made up for.
    """
    state = read_state(connection)
    if state.version == 1:
        _log.info("%s is of format version 1, and becomes one of version 2", folder)
        connection.execute("BEGIN IMMEDIATE")
        try:
            _to_version_2(connection)
            connection.execute("COMMIT")
        except BaseException:
            connection.rollback()
            raise
    if _layout.read_about(folder).version < _layout.VERSION:
        _layout.write_about(folder, state.bits)


def _to_version_2(connection: sqlite3.Connection) -> None:
    state = read_state(connection)
    numbers = read_labels(connection, state)
    for statement in STATEMENTS:
        connection.execute(statement)
    write_labels(connection, numbers)
    write_sums(connection, state, numbers)
    write_state(connection, state)
