"""A process that decodes pictures for another; see `processes`, which starts it.

Jobs are lines of JSON on stdin: the first row to fill, and the paths. Pixels go into memory that
both share. Answers are lines of JSON on a pipe of their own, as libraries may print: the first row
again, and which pictures could not be read, why, and the kind.
"""

import json
import mmap
import os
import signal
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softhash.data._decoding_memory import budget
from softhash.data._heif import AVIF, container_kind
from softhash.data.decoding import open_image
from softhash.errors import ImageError

Refusal = tuple[int, str, str]  # which of a job's pictures, the reason, the kind of an ImageError


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
                first, paths = json.loads(line)
                refused = _decode(paths, rows[first : first + len(paths)])
                pipe.write(json.dumps((first, refused)) + "\n")
                pipe.flush()
    except BrokenPipeError:  # who asked has ended
        os._exit(0)


def _decode(paths: list[str], rows: NDArray[np.uint8]) -> list[Refusal]:
    refused = []
    for number, path in enumerate(paths):
        try:
            if _takes_all_memory(path):
                refused.append((number, "", "refused"))
                continue
            rows[number] = np.asarray(open_image(path, size=rows.shape[1:3]))
        except ImageError as error:
            refused.append((number, str(error), error.kind))
    return refused


def _takes_all_memory(path: str) -> bool:
    """Return whether a file is an AVIF, of which one at a time is decoded by who asks."""
    try:
        if not Path(path).is_file():  # a pipe would be waited for
            return False
        with Path(path).open("rb") as stream:
            return container_kind(stream) == AVIF
    except (OSError, ValueError):  # said with the reason, when it is opened
        return False


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
