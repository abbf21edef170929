"""Verification of every byte of a local index."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from softhash.errors import IndexDamagedError
from softhash.index.local._columns import check_length
from softhash.index.local._database import ITEMS, cached
from softhash.index.local._expected import expected_records
from softhash.index.local._items import span
from softhash.index.local._layout import CODES, labels_file
from softhash.index.local._reader import ATTEMPTS, Reader
from softhash.index.local._rows import Row, decode_text, is_sound
from softhash.index.local._snapshot import Snapshot

CHECKED_AT_ONCE = 4096  # slots
MAX_LINES = 20  # after which problems are only counted


def verify(folder: Path, reader: Reader, progress: Callable[[int, int], None] | None) -> list[str]:
    """Return one line for each problem, which names the file.

    Args:
        folder: of the index.
        reader: of the same index.
        progress: called with (slots checked, slots).

    """
    wrong: list[str] = []
    try:
        wrong += _structure(folder, reader)
        snapshot = reader.snapshot()
        _check_lengths(folder, snapshot)
        items = 0
        for first in range(0, snapshot.state.slots, CHECKED_AT_ONCE):
            stop = min(first + CHECKED_AT_ONCE, snapshot.state.slots)
            count, lines = _check_slots(folder, reader, first, stop)
            items += count
            wrong += lines
            if progress is not None:
                progress(stop, snapshot.state.slots)
        now = reader.snapshot().state
        if now.change == snapshot.state.change and items != now.items:
            wrong.append(f"{folder / ITEMS} is damaged: {items:,} items, but {now.items:,} counted")
        if not wrong:  # the sums themselves
            reader.steady(lambda now: now.check())
    except IndexDamagedError as error:
        wrong.append(str(error))
    return limit_lines(wrong)


def limit_lines(wrong: list[str]) -> list[str]:
    """Return the first lines, and how many more there are."""
    more = len(wrong) - MAX_LINES
    return wrong if more <= 0 else [*wrong[:MAX_LINES], f"and {more:,} more"]


def _structure(folder: Path, reader: Reader) -> list[str]:
    with reader.connection() as connection, cached(connection):
        found = connection.execute("PRAGMA integrity_check(20)").fetchall()
    return [f"{folder / ITEMS} is damaged: {line}" for (line,) in found if line != "ok"]


def _check_lengths(folder: Path, snapshot: Snapshot) -> None:
    """Raise for a file that is too short, before memory that maps it is read."""
    state = snapshot.state
    check_length(folder / CODES, state.slots, 8 * snapshot.codes.shape[1])
    check_length(folder / labels_file(state.label_words), state.slots, 8 * state.label_words)


def _check_slots(folder: Path, reader: Reader, first: int, stop: int) -> tuple[int, list[str]]:
    """Compare items and records; again where they differ and the index was changed meanwhile."""
    for _ in range(ATTEMPTS):
        snapshot = reader.snapshot()
        with reader.connection() as connection:
            rows = span(connection, snapshot.state.version, first, stop)
        lines = list(_differences(folder, snapshot, rows, first, stop))
        if not lines or reader.snapshot().state.change == snapshot.state.change:
            break
    return len(rows), lines


def _differences(
    folder: Path, snapshot: Snapshot, rows: Sequence[Row], first: int, stop: int
) -> Iterator[str]:
    sound = {row[0]: row for row in rows if is_sound(row)}
    broken = [row[0] for row in rows if row[0] not in sound]
    for id in broken:
        yield f"{folder / ITEMS} is damaged: the row of item {id} does not match its checksum"
    skipped = np.zeros(stop - first, np.bool_)
    skipped[np.array(broken, np.int64) - first] = True
    pending = snapshot.pending.ids
    skipped[pending[(pending >= first) & (pending < stop)] - first] = True
    state = snapshot.state
    _, codes, labels = expected_records(sound.values(), first, stop, state, snapshot.numbers)
    for name, expected, found in (
        (CODES, codes, snapshot.codes),
        (labels_file(state.label_words), labels, snapshot.masks.labels),
    ):
        differs = (expected != found[first:stop]).any(axis=1) & ~skipped
        for id in (first + np.flatnonzero(differs)).tolist():
            whose = f" ({decode_text(sound[id][1])})" if id in sound else ", which was removed"
            yield (
                f"{folder / name} is damaged: the record of item {id}{whose}; delete the file, and "
                "the next opening for writing makes it again from the items"
            )
