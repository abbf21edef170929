"""Features in int8 beside fp32, on the same processor: the graph alone, and from JPEG files."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks._timing import Row, best_times, row
from benchmarks.decode import draw
from softhash.data.image_set import ImageSet
from softhash.devices import usable_cores
from softhash.model.config import ENGINES
from softhash.model.default_model import default_model
from softhash.model.hasher import Hasher

PHOTOS, SIDE, ROUNDS = 256, 224, 5
ALONE, FILES = "the graph alone", "500-px photos"


def rows() -> list[Row]:
    """Measure with one thread and with all cores, and return the lines of the table."""
    with tempfile.TemporaryDirectory() as folder:
        images = draw(Path(folder), 500, 375, PHOTOS)
        return [line for count in sorted({1, usable_cores()}) for line in _rows(images, count)]


def _rows(images: ImageSet, cores: int) -> list[Row]:
    runs: dict[str, Callable[[], object]] = {}
    with limited_to(cores):
        model = Hasher.load(default_model())
        for name in ENGINES:
            hasher = model.with_engine(name)
            runs[f"{ALONE} {name}"] = partial(_run_graph, hasher)
            runs[f"{FILES} {name}"] = partial(hasher.features, images, device="cpu")
        times = best_times(runs, ROUNDS)
    threads = "1 thread" if cores == 1 else f"{cores} threads"
    lines = []
    for what, target in ((ALONE, 1.6), (FILES, 1.3)):
        fp32, int8 = (1e3 * times[f"{what} {name}"] / PHOTOS for name in ENGINES)
        case = f"{what}, {threads}: fp32"
        lines.append(row("engines", case, fp32, int8, "ms/photo", target))
    return lines


def _run_graph(hasher: Hasher) -> None:
    """Compute as many batches of ready pixels as the photos are."""
    engine = hasher._state.engine("cpu")
    for _ in range(PHOTOS // engine.batch_size):
        engine(np.zeros((engine.batch_size, SIDE, SIDE, 3), np.uint8))


@contextmanager
def limited_to(cores: int) -> Iterator[None]:
    """Let this process, and the threads it starts, use so many cores."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:cores])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show(rows())
