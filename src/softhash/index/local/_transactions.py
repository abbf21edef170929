"""What writing goes through: the lock, a connection that syncs, and the two .bin files.

New items: their records are written after the last slot, where nobody looks, and synced; then one
commit in items.sqlite makes the items and their slots exist. Changes in place: the commit comes
first and lists the items as pending; then their records are overwritten and synced, and the list is
cleared. Whoever opens the index in between, after a crash too, takes pending items from
items.sqlite; the next one that opens it for writing finishes the work.
"""

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from softhash.codes import Codes, row_bytes
from softhash.errors import InputError, UsageError
from softhash.files import write_parts
from softhash.hamming.words import Words, word_count
from softhash.index.items import Entry, Item
from softhash.index.local import _database, _layout, _names, _recovery
from softhash.index.local._columns import Column, Ids, in_records, map_records, widened
from softhash.index.local._forks import ForkAware
from softhash.index.local._identity import Identity
from softhash.index.local._items import INSERT
from softhash.index.local._lock import WriteLock, check_confirmed
from softhash.index.local._pending import in_words, label_record, read_pending
from softhash.index.local._rows import MAX_SETS, encode_row
from softhash.index.local._sums import Sums, read_sums
from softhash.index.local._upgrade import upgrade

MAX_LABELS = (1 << 14) - 1  # which make records of 2 KB: every item has a bit for every label

_log = logging.getLogger("softhash")


class Session(ForkAware):
    """Open for writing: `transaction` is the only way to change anything."""

    def __init__(self, folder: Path, bits: int) -> None:
        super().__init__()
        self.folder = folder
        self._identity = Identity(folder)
        self._inherited = False  # whether it is that of the process this one was forked from
        self._code_words = word_count(row_bytes(bits))
        self._uncertain = False  # whether a commit failed, and may yet turn out to have happened
        self._widened = False  # whether there are two files of label records
        self._names_later = False  # whether names are indexed when all items are added
        self._columns: tuple[Column, ...] = ()
        self.state: _database.State
        self.numbers: dict[str, int]
        self._write_lock = WriteLock(folder)
        try:
            with self._lock, self._explained():
                self.connection = _database.connect_to_write(folder)
                change = _database.read_state(self.connection).change
                check_confirmed(folder, change, self._write_lock.at_least)
                upgrade(folder, self.connection)
                self._load()
                _recovery.repair(folder, self.connection, self.state, self.numbers)
                self._load()
                self._open_columns()
                self._settle()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of everything; twice is fine."""
        with self._lock:
            for column in self._columns:
                column.close()
            if hasattr(self, "connection"):
                self.connection.close()
            if not self._inherited:  # a child would release the lock of its parent
                self._write_lock.release()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Change things: all that is done inside is safe on return, or else none of it happened."""
        with self._lock, self._explained():
            self._check_ours()
            self._settle()
            with self._committed():
                yield self.connection
            if self._applied != self.state.edits:
                self._apply_pending()
            self._identity.check()  # what was written to a deleted file is not confirmed

    @contextmanager
    def _committed(self) -> Iterator[None]:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._write_state()
        except BaseException:
            self._undo()
            raise
        self._commit()

    @contextmanager
    def names_later(self) -> Iterator[None]:
        """Index names at the end; in between, whoever adds items answers for their names."""
        with self.transaction() as connection:
            self._names_later = _names.drop_index(connection)
        try:
            yield
        finally:
            self._names_later = False  # what failed leaves it to the next transaction
        with self.transaction():
            pass

    def _check_ours(self) -> None:
        """Raise unless this process may write, to the index that is in the folder now."""
        if self._inherited:
            raise UsageError(
                f"{self.folder} was opened for writing by the process that this one was forked "
                "from",
                "write in that process, or open the index here when it is closed there",
            )
        self._identity.check()

    def _after_fork(self) -> None:
        self._inherited = True
        self.close()

    def append(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add new items within a transaction; a name that is there raises IntegrityError."""
        first, count = self.state.slots, len(entries)
        ids = range(first, first + count)
        words, labels = in_records(codes).view(np.uint64), self._label_records(entries)
        each = np.ascontiguousarray(codes).view(f"V{codes.shape[1]}").reshape(-1).tolist()
        self.connection.executemany(
            INSERT,
            map(encode_row, ids, entries, each),
        )
        self._sums.add(np.arange(first, first + count), words, labels)
        for column, records in zip(self._columns, (words, labels), strict=True):
            column.append(first, records.tobytes())
            column.sync()
        items = self.state.items + count
        self.state = self.state._replace(slots=first + count, items=items)
        return list(ids)

    def edited(self, old: Sequence[Item], new: Sequence[Item]) -> None:
        """Note within a transaction that rows were changed; those not among the new are gone."""
        labels = self._label_records([item.entry for item in new])
        self._sums.add(*self._codes(new), labels)
        self._sums.subtract(*self._codes(old), self._label_records([item.entry for item in old]))
        self.connection.executemany(
            "INSERT OR IGNORE INTO pending VALUES (?)", ((item.id,) for item in old)
        )
        items, edits = self.state.items + len(new) - len(old), self.state.edits + 1
        self.state = self.state._replace(edits=edits, items=items)

    def _codes(self, items: Sequence[Item]) -> tuple[Ids, Words]:
        """Return ids and records of codes."""
        padded = [item.code.ljust(8 * self._code_words, b"\0") for item in items]
        return np.array([item.id for item in items], np.int64), in_words(padded, self._code_words)

    def _label_records(self, entries: Sequence[Entry]) -> Words:
        """Return the label records of items, after giving new labels a number."""
        each = [entry.labels for entry in entries]
        new = {labels for labels in each if labels not in self._records}
        if new:
            names = dict.fromkeys(label for labels in sorted(new) for label in labels)
            self._number([label for label in names if label not in self.numbers])
            if len(self._records) + len(new) > MAX_SETS:
                self._records.clear()
            words = self.state.label_words
            for labels in set(each).difference(self._records):  # all, where they were cleared
                self._records[labels] = label_record(labels, self.numbers, words)
        return in_words([self._records[labels] for labels in each], self.state.label_words)

    def _number(self, labels: Sequence[str]) -> None:
        first, count = len(self.numbers) + 1, len(self.numbers) + len(labels)
        if labels and count > MAX_LABELS:
            raise InputError(
                f"{self.folder} would have {count:,} different labels, "
                f"and an index in a folder takes up to {MAX_LABELS:,}; nothing was changed",
                "use fewer labels, several indexes, or an index in Milvus",
            )
        new = {label: first + i for i, label in enumerate(labels)}
        _database.write_labels(self.connection, new)
        self.numbers |= new
        self.state = self.state._replace(labels=len(self.numbers))
        words = len(self.numbers) // 64 + 1
        if words > self.state.label_words:
            self._widen(words)

    def _widen(self, words: int) -> None:
        """Make label records longer in a new file; the old one stays until all is committed."""
        state, self.state = self.state, self.state._replace(label_words=words)
        name = _layout.labels_file(state.label_words)
        old = map_records(self.folder / name, state.slots, state.label_words).records
        write_parts(self.folder / _layout.labels_file(words), widened(old, words))
        self._widened = True
        self._records.clear()
        self._open_columns()

    def _settle(self) -> None:
        """Finish what an earlier failure left.

        After a commit that failed, its pages may still be found in the log by whoever opens the
        database after a crash. A commit of nothing takes their place, so that their slots are free.
        """
        if self._uncertain:
            self.connection.execute("BEGIN IMMEDIATE")
            self._write_state()
            self._commit()
            self._open_columns()
            self._uncertain = False
        if self._applied != self.state.edits:
            self._apply_pending()
        if not self._names_later and not _names.are_indexed(self.connection):
            _log.info("%s: sorting the names of %d items", self.folder, self.state.items)
            with self._committed():
                _names.create_index(self.connection)

    def _write_state(self) -> None:
        self.state = self.state._replace(change=self.state.change + 1)
        _database.write_state(self.connection, self.state)
        self._sums.write(self.connection)

    def _commit(self) -> None:
        try:
            self.connection.execute("COMMIT")
        except BaseException:
            self._uncertain = True
            with suppress(sqlite3.Error):
                self.connection.rollback()
            self._load()
            raise
        self._write_lock.confirm(self.state.change)
        self._tidy()

    def _undo(self) -> None:
        with suppress(sqlite3.Error):
            self.connection.rollback()
        self._load()
        self._open_columns()
        self._tidy()

    def _tidy(self) -> None:
        if self._widened:
            self._widened = False
            with suppress(OSError):  # the next opening for writing does it then
                _recovery.remove_leftovers(self.folder, self.state.label_words)

    def _apply_pending(self) -> None:
        """Bring the records of pending items up to date.

        When that fails nothing is lost: they stay pending, and are taken from items.sqlite.
        """
        try:
            pending = read_pending(self.connection, self.state, self.numbers)
            if len(pending.ids):
                for column, rows in zip(self._columns, pending[1:], strict=True):
                    column.put(pending.ids, rows)
                    column.sync()
                self.connection.execute("PRAGMA synchronous = NORMAL")  # may be lost: done again
                self.connection.execute("DELETE FROM pending")
            self._applied = self.state.edits
        except (OSError, sqlite3.Error) as error:
            _log.warning("%s: changes wait in items.sqlite: %s", self.folder, error)
        finally:
            self.connection.execute("PRAGMA synchronous = FULL")

    def _load(self) -> None:
        self.state = _database.read_state(self.connection)
        self.numbers = _database.read_labels(self.connection, self.state)
        self._sums = Sums(read_sums(self.connection, self.state.slots))
        self._records: dict[tuple[str, ...], bytes] = {}
        self._applied = -1

    def _open_columns(self) -> None:
        """Open the files that the state names, and cut what follows their records."""
        for column in self._columns:
            column.close()
        words = self.state.label_words
        self._columns = (
            Column(self.folder / _layout.CODES, 8 * self._code_words),
            Column(self.folder / _layout.labels_file(words), 8 * words),
        )
        for column in self._columns:
            column.cut(self.state.slots)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            with _database.explained(self.folder):
                yield
        except OSError as error:
            name = error.filename or self.folder
            raise InputError(
                f"cannot write {name}: {error.strerror}", "everything that was confirmed is safe"
            ) from error
