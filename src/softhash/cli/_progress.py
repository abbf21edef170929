"""Progress on stderr: a bar on a terminal, a plain line now and then otherwise."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from softhash.cli._output import say, stderr

SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def show_progress(what: str, unit: str | None = None) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to be called with (done, total); with a unit, the rate is shown too."""
    if not stderr.is_terminal:
        yield _Lines(what, unit)
        return
    columns: list[ProgressColumn] = [TextColumn("{task.description}"), BarColumn()]
    columns += [MofNCompleteColumn(), *([_Rate(unit)] if unit else [])]
    with Progress(*columns, TimeRemainingColumn(), console=stderr, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _Rate(ProgressColumn):
    """How many are done in a second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        """Show the rate of the last seconds, once it is known."""
        return Text(f"{task.speed:,.0f} {self._unit}/s" if task.speed else "")


class _Lines:
    """Prints how far it is when some time has passed; nothing about what is quick."""

    def __init__(self, what: str, unit: str | None) -> None:
        self._what = what
        self._unit = unit
        self._started = self._said = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._said >= SECONDS_BETWEEN_LINES:
            self._said = now
            passed = max(now - self._started, 1e-3)
            rate = f", {done / passed:,.0f} {self._unit}/s" if self._unit else ""
            left = f", {_duration(passed / done * (total - done))} left" if done else ""
            say(f"{self._what}: {done:,} of {total:,}{rate}{left}")


def _duration(seconds: float) -> str:
    """Write a time as a clock does.

    >>> _duration(75.2), _duration(3 * 3600 + 62)
    ('1:15', '3:01:02')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
