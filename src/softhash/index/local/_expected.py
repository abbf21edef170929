"""The records that slots should have, made from the rows of items.sqlite."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from softhash.codes import row_bytes
from softhash.hamming.words import Words, word_count
from softhash.index.local._database import State
from softhash.index.local._items import checked, span
from softhash.index.local._pending import in_words, label_record
from softhash.index.local._rows import Row, decode_labels
from softhash.index.local._sums import BLOCK, Sums


class Expected(NamedTuple):
    """Records of codes and of labels, (n, words) each, from slot ``first`` on."""

    first: int
    codes: Words
    labels: Words

    @property
    def columns(self) -> tuple[Words, Words]:
        """The records of both files."""
        return self.codes, self.labels


def expected_records(
    rows: Iterable[Row], first: int, stop: int, state: State, numbers: Mapping[str, int]
) -> Expected:
    """Make the records of a range of slots; those without a row are zeros.

    Args:
        rows: of the items there.
        first: the first slot.
        stop: the slot after the last.
        state: of the index.
        numbers: of the labels, by name.

    """
    code_words, label_words = word_count(row_bytes(state.bits)), state.label_words
    codes = [bytes(8 * code_words)] * (stop - first)
    labels = [bytes(8 * label_words)] * (stop - first)
    for row in rows:
        codes[row[0] - first] = row[7].ljust(8 * code_words, b"\0")
        labels[row[0] - first] = label_record(decode_labels(row[2]), numbers, label_words)
    return Expected(first, in_words(codes, code_words), in_words(labels, label_words))


def write_sums(connection: sqlite3.Connection, state: State, numbers: Mapping[str, int]) -> None:
    """Compute the sums of all blocks from the rows, and write them.

    Args:
        connection: to items.sqlite, within a transaction.
        state: what is in it.
        numbers: of the labels, by name.

    """
    connection.execute("DELETE FROM blocks")
    sums = Sums(np.zeros((0, 2), np.uint64))
    for first, codes, labels in expected_blocks(connection, state, numbers):
        sums.add(np.arange(first, first + len(codes)), codes, labels)
    sums.write(connection)


def expected_blocks(
    connection: sqlite3.Connection, state: State, numbers: Mapping[str, int]
) -> Iterator[Expected]:
    """Make all records, a block at a time; raise where rows are damaged or missing.

    Args:
        connection: to items.sqlite.
        state: what is in it.
        numbers: of the labels, by name.

    """
    items = 0
    for first in range(0, state.slots, BLOCK):
        stop = min(first + BLOCK, state.slots)
        rows = checked(span(connection, state.version, first, stop))
        items += len(rows)
        yield expected_records(rows, first, stop, state, numbers)
    if items != state.items:
        raise sqlite3.DatabaseError(f"it has {items:,} items, but counts {state.items:,}")
