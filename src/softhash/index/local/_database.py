"""items.sqlite: its tables, its connections, and its errors."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from softhash.errors import IndexBusyError, IndexDamagedError, InputError, SofthashError, UsageError
from softhash.index.local._rows import decode_text, encode_text
from softhash.index.store import Meta

ITEMS = "items.sqlite"
BUSY_SECONDS = 30.0  # readers and the writer wait for each other only around opening and closing
NOT_CREATED = (  # errors where a file beside the database cannot be
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
)
CACHE = -131_072  # KiB for writing and verifying: file names are all over the index of names
PAGE = 4096  # bytes
WAL_PAGES = 65_536  # 256 MiB between checkpoints; sorting names takes more, which is given back

# A file name or label is text, or bytes where UTF-8 cannot represent it; a SHA-256 is bytes, in
# older rows text. `pending` lists items with records in the .bin files that are older than their
# rows in `items` (no row: it was removed). `blocks` has the sums of the .bin files, see `_sums`. In
# older indexes names are UNIQUE without an index `names`, and `content` has whole SHA-256.
SCHEMA = """
CREATE TABLE state (
    bits INTEGER NOT NULL, model TEXT NOT NULL, root NOT NULL, change INTEGER NOT NULL,
    edits INTEGER NOT NULL, items INTEGER NOT NULL, slots INTEGER NOT NULL,
    label_words INTEGER NOT NULL, labels INTEGER NOT NULL DEFAULT 0,
    crc32 INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE items (
    id INTEGER PRIMARY KEY, file_name NOT NULL, labels TEXT NOT NULL, size INTEGER NOT NULL,
    modified INTEGER NOT NULL, sha256 TEXT NOT NULL, code BLOB NOT NULL, crc32 INTEGER NOT NULL,
    uploaded INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX names ON items (file_name);
CREATE INDEX content ON items (substr(sha256, 1, 8)) WHERE sha256 <> '';
CREATE TABLE labels (
    number INTEGER PRIMARY KEY, name NOT NULL UNIQUE, crc32 INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE pending (id INTEGER PRIMARY KEY);
CREATE TABLE blocks (number INTEGER PRIMARY KEY, codes INTEGER NOT NULL, labels INTEGER NOT NULL);
"""
_LABELS = "SELECT number, name, crc32 FROM labels WHERE number > ? ORDER BY number"


class State(NamedTuple):
    """The one row of `state`.

    Attributes:
        bits, model, root: as in `Meta`.
        change: grows with everything that is written.
        edits: grows when slots change in place: items replaced, revised or removed.
        items: how many there are.
        slots: how many records the .bin files have; an id is a slot, and is never used twice.
        label_words: 64-bit words in a record of labels.
        labels: how many there are; their numbers are 1 to that.
        version: of the format, which `state` has a column more for each time it grew.

    """

    bits: int
    model: str
    root: str
    change: int
    edits: int
    items: int
    slots: int
    label_words: int
    labels: int = 0
    version: int = 2


def create_database(folder: Path, meta: Meta) -> None:
    """Write the tables of an empty index."""
    with closing(sqlite3.connect(folder / ITEMS, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA)
        connection.execute(
            "INSERT INTO state (bits, model, root, change, edits, items, slots, label_words) "
            "VALUES (?, ?, ?, 0, 0, 0, 0, 1)",
            (meta.bits, meta.model, encode_text(meta.root)),
        )
        write_state(connection, State(meta.bits, meta.model, meta.root, 0, 0, 0, 0, 1))


def connect_to_write(folder: Path) -> sqlite3.Connection:
    """Open the database so that what is committed is on disk."""
    connection = _connect(folder, "mode=rw")
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA cache_size = {CACHE}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {2 * WAL_PAGES * PAGE}")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(folder: Path) -> tuple[sqlite3.Connection, bool]:
    """Open the database for reading, and return whether it is treated as immutable.

    Following a writer takes a small file of shared memory beside the database. Where it cannot be
    created, the folder is read-only or the disk is full, and nobody writes: nothing changes as long
    as the -wal is empty.
    """
    connection = _connect(folder, "mode=ro")
    try:
        read_state(connection)
        return connection, False
    except sqlite3.OperationalError as error:
        connection.close()
        code = _error_code(error)
        if (code & 0xFF not in NOT_CREATED and code not in NOT_CREATED) or log_size(folder):
            raise
    except BaseException:
        connection.close()
        raise
    return _connect(folder, "mode=ro&immutable=1"), True


@contextmanager
def cached(connection: sqlite3.Connection) -> Iterator[None]:
    """Lend a reader the memory of a writer: every item is looked up in each index."""
    (before,) = connection.execute("PRAGMA cache_size").fetchone()
    connection.execute(f"PRAGMA cache_size = {CACHE}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA cache_size = {before}")


def _error_code(error: sqlite3.Error) -> int:
    """Return SQLite's number of an error; Python raises some itself, for text that is none."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)


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
    """Read the one row of `state`, and check it."""
    rows = connection.execute("SELECT * FROM state").fetchall()
    if len(rows) == 1 and len(rows[0]) == 8:
        (labels,) = connection.execute("SELECT count(*) FROM labels").fetchone()
        state = State._make((*rows[0], labels, 1))
    elif len(rows) == 1 and len(rows[0]) == 10 and rows[0][-1] == _checksum(rows[0][:-1]):
        state = State(*rows[0][:-1])
    else:
        raise sqlite3.DatabaseError("the table state is not one row that matches its checksum")
    state = state._replace(root=decode_text(state.root))
    if not _plausible(state):
        raise sqlite3.DatabaseError("the table state has values that cannot be")
    return state


def _plausible(state: State) -> bool:
    numbers = (state.bits, *state[3:])
    return (
        all(type(number) is int for number in numbers)
        and type(state.model) is str
        and 0 <= state.items <= state.slots
        and 0 <= state.labels // 64 < state.label_words
    )


def write_state(connection: sqlite3.Connection, state: State) -> None:
    """Write the one row of `state`, with its checksum."""
    row = state._replace(root=encode_text(state.root))[:-1]  # type: ignore[arg-type]
    connection.execute(
        "UPDATE state SET root = ?, change = ?, edits = ?, items = ?, slots = ?, label_words = ?, "
        "labels = ?, crc32 = ?",
        (*row[2:], _checksum(row)),
    )


def read_labels(connection: sqlite3.Connection, state: State, after: int = 0) -> dict[str, int]:
    """Read the numbers of labels, or of those that came after a number, and check them."""
    query = _LABELS if state.version > 1 else _LABELS.replace("crc32", "NULL")
    rows = connection.execute(query, (after,)).fetchall()
    sound = [row[0] for row in rows] == list(range(after + 1, state.labels + 1)) and all(
        kept is None or kept == _checksum((number, name)) for number, name, kept in rows
    )
    if not sound:
        raise sqlite3.DatabaseError("the table labels does not match its checksums")
    return {decode_text(name): number for number, name, _ in rows}


def write_labels(connection: sqlite3.Connection, numbers: Mapping[str, int]) -> None:
    """Add labels with their numbers, or replace them."""
    rows = ((number, encode_text(name)) for name, number in numbers.items())
    connection.executemany(
        "INSERT OR REPLACE INTO labels (number, name, crc32) VALUES (?, ?, ?)",
        ((*row, _checksum(row)) for row in rows),
    )


def _checksum(row: tuple[object, ...]) -> int:
    return crc32(repr(row).encode("utf-8", "surrogatepass"))


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn errors of SQLite into errors of softhash, which name the file and the way out."""
    try:
        yield
    except sqlite3.Error as error:
        raise explain(folder, error) from error
    except OverflowError as error:
        raise InputError(f"{folder / ITEMS} does not take these values: {error}") from error
    except UnicodeDecodeError as error:  # of a name in the schema, which SQLite quotes
        raise explain(folder, sqlite3.DatabaseError(str(error))) from error


def explain(folder: Path, error: sqlite3.Error) -> SofthashError:
    """Choose the error that an error of SQLite becomes."""
    path = folder / ITEMS
    if isinstance(error, sqlite3.ProgrammingError):
        if "closed" in str(error):
            return UsageError(f"the index {folder} was closed", "open it again")
        return InputError(f"{path} does not take these values: {error}")
    code = _error_code(error)
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
