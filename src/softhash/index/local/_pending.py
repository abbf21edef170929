"""Items whose records are older than their rows in items.sqlite, with the right records."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from softhash.codes import row_bytes
from softhash.hamming.words import Words, word_count
from softhash.index.local._columns import Ids
from softhash.index.local._database import State
from softhash.index.local._items import fetch
from softhash.index.local._masks import LIVE
from softhash.index.local._rows import decode_labels


class Pending(NamedTuple):
    """Ids in order, with records of codes and of labels; a removed item has zeros."""

    ids: Ids
    codes: Words
    labels: Words


def read_pending(
    connection: sqlite3.Connection, state: State, numbers: Mapping[str, int]
) -> Pending:
    """Read the pending items.

    Args:
        connection: to items.sqlite.
        state: what is in it.
        numbers: of the labels, by name.

    """
    ids = [id for (id,) in connection.execute("SELECT id FROM pending ORDER BY id")]
    if ids != sorted(set(ids)) or (ids and not 0 <= ids[0] <= ids[-1] < state.slots):
        raise sqlite3.DatabaseError("the table pending lists items that cannot be")
    rows = fetch(connection, state.version, ids)
    code_words, label_words = word_count(row_bytes(state.bits)), state.label_words
    codes, labels = [bytes(8 * code_words)] * len(ids), [bytes(8 * label_words)] * len(ids)
    for place, id in enumerate(ids):
        if id in rows:  # otherwise it was removed
            codes[place] = rows[id][7].ljust(8 * code_words, b"\0")
            labels[place] = label_record(decode_labels(rows[id][2]), numbers, label_words)
    return Pending(
        np.array(ids, np.int64), in_words(codes, code_words), in_words(labels, label_words)
    )


def label_record(labels: Sequence[str], numbers: Mapping[str, int], words: int) -> bytes:
    """Build the record of an item with these labels.

    Args:
        labels: names.
        numbers: of the labels, by name.
        words: 64-bit words per record.

    """
    bits = 1 << LIVE
    for label in labels:
        if label not in numbers:
            raise sqlite3.DatabaseError(f"the label {label!r} has no number")
        bits |= 1 << numbers[label]
    return bits.to_bytes(8 * words, "little")


def in_words(records: Sequence[bytes], words: int) -> Words:
    """Stack records as (n, words), writable, as the kernels are compiled for."""
    return np.frombuffer(bytearray().join(records), np.uint64).reshape(-1, words)
