"""The drawn pictures as a folder that can be read like any other collection."""

import csv
import io
import logging
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from softhash.data.scenes.drawing import Job, Rows, draw_all
from softhash.devices import usable_cores
from softhash.errors import InputError, UsageError
from softhash.files import cache_folder, write_whole

METADATA = "metadata.csv"

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
    """Draw pictures into a folder, together with ``metadata.csv``.

    The pictures are PNG: a little larger than JPEG (5 KB each), but every machine decodes the same
    pixels. The table has the columns ``file_name`` and ``labels`` (separated by ``;``) and is
    written last, whole or not at all: a folder that has it is complete.

    Args:
        folder: a new or empty folder.
        count: how many pictures to draw.
        seed: what the pictures depend on, beside their number.
        size: their side in pixels.
        workers: processes that draw; one for each core this process may use by default.
        progress: called with the number of pictures done so far.

    Raises:
        InputError: the folder has something in it.

    """
    if count < 1 or size < 1:
        raise UsageError(f"scenes needs a count and a size of 1 or more, not {count} and {size}")
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder} exists and is not an empty folder", "name a new one or remove it"
        )
    folder.mkdir(parents=True, exist_ok=True)
    rows: Rows = []
    job = Job(folder, count, seed, size)
    with closing(draw_all(job, workers or usable_cores())) as chunks:
        for chunk in chunks:
            rows += chunk
            if progress:
                progress(len(rows))
    write_whole(folder / METADATA, _table(rows))


def _table(rows: Rows) -> str:
    """Lay out the table of file names and labels."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("file_name", "labels"))
    table.writerows(rows)
    return text.getvalue()
