"""Losses of all triplets of a batch, with their gradient, on a processor.

A few anchors at a time, as in training, beside all triplets at once in tensors of (n, n, n): one
thread, 48 bits, labels as COCO has them (80 classes, 2.9 per picture).
"""

from collections.abc import Callable
from unittest.mock import patch

import torch

from benchmarks._timing import Row, best_times, row
from softhash.training.methods import _triplets, create

BITS, CLASSES, PER_PICTURE = 48, 80, 2.9
METHODS = ("dsrh", "dtsh")
BATCHES = (64, 128, 256)


def rows() -> list[Row]:
    """Measure two methods at the batches that tuning draws."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [_row(method, batch) for method in METHODS for batch in BATCHES]
    finally:
        torch.set_num_threads(threads)


def _row(name: str, batch: int) -> Row:
    torch.manual_seed(0)
    method = create(name, BITS, CLASSES)
    labels = (torch.rand(batch, CLASSES) < PER_PICTURE / CLASSES).to(torch.uint8)
    outputs = torch.randn(batch, BITS).tanh().requires_grad_()

    def few() -> None:
        method(outputs, labels, torch.arange(batch)).backward()

    def at_once() -> None:
        with patch.object(_triplets, "TRIPLETS", batch**3):
            few()

    runs: dict[str, Callable[[], None]] = {"at once": at_once, "few": few}
    best = best_times(runs, rounds=5)
    case = f"{name}, batch of {batch}: all triplets at once"
    return row("triplets", case, 1000 * best["at once"], 1000 * best["few"], "ms", None)


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show(rows())
