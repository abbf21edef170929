"""items.sqlite: its tables, its connections, and its errors."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from softhash.errors import IndexBusyError, IndexDamagedError, InputError, SofthashError, UsageError
from softhash.index.local._rows import decode_text, encode_text
from softhash.index.store import Meta

ITEMS = "items.sqlite"
BUSY_SECONDS = 30.0  # readers and the writer wait for each other only around opening and closing
CACHE = -131_072  # KiB for the writer: random file names touch pages all over the index of names
WAL_PAGES = 16_384  # 64 MiB between checkpoints

# A file name or label is text, or bytes where UTF-8 cannot represent it. `pending` lists items with
# records in the .bin files that are older than their rows in `items` (no row: it was removed).
SCHEMA = """
CREATE TABLE state (
    bits INTEGER NOT NULL, model TEXT NOT NULL, root NOT NULL, change INTEGER NOT NULL,
    edits INTEGER NOT NULL, items INTEGER NOT NULL, slots INTEGER NOT NULL,
    label_words INTEGER NOT NULL
);
CREATE TABLE items (
    id INTEGER PRIMARY KEY, file_name NOT NULL UNIQUE, labels TEXT NOT NULL, size INTEGER NOT NULL,
    modified INTEGER NOT NULL, sha256 TEXT NOT NULL, code BLOB NOT NULL, crc32 INTEGER NOT NULL
);
CREATE INDEX content ON items (sha256) WHERE sha256 <> '';
CREATE TABLE labels (number INTEGER PRIMARY KEY, name NOT NULL UNIQUE);
CREATE TABLE pending (id INTEGER PRIMARY KEY);
"""


class State(NamedTuple):
    """The one row of `state`.

    Attributes:
        bits, model, root: as in `Meta`.
        change: grows with everything that is written.
        edits: grows when slots change in place: items replaced, revised or removed.
        items: how many there are.
        slots: how many records the .bin files have; an id is a slot, and is never used twice.
        label_words: 64-bit words in a record of labels.

    """

    bits: int
    model: str
    root: str
    change: int
    edits: int
    items: int
    slots: int
    label_words: int


def create_database(folder: Path, meta: Meta) -> None:
    """Write the tables of an empty index."""
    with closing(sqlite3.connect(folder / ITEMS, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA)
        connection.execute(
            "INSERT INTO state VALUES (?, ?, ?, 0, 0, 0, 0, 1)",
            (meta.bits, meta.model, encode_text(meta.root)),
        )


def connect_to_write(folder: Path) -> sqlite3.Connection:
    """Open the database so that what is committed is on disk."""
    connection = _connect(folder, "mode=rw")
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA cache_size = {CACHE}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(folder: Path) -> tuple[sqlite3.Connection, bool]:
    """Open the database for reading, and return whether it is treated as immutable.

    Following a writer takes a small file of shared memory beside the database. Where it cannot be
    created, the folder is read-only, so nothing changes as long as the -wal is empty.
    """
    connection = _connect(folder, "mode=ro")
    try:
        read_state(connection)
        return connection, False
    except sqlite3.OperationalError as error:
        connection.close()
        unable = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not unable or log_size(folder):
            raise
    except BaseException:
        connection.close()
        raise
    return _connect(folder, "mode=ro&immutable=1"), True


def log_size(folder: Path) -> int:
    """Return the size in bytes of the -wal: what is committed but not yet in the database."""
    try:
        return (folder / f"{ITEMS}-wal").stat().st_size
    except OSError:
        return 0


def _connect(folder: Path, options: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{(folder / ITEMS).absolute().as_uri()}?{options}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )


def read_state(connection: sqlite3.Connection) -> State:
    """Read the one row of `state`."""
    rows = connection.execute("SELECT * FROM state").fetchall()
    if len(rows) != 1 or len(rows[0]) != len(State._fields):
        raise sqlite3.DatabaseError("the table state has not one row as it should")
    state = State(*rows[0])
    return state._replace(root=decode_text(state.root))


def read_labels(connection: sqlite3.Connection, after: int = 0) -> dict[str, int]:
    """Read the numbers of labels, or of those that came later."""
    rows = connection.execute("SELECT name, number FROM labels WHERE number > ?", (after,))
    return {decode_text(name): number for name, number in rows}


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn errors of SQLite into errors of softhash, which name the file and the way out."""
    try:
        yield
    except sqlite3.Error as error:
        raise explain(folder, error) from error


def explain(folder: Path, error: sqlite3.Error) -> SofthashError:
    """Choose the error that an error of SQLite becomes."""
    path = folder / ITEMS
    if isinstance(error, sqlite3.ProgrammingError):
        if "closed" in str(error):
            return UsageError(f"the index {folder} was closed", "open it again")
        return InputError(f"{path} does not take these values: {error}")
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return IndexBusyError(f"{path} is in use by another process", "try again")
    corrupt = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
    if code & 0xFF in corrupt or code == sqlite3.SQLITE_IOERR_SHORT_READ:
        return IndexDamagedError(
            f"{path} is damaged ({error})", "copy it from a backup, or make the index again"
        )
    return InputError(
        f"cannot work with {path}: {error}",
        "is the disk full, or the folder read-only? Everything that was confirmed is safe",
    )
