"""A process that dies at its n-th change of the disk, as by a kill: nothing is cleaned up.

``python -m tests.hardening.killing KIND FOLDER`` dies at the first change, then at the second, and
so on, each time in a child of its own, until one lives. It prints the state after each death, and
after what the next run does.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from softhash.files import neighbours
from softhash.model import folder as model

CHANGES = ("mkdir", "rename", "replace", "link", "fsync", "unlink", "rmdir")


def die_at(number: int) -> None:
    """Die before the change of that number."""
    left = [number]

    def dying(change: Callable[..., object]) -> Callable[..., object]:
        def act(*args: object, **options: object) -> object:
            left[0] -= 1
            if left[0] < 0:
                os._exit(9)
            return change(*args, **options)

        return act

    for name in CHANGES:
        setattr(os, name, dying(getattr(os, name)))
    neighbours.exchange = dying(neighbours.exchange)


def model_written_over(path: Path, content: bytes) -> None:
    """Replace a model."""
    model.write(path, {model.CONFIG: content, model.WEIGHTS: content}, force=True)


def model_written_over_in_two_steps(path: Path, content: bytes) -> None:
    """Replace a model where two names cannot be swapped at once."""
    renaming, neighbours.exchange = neighbours.exchange, lambda *names: False
    try:
        model_written_over(path, content)
    finally:
        neighbours.exchange = renaming


def look(path: Path) -> list[str]:
    """Read what the two files of the model hold, as whoever opens it next does."""
    if not model._exists(path):
        return []
    return [(path / name).read_text() for name in (model.CONFIG, model.WEIGHTS)]


def names(folder: Path) -> list[str]:
    """List a folder."""
    return sorted(path.name for path in folder.iterdir())


def die_everywhere(act: Callable[[Path, bytes], None], folder: Path) -> None:
    """Print the number of the change, the state after it, the state after the next run."""
    for number in range(1000):
        path = folder / str(number) / "name"
        path.parent.mkdir()
        act(path, b"old")
        child = os.fork()
        if child == 0:
            die_at(number)
            neighbours._sweep_once.cache_clear()
            act(path, b"new")
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        after = look(path)
        neighbours._sweep_once.cache_clear()
        act(path, b"next")
        print(json.dumps([number, after, look(path), names(path.parent)]))  # noqa: T201
        if status == 0:
            return


if __name__ == "__main__":
    die_everywhere(globals()[sys.argv[1]], Path(sys.argv[2]))
