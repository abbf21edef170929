"""A process that decodes pictures for another; see `processes`, which starts it.

A job on stdin is a line of JSON, the first row to fill and for each picture its path, the length of
its bytes, or null; then these bytes. Pixels go into memory that both share. Answers are lines of
JSON on a pipe of their own, as libraries may print: the first row again, and which pictures were
not decoded.
"""

import io
import json
import mmap
import os
import signal
import sys
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from softhash.data._decoding_memory import budget
from softhash.data._heif import AVIF, container_kind
from softhash.data.decoding import open_image
from softhash.errors import ImageError


def main(answers: int, memory: int, height: int, width: int, most_bytes: int) -> None:
    """Answer jobs until there are no more.

    Args:
        answers: the descriptor that they are written to.
        memory: the descriptor of the shared memory.
        height: of the pictures.
        width: of the pictures.
        most_bytes: what decoding may take; what takes more is refused.

    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends who asked, and so the jobs
    budget.total = most_bytes
    rows = np.frombuffer(mmap.mmap(memory, 0), np.uint8).reshape(-1, height, width, 3)
    try:
        with os.fdopen(answers, "w", encoding="ascii") as pipe:
            for line in sys.stdin.buffer:
                first, files = json.loads(line)
                sources = [_read(file) for file in files]
                failed = [i for i, one in enumerate(sources) if not _fill(rows[first + i], one)]
                pipe.write(json.dumps((first, failed)) + "\n")
                pipe.flush()
    except BrokenPipeError:  # who asked has ended
        os._exit(0)


def _read(file: str | int | None) -> Path | bytes | None:
    if isinstance(file, int):
        return sys.stdin.buffer.read(file)
    return None if file is None else Path(file)


def _fill(row: NDArray[np.uint8], source: Path | bytes | None) -> bool:
    """Decode a picture into a row; return whether that was possible."""
    if source is None or _takes_all_memory(source):
        return False
    try:
        row[:] = np.asarray(open_image(source, size=row.shape[:2]))
    except ImageError:
        return False
    return True


def _takes_all_memory(source: Path | bytes) -> bool:
    """Return whether a picture is an AVIF, of which one at a time is decoded by who asks."""
    try:
        if isinstance(source, Path) and not source.is_file():  # a pipe would be waited for
            return False
        stream: BinaryIO
        with source.open("rb") if isinstance(source, Path) else io.BytesIO(source) as stream:
            return container_kind(stream) == AVIF
    except (OSError, ValueError):  # said with the reason, when it is opened
        return False


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
