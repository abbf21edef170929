"""Recovery when an index is opened for writing: missing files are made again."""

import logging
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from softhash.codes import row_bytes
from softhash.files import sweep, write_parts
from softhash.hamming.words import word_count
from softhash.index.local._columns import check_length
from softhash.index.local._database import State
from softhash.index.local._expected import expected_blocks, write_sums
from softhash.index.local._layout import CODES, labels_file

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
    sweep(folder.resolve().parent)  # where the index was made
    remove_leftovers(folder, state.label_words)
    files = {
        CODES: word_count(row_bytes(state.bits)),
        labels_file(state.label_words): state.label_words,
    }
    if not all((folder / name).exists() for name in files):
        _write_sums(connection, state, numbers)
    for column, (name, words) in enumerate(files.items()):
        path = folder / name
        if not path.exists():
            _log.info("making %s again from %d items", path, state.items)
            blocks = expected_blocks(connection, state, numbers)
            write_parts(path, (block.columns[column].tobytes() for block in blocks))
        check_length(path, state.slots, 8 * words)


def _write_sums(connection: sqlite3.Connection, state: State, numbers: Mapping[str, int]) -> None:
    """Compute the sums again too: maybe not the file was damaged, but they were."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        write_sums(connection, state, numbers)
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def remove_leftovers(folder: Path, label_words: int) -> None:
    """Remove files that a crash left unfinished, and label records of another length."""
    sweep(folder)
    for path in folder.glob("labels-*.bin"):
        if path.name != labels_file(label_words):
            path.unlink(missing_ok=True)
