"""Items whose records are older than their rows in items.sqlite, with the right records."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from softhash.hamming.words import Words
from softhash.index.local._columns import Ids
from softhash.index.local._masks import LIVE
from softhash.index.local._rows import decode_labels


class Pending(NamedTuple):
    """Ids in order, with records of codes and of labels; a removed item has zeros."""

    ids: Ids
    codes: Words
    labels: Words


def read_pending(
    connection: sqlite3.Connection, numbers: Mapping[str, int], code_words: int, label_words: int
) -> Pending:
    """Read the pending items.

    Args:
        connection: to items.sqlite.
        numbers: of the labels, by name.
        code_words: 64-bit words per record of codes.
        label_words: 64-bit words per record of labels.

    """
    rows = connection.execute(
        "SELECT pending.id, labels, code FROM pending LEFT JOIN items USING (id) ORDER BY id"
    ).fetchall()
    gone = bytes(8 * label_words)
    codes = [(code or b"").ljust(8 * code_words, b"\0") for _, _, code in rows]
    labels = [
        gone if kept is None else label_record(decode_labels(kept), numbers, label_words)
        for _, kept, _ in rows
    ]
    ids = np.array([id for id, _, _ in rows], np.int64)
    return Pending(ids, in_words(codes, code_words), in_words(labels, label_words))


def label_record(labels: Sequence[str], numbers: Mapping[str, int], words: int) -> bytes:
    """Build the record of an item with these labels.

    Args:
        labels: names.
        numbers: of the labels, by name.
        words: 64-bit words per record.

    """
    bits = 1 << LIVE
    for label in labels:
        bits |= 1 << numbers[label]
    return bits.to_bytes(8 * words, "little")


def in_words(records: Sequence[bytes], words: int) -> Words:
    """Stack records as (n, words), writable, as the kernels are compiled for."""
    return np.frombuffer(bytearray().join(records), np.uint64).reshape(-1, words)
