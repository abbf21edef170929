"""Processes that decode pictures for another; see `processes`, which has them started.

A job is a line of JSON: the first row to fill, and for each picture its path, the length of its
bytes, or null. These bytes follow. Pixels go into memory that all share. An answer is a line of
JSON too: the first row again, and which pictures were not decoded. An empty line before all answers
says that a process has started.
"""

import io
import json
import mmap
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from softhash.data._decoding_memory import budget
from softhash.data._heif import AVIF, container_kind
from softhash.data.decoding import as_picture, open_image
from softhash.errors import ImageError

MARGIN = 64  # pixels, by which a picture is larger than what it is resized to


def main(memory: int, height: int, width: int, most_bytes: int, *connections: int) -> None:
    """Fork a process for each connection; end when all of them have, or where one cannot be forked.

    Args:
        memory: the descriptor of the shared memory.
        height: of the pictures.
        width: of the pictures.
        most_bytes: what decoding may take in each; what takes more is not decoded.
        *connections: the descriptors that jobs are read from, and answers written to.

    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends who asked, and so the jobs
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # which ends the others, to be reaped here
    rows = np.frombuffer(mmap.mmap(memory, 0), np.uint8).reshape(-1, height, width, 3)
    # What resizing needs is loaded once, before there are several.
    as_picture(Image.new("RGB", (width + MARGIN, height + MARGIN)), size=(height, width))
    budget.total = most_bytes
    for own in connections:
        try:
            child = os.fork()
        except OSError:  # who asked sees connections end without an answer
            break
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            for other in set(connections) - {own}:
                os.close(other)
            _answer(socket.socket(fileno=own), rows)
            os._exit(0)
    for connection in connections:
        os.close(connection)
    with suppress(ChildProcessError):  # all have ended
        while True:
            os.wait()


def _answer(connection: socket.socket, rows: NDArray[np.uint8]) -> None:
    """Answer jobs until there are no more."""
    with suppress(ConnectionError), connection.makefile("rb") as stream:  # who asked has ended
        connection.sendall(b"\n")
        for line in stream:
            first, files = json.loads(line)
            sources = [_read(stream, file) for file in files]
            failed = [i for i, one in enumerate(sources) if not _fill(rows[first + i], one)]
            connection.sendall(json.dumps((first, failed)).encode("ascii") + b"\n")


def _read(stream: BinaryIO, file: str | int | None) -> Path | bytes | None:
    if isinstance(file, int):
        return stream.read(file)
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
