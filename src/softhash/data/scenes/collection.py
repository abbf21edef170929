"""The drawn pictures as a folder that can be read like any other collection."""

import csv
import io
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from softhash.data.scenes.composition import draw
from softhash.errors import InputError, UsageError
from softhash.files import cache_folder, write_whole

METADATA = "metadata.csv"
_CHUNK = 50  # pictures drawn between two reports of progress

_log = logging.getLogger("softhash")


def built_in() -> Path:
    """Return the folder of the built-in collection, 3,000 pictures drawn when first asked for."""
    folder = cache_folder() / "scenes-3000"
    if not (folder / METADATA).exists():
        _log.info("drawing the built-in collection of 3,000 scenes; once, a few seconds")
        unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
        try:
            write(unfinished)
            shutil.rmtree(folder, ignore_errors=True)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def write(
    folder: Path,
    count: int = 3000,
    seed: int = 0,
    size: int = 128,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Draw ``count`` pictures into a new or empty folder, together with ``metadata.csv``.

    The pictures are PNG: a little larger than JPEG (5 KB each), but every machine decodes the same
    pixels. The table has the columns ``file_name`` and ``labels`` (separated
    by ``;``) and is written last, whole or not at all: a folder that has it is complete.
    ``progress`` is told how many pictures are done so far. Where ``workers`` is more than 1 (the
    default is one for each processor) a script calls this under ``if __name__ == "__main__":``.
    """
    if count < 1 or size < 1:
        raise UsageError(f"scenes needs a count and a size of 1 or more, not {count} and {size}")
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder} exists and is not an empty folder", "name a new one or remove it"
        )
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[str, str]] = []
    for chunk in _drawn(partial(_write_chunk, folder, count, seed, size), count, workers):
        rows += chunk
        if progress:
            progress(len(rows))
    write_whole(folder / METADATA, _table(rows))


def _drawn(
    work: Callable[[int], list[tuple[str, str]]], count: int, workers: int | None
) -> Iterator[list[tuple[str, str]]]:
    """Yield the rows of each chunk in order, drawn by worker processes where that pays."""
    starts = range(0, count, _CHUNK)
    hands = min(workers or os.cpu_count() or 1, len(starts))
    if hands <= 1:
        yield from map(work, starts)
        return
    # Spawned, not forked: the caller may have threads (torch's, a server's), and a fork of those
    # can hang.
    with ProcessPoolExecutor(hands, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, starts)


def _write_chunk(
    folder: Path, count: int, seed: int, size: int, start: int
) -> list[tuple[str, str]]:
    """Draw and save one chunk; return its rows of the table."""
    rows = []
    for index in range(start, min(start + _CHUNK, count)):
        picture, labels = draw(index, seed, size)
        name = f"scene-{index:05}.png"
        picture.save(folder / name)
        rows.append((name, ";".join(sorted(labels))))
    return rows


def _table(rows: list[tuple[str, str]]) -> str:
    """Lay out the table of file names and labels."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("file_name", "labels"))
    table.writerows(rows)
    return text.getvalue()
