"""Recovery when an index is opened for writing: missing files are made again."""

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from softhash.codes import row_bytes
from softhash.hamming.words import word_count
from softhash.index.local._columns import check_length, write_new
from softhash.index.local._database import State
from softhash.index.local._layout import CODES, labels_file
from softhash.index.local._pending import label_record
from softhash.index.local._rows import decode_labels

_log = logging.getLogger("softhash")


def repair(
    folder: Path, connection: sqlite3.Connection, state: State, numbers: Mapping[str, int]
) -> None:
    """Make .bin files that are missing; raise for one that is too short.

    Args:
        folder: of the index.
        connection: to items.sqlite.
        state: what is in it.
        numbers: of the labels, by name.

    """
    remove_leftovers(folder, state.label_words)
    words = state.label_words
    size = 8 * word_count(row_bytes(state.bits))

    def labels(kept: str) -> bytes:
        return label_record(decode_labels(kept), numbers, words)

    def code(kept: bytes) -> bytes:
        return kept.ljust(size, b"\0")

    each: list[tuple[str, int, str, Callable[[Any], bytes]]] = [
        (CODES, size, "SELECT id, code FROM items ORDER BY id", code),
        (labels_file(words), 8 * words, "SELECT id, labels FROM items ORDER BY id", labels),
    ]
    for name, length, query, record in each:
        path = folder / name
        if not path.exists():
            _log.info("making %s again from %d items", path, state.items)
            write_new(path, _records(connection.execute(query), record, state.slots, length))
        check_length(path, state.slots, length)


def _records(
    rows: Iterable[tuple[int, Any]], record: Callable[[Any], bytes], slots: int, size: int
) -> Iterator[bytes]:
    """Yield one record per slot; those of removed items are zeros."""
    slot = 0
    for id, kept in rows:
        yield bytes(size * (id - slot))
        yield record(kept)
        slot = id + 1
    yield bytes(size * (slots - slot))


def remove_leftovers(folder: Path, label_words: int) -> None:
    """Remove files that a crash left unfinished, and label records of another length."""
    for path in [*folder.glob("labels-*.bin"), *folder.glob("*.bin.new")]:
        if path.name != labels_file(label_words):
            path.unlink(missing_ok=True)
