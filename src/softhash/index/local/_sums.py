"""Checksums of the .bin files, one per block of records and file, kept in items.sqlite.

The sum of a block adds up, modulo 2^64, a hash of each of its words, keyed by slot and place. So a
change subtracts the old records and adds the new ones, in the transaction that changes the rows: a
sum always matches the rows, also while records are pending. A word of 0 adds nothing: removed items
do not count, and label records that grow longer keep their sums.
"""

import sqlite3
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from softhash.hamming.words import Words

BLOCK = 1 << 14  # slots
CODES, LABELS = 0, 1  # columns of the sums
HASHED_AT_ONCE = 1 << 14  # words

_FACTOR = np.uint64(0xFF51AFD7ED558CCD)
_SLOT, _PLACE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4E)

Integers = npt.NDArray[np.int64]


@lru_cache(maxsize=4)
def _keys(slots: int, words: int) -> Words:
    """Return an odd number (slots, words) for each word of a block."""
    odd = 2 * np.arange(slots, dtype=np.uint64) + np.uint64(1)
    return (odd * _SLOT)[:, np.newaxis] + np.arange(words, dtype=np.uint64) * _PLACE


def _hashes(records: Words, keys: Words) -> Words:
    """Hash each word; every step can be undone, so that another word has another hash."""
    mixed = records * keys
    mixed ^= mixed >> np.uint64(32)
    mixed *= _FACTOR
    mixed ^= mixed >> np.uint64(29)
    return mixed


def block_sum(records: Words) -> int:
    """Return the sum of a block of records (n, words)."""
    keys = _keys(BLOCK, records.shape[1])[: len(records)]
    sums = [_hashes(records[part], keys[part]).sum() for part in _parts(*records.shape)]
    return int(np.sum(sums, dtype=np.uint64))


def record_sums(records: Words, ids: Integers) -> Words:
    """Return the sum (n,) of each of some records (n, words), whose slots are given."""
    keys = _keys(BLOCK, records.shape[1])
    sums = [
        _hashes(records[part], keys[ids[part] % BLOCK]).sum(axis=1)
        for part in _parts(*records.shape)
    ]
    return np.concatenate(sums)


def _parts(records: int, words: int) -> Iterator[slice]:
    """Split records so that what is computed of a part stays in a processor's cache."""
    step = max(1, HASHED_AT_ONCE // words)
    return (slice(first, first + step) for first in range(0, records, step))


def blocks_of(slots: int) -> int:
    """Count the blocks of so many slots."""
    return -(-slots // BLOCK)


def read_sums(connection: sqlite3.Connection, slots: int) -> Words:
    """Read the sums (blocks, 2) of codes and labels; raise where one is missing."""
    rows = connection.execute("SELECT number, codes, labels FROM blocks ORDER BY number").fetchall()
    try:
        table = np.array(rows, np.int64).reshape(-1, 3)
    except (TypeError, ValueError, OverflowError):
        table = np.empty((0, 3), np.int64)
    if len(rows) != blocks_of(slots) or (table[:, 0] != np.arange(len(rows))).any():
        raise sqlite3.DatabaseError("the table blocks has not one row for every block")
    return np.ascontiguousarray(table[:, 1:]).view(np.uint64)


class Sums:
    """The sums of an index that is open for writing."""

    def __init__(self, kept: Words) -> None:
        self.kept = kept
        self._changed: set[int] = set()

    def add(self, ids: Integers, codes: Words, labels: Words) -> None:
        """Count the records of these slots, (n, words) each."""
        self._change(ids, codes, labels, np.add)

    def subtract(self, ids: Integers, codes: Words, labels: Words) -> None:
        """Count the records of these slots no more."""
        self._change(ids, codes, labels, np.subtract)

    def _change(self, ids: Integers, codes: Words, labels: Words, change: np.ufunc) -> None:
        if not len(ids):
            return
        numbers = ids // BLOCK
        grown = np.zeros((max(len(self.kept), int(numbers.max()) + 1), 2), np.uint64)
        grown[: len(self.kept)] = self.kept
        for column, records in ((CODES, codes), (LABELS, labels)):
            change.at(grown[:, column], numbers, record_sums(records, ids))
        self.kept = grown
        self._changed.update(np.unique(numbers).tolist())

    def write(self, connection: sqlite3.Connection) -> None:
        """Write the sums that changed."""
        signed = self.kept.view(np.int64)
        connection.executemany(
            "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?)",
            [(number, *signed[number].tolist()) for number in sorted(self._changed)],
        )
        self._changed.clear()
