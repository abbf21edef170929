"""The reading side of a local index: follows the writer, for any number of threads."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from softhash.codes import row_bytes
from softhash.errors import IndexDamagedError
from softhash.hamming.resident import ResidentCodes
from softhash.hamming.words import word_count
from softhash.index.local._columns import map_records
from softhash.index.local._database import (
    ITEMS,
    State,
    connect_to_read,
    explained,
    log_size,
    read_labels,
    read_state,
)
from softhash.index.local._described import KeptDescriptions
from softhash.index.local._first_words import FirstWords
from softhash.index.local._forks import ForkAware
from softhash.index.local._guard import Guard, Seen
from softhash.index.local._identity import Identity
from softhash.index.local._items import walk
from softhash.index.local._layout import CODES, INDEX, labels_file
from softhash.index.local._lock import check_confirmed, confirmed
from softhash.index.local._masks import Masks
from softhash.index.local._multi_index import KeptTables, TableSearch
from softhash.index.local._pending import read_pending
from softhash.index.local._rows import Row, decode_text
from softhash.index.local._snapshot import Guards, Snapshot
from softhash.index.local._sums import read_sums

WALKED_AT_ONCE = 4096  # items
ATTEMPTS = 5  # at an answer during which no record is changed in place

Result = TypeVar("Result")


class Reader(ForkAware):
    """One connection, behind a lock that is held for short queries only; never writes."""

    def __init__(self, folder: Path, bits: int) -> None:
        super().__init__()
        self._folder, self._bits = folder, bits
        self._code_words = word_count(row_bytes(bits))
        self._identity = Identity(folder)
        self._descriptions = KeptDescriptions(folder, self._names)
        self._tables = KeptTables(folder)
        self._model: str | None = None
        self._resident: ResidentCodes | None = None
        self._snapshot: Snapshot | None
        self._closed = False
        with self._lock:
            self._connect()
        try:
            at_least = confirmed(folder)
            check_confirmed(folder, self.snapshot().state.change, at_least)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; may be called twice."""
        with self._lock:
            self._closed = True
            self._connection.close()
            self._snapshot = None

    def search_on(self, device: str) -> None:
        """Keep the codes on a device from now on, which searches."""
        with self._lock:
            self._resident, self._snapshot = ResidentCodes(device), None

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection to one thread at a time."""
        with self._lock, explained(self._folder):
            if not self._closed:
                self._follow()
            yield self._connection

    def _follow(self) -> None:
        """Make sure that the connection is of this process, and to what is in the folder now."""
        if self._inherited:
            self._connect()
        if not self._immutable:
            self._identity.check_often()
        elif self._stamp != self._stamped():
            before = self._connection
            self._connect()
            before.close()

    @contextmanager
    def items(self) -> Iterator[tuple[sqlite3.Connection, int]]:
        """Lend the connection with the format's version, as the functions of `_items` take them."""
        with self.connection():
            version = self.snapshot().state.version
            yield self._connection, version

    def rows(self, after: int = -1) -> Iterator[Row]:
        """Iterate over the rows of items above an id, in id order and in bounded memory."""
        while True:
            with self.items() as items:
                rows = walk(*items, after, WALKED_AT_ONCE)
            yield from rows
            if len(rows) < WALKED_AT_ONCE:
                return
            after = rows[-1][0]

    def _names(self, after: int) -> Iterator[tuple[int, str]]:
        """Iterate over the ids and file names of items above an id, in id order."""
        return ((row[0], decode_text(row[1])) for row in self.rows(after))

    def steady(self, ask: Callable[[Snapshot], Result]) -> Result:
        """Compute an answer, again where records were changed in place meanwhile.

        After `ATTEMPTS`, the answer may mix records from before and after a change. Records that
        do not match their checksums are damaged only if nothing was changed meanwhile.
        """
        attempts = 0
        while True:
            snapshot = self.snapshot()
            try:
                answer = ask(snapshot)
            except IndexDamagedError:
                if self.snapshot().state.edits == snapshot.state.edits:
                    raise
                continue
            attempts += 1
            if attempts == ATTEMPTS or self.snapshot().state.edits == snapshot.state.edits:
                return answer

    def snapshot(self) -> Snapshot:
        """Return the contents as they are now."""
        with self.connection() as connection:
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            if self._snapshot is None or version != self._seen:
                self._snapshot = self._load(connection)
            return self._snapshot

    def _load(self, connection: sqlite3.Connection) -> Snapshot:
        connection.execute("BEGIN")
        try:
            state = read_state(connection)
            (seen,) = connection.execute("PRAGMA data_version").fetchone()
            if self._model is not None and (state.model, state.bits) != (self._model, self._bits):
                raise self._identity.replaced()
            if state.bits != self._bits:
                raise IndexDamagedError(
                    f"{self._folder / INDEX} is damaged: it has {self._bits} bits, but the items "
                    f"have {state.bits}",
                    "correct the number",
                )
            found = self._map(connection, state)
            self._check_identity()  # files are mapped by their names
            self._model, self._seen = state.model, seen
            return found
        except IndexDamagedError:  # a file that was replaced meanwhile by a wider one?
            self._check_identity()
            connection.rollback()
            if read_state(connection) != state:
                return self._load(connection)
            raise
        finally:
            if connection.in_transaction:
                connection.rollback()

    def _map(self, connection: sqlite3.Connection, state: State) -> Snapshot:
        last = self._snapshot
        numbers = {} if last is None else last.numbers
        later = read_labels(connection, state, len(numbers))
        numbers = {**numbers, **later} if later else numbers
        codes = map_records(self._folder / CODES, state.slots, self._code_words)
        path = self._folder / labels_file(state.label_words)
        labels = map_records(path, state.slots, state.label_words)
        pending = read_pending(connection, state, numbers)
        masks, first = Masks(labels.records), FirstWords(codes.records)
        settled = last is not None and not len(pending.ids) and not len(last.pending.ids)
        if settled and last is not None and last.state.edits == state.edits:
            masks, first = last.masks.grown(labels.records), last.first.grown(codes.records)
        sums = read_sums(connection, state.slots) if state.version > 1 else None
        guards = [
            Guard(file, None if sums is None else sums[:, column], self._checked[column])
            for column, file in enumerate((codes, labels))
        ]
        masks_of = masks, pending, Masks(pending.labels)
        tables = TableSearch(self._tables, codes.records, None if sums is None else sums[:, 0])
        known = state, numbers, codes.records, *masks_of
        looked = Guards(*guards), first, tables
        return Snapshot(*known, *looked, self._descriptions, resident=self._resident)

    def _stamped(self) -> tuple[int, ...]:
        """Return what changes when another user writes to a database treated as immutable."""
        with contextlib.suppress(OSError):
            status = (self._folder / ITEMS).stat()
            return status.st_mtime_ns, status.st_size, status.st_ino, log_size(self._folder)
        return ()

    def _connect(self) -> None:
        self._snapshot = None
        self._checked: tuple[Seen, Seen] = {}, {}  # blocks of codes and of labels
        self._seen = -1
        if not self._identity.is_there():
            raise self._identity.replaced()
        with explained(self._folder):
            self._connection, self._immutable = connect_to_read(self._folder)
        self._inherited = False  # whether it is that of the process this one was forked from
        self._stamp = self._stamped()

    def _check_identity(self) -> None:
        if not self._immutable:
            self._identity.check()

    def _after_fork(self) -> None:
        self._inherited = True
        with contextlib.suppress(AttributeError, sqlite3.Error):  # it may not be connected yet
            self._connection.close()
