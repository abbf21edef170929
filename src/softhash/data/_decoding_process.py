"""A process that decodes pictures for another; see `processes`, which starts it.

Jobs are lines of JSON on stdin: the first row to fill, and the paths. Pixels go into memory that
both share. The answer is a line on stdout: which pictures could not be read, why, and the kind.
"""

import json
import mmap
import signal
import sys

import numpy as np
from numpy.typing import NDArray

from softhash.data._decoding_memory import budget
from softhash.data.decoding import open_image
from softhash.errors import ImageError

Refusal = tuple[int, str, str]  # which of a job's pictures, the reason, the kind of an ImageError


def main(memory: int, height: int, width: int, most_bytes: int) -> None:
    """Answer jobs until there are no more.

    Args:
        memory: the descriptor of the shared memory.
        height: of the pictures.
        width: of the pictures.
        most_bytes: what decoding may take.

    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends who asked, and so the jobs
    budget.total = most_bytes
    rows = np.frombuffer(mmap.mmap(memory, 0), np.uint8).reshape(-1, height, width, 3)
    for line in sys.stdin:
        first, paths = json.loads(line)
        sys.stdout.write(json.dumps(_decode(paths, rows[first : first + len(paths)])) + "\n")
        sys.stdout.flush()


def _decode(paths: list[str], rows: NDArray[np.uint8]) -> list[Refusal]:
    refused = []
    for number, path in enumerate(paths):
        try:
            rows[number] = np.asarray(open_image(path, size=rows.shape[1:3]))
        except ImageError as error:
            refused.append((number, str(error), error.kind))
    return refused


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
