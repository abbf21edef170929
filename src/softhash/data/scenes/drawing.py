"""Many scenes drawn into a folder, by several processes where that pays.

The processes are started as `python -m softhash.data.scenes.drawing`, not by `multiprocessing`:
that would run the caller's script again in each of them, and a script without
`if __name__ == "__main__"` would start processes without end. A chunk that no process delivers, for
whatever reason, is drawn here.
"""

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import astuple, dataclass
from pathlib import Path

from softhash.data.scenes.composition import draw

CHUNK = 50  # pictures drawn between two reports of progress

Rows = list[tuple[str, str]]  # file name, and labels with `;` between them


@dataclass(frozen=True)
class Job:
    """Which pictures to draw, and where."""

    folder: Path
    count: int
    seed: int
    size: int

    @property
    def starts(self) -> range:
        """The first picture of each chunk."""
        return range(0, self.count, CHUNK)


def draw_all(job: Job, workers: int) -> Generator[Rows, None, None]:
    """Draw and save all pictures; yield the rows of each chunk, in order."""
    workers = min(workers, len(job.starts))
    with ExitStack() as running:
        processes = [_start(job, first, workers, running) for first in range(workers)]
        for number, start in enumerate(job.starts):
            process = processes[number % workers] if workers > 1 else None
            yield _delivered(process) or draw_chunk(job, start)


def draw_chunk(job: Job, start: int) -> Rows:
    """Draw and save one chunk; return its rows of the table."""
    rows = []
    for index in range(start, min(start + CHUNK, job.count)):
        picture, labels = draw(index, job.seed, job.size)
        name = f"scene-{index:05}.png"
        picture.save(job.folder / name)
        rows.append((name, ";".join(sorted(labels))))
    return rows


def _start(
    job: Job, first: int, workers: int, running: ExitStack
) -> "subprocess.Popen[str] | None":
    """Start a process that draws every so many-th chunk; None where none can be started."""
    if workers < 2 or not sys.executable:
        return None
    # -P: a file of the working directory must not be taken for a module of the same name.
    arguments = map(str, (*astuple(job), first, workers))
    try:
        process = subprocess.Popen(  # noqa: S603 (this interpreter, and numbers)
            [sys.executable, "-P", "-m", __name__, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    except OSError:
        return None
    running.enter_context(process)
    running.callback(process.kill)  # before the context above waits for it
    return process


def _delivered(process: "subprocess.Popen[str] | None") -> Rows | None:
    """Read the next chunk of a process; None where it has ended without it."""
    line = process.stdout.readline() if process and process.stdout else ""
    return [(name, labels) for name, labels in json.loads(line)] if line.endswith("\n") else None


def _work(folder: str, count: str, seed: str, size: str, first: str, step: str) -> None:
    """Draw every so many-th chunk, and print a line for each: its rows as JSON."""
    job = Job(Path(folder), int(count), int(seed), int(size))
    for start in job.starts[int(first) :: int(step)]:
        sys.stdout.write(json.dumps(draw_chunk(job, start)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _work(*sys.argv[1:])
