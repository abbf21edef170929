"""Progress on stderr: a bar on a terminal, a plain line now and then otherwise."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from softhash.cli._output import say, stderr

SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def progress_of(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function to be called with (done, total)."""
    if not stderr.is_terminal:
        yield _Lines(what)
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeRemainingColumn(), console=stderr, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _Lines:
    """Says how far it is when some time has passed; nothing about what is quick."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._said = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._said >= SECONDS_BETWEEN_LINES:
            self._said = now
            say(f"{self._what}: {done:,} of {total:,}")
