"""The reading side of a local index: follows the writer, for any number of threads."""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from softhash.codes import row_bytes
from softhash.errors import IndexDamagedError
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
from softhash.index.local._layout import CODES, INDEX, labels_file
from softhash.index.local._lock import check_confirmed, confirmed
from softhash.index.local._masks import Masks
from softhash.index.local._pending import read_pending
from softhash.index.local._rows import Row
from softhash.index.local._snapshot import Snapshot

ATTEMPTS = 5  # at an answer during which no record is changed in place

Result = TypeVar("Result")


class Reader:
    """One connection, behind a lock that is held for short queries only; never writes."""

    def __init__(self, folder: Path, bits: int) -> None:
        self._folder, self._bits = folder, bits
        self._code_words = word_count(row_bytes(bits))
        self._lock = threading.RLock()
        self._seen = -1
        self._snapshot: Snapshot | None = None
        with explained(folder):
            self._connection, self._immutable = connect_to_read(folder)
        self._stamp = self._stamped()
        try:
            at_least = confirmed(folder)
            check_confirmed(folder, self.snapshot().state.change, at_least)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; may be called twice."""
        with self._lock:
            self._connection.close()
            self._snapshot = None

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection to one thread at a time."""
        with self._lock, explained(self._folder):
            yield self._connection

    def fetch(self, ids: Sequence[int]) -> dict[int, Row]:
        """Fetch the rows of those ids that are there."""
        rows: dict[int, Row] = {}
        with self.connection() as connection:
            for first in range(0, len(ids), 1000):
                asked = f"[{','.join(map(str, ids[first : first + 1000]))}]"
                found = connection.execute(
                    "SELECT id, file_name, labels, size, modified, sha256, code FROM items "
                    "WHERE id IN (SELECT value FROM json_each(?))",
                    (asked,),
                )
                rows.update((row[0], row) for row in found)
        return rows

    def steady(self, ask: Callable[[Snapshot], Result]) -> Result:
        """Compute an answer, again where records were changed in place meanwhile.

        After `ATTEMPTS`, the answer may mix records from before and after a change.
        """
        for _ in range(ATTEMPTS):
            snapshot = self.snapshot()
            answer = ask(snapshot)
            if self.snapshot().state.edits == snapshot.state.edits:
                break
        return answer

    def snapshot(self) -> Snapshot:
        """Return the contents as they are now."""
        with self.connection() as connection:
            if self._immutable and self._stamp != self._stamped():
                self._reconnect()
                connection = self._connection
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            if self._snapshot is None or version != self._seen:
                self._snapshot = self._load(connection)
            return self._snapshot

    def _load(self, connection: sqlite3.Connection) -> Snapshot:
        connection.execute("BEGIN")
        try:
            state = read_state(connection)
            (self._seen,) = connection.execute("PRAGMA data_version").fetchone()
            if state.bits != self._bits:
                raise IndexDamagedError(
                    f"{self._folder / INDEX} is damaged: it has {self._bits} bits, but the items "
                    f"have {state.bits}",
                    "correct the number",
                )
            return self._map(connection, state)
        except IndexDamagedError:  # a file that was replaced meanwhile by a wider one?
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
        later = read_labels(connection, max(numbers.values(), default=0))
        numbers = {**numbers, **later} if later else numbers
        codes = map_records(self._folder / CODES, state.slots, self._code_words)
        path = self._folder / labels_file(state.label_words)
        labels = map_records(path, state.slots, state.label_words)
        words = self._code_words
        pending = read_pending(connection, numbers, words, state.label_words)
        masks = Masks(labels)
        if last is not None and last.state.edits == state.edits and not len(pending.ids):
            masks = last.masks.grown(labels) if not len(last.pending.ids) else masks
        return Snapshot(state, numbers, codes, masks, pending, Masks(pending.labels))

    def _stamped(self) -> tuple[int, ...]:
        """Return what changes when another user writes to a database treated as immutable."""
        with contextlib.suppress(OSError):
            status = (self._folder / ITEMS).stat()
            return status.st_mtime_ns, status.st_size, status.st_ino, log_size(self._folder)
        return ()

    def _reconnect(self) -> None:
        self._connection.close()
        self._snapshot = None
        self._connection, self._immutable = connect_to_read(self._folder)
        self._stamp = self._stamped()
