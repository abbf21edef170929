"""Batches of a train set, looked up in memory or read from disk ahead of the steps.

Which pictures a step sees is known before it runs. So threads read the batches of the next steps
while one is computed, and a GPU gets its copy of a batch on a stream of its own. The bytes are the
same from memory and from disk, and so is the model.
"""

from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import chain, islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from softhash.training import pictures
from softhash.training.pictures import Inputs, PictureRows, fits_memory

AHEAD = 8  # batches that are read, or being read, before they are asked for
READERS = 4  # threads: one alone leaves most of a fast disk idle
COPIED_AT_ONCE = 256  # pictures, when all of them go to a GPU
MOVED_AT_ONCE = 64  # batches whose positions go to a GPU together
THREAD_NAME = "softhash-read"

Batch = tuple[Tensor, Tensor]  # positions (b,), inputs (b, ...)


def batches(
    inputs: Inputs, order: Iterable[Tensor], device: torch.device
) -> Generator[Batch, None, None]:
    """Yield the positions and the inputs of each batch, on the device that computes.

    What was yielded is overwritten when the next batch is asked for. Close the generator to end its
    threads (`contextlib.closing`).

    Args:
        inputs: of the whole train set, in memory, on a device or on disk.
        order: the positions of each batch; none is longer than the first.
        device: that computes.

    Raises:
        InputError: a file of decoded pictures is gone, or has been cut off.

    """
    if isinstance(inputs, PictureRows):
        return _read_ahead(inputs, order, device)
    return _looked_up(inputs, order, device)


def in_parts(inputs: Inputs, length: int, device: torch.device) -> Generator[Tensor, None, None]:
    """Yield all inputs in their order, a part at a time; close the generator as that of `batches`.

    Args:
        inputs: in memory, on a device or on disk.
        length: rows of a part; the last may have fewer.
        device: that computes.

    """
    if isinstance(inputs, Tensor):
        yield from (part.to(device) for part in torch.split(inputs, length))
        return
    order = torch.split(torch.arange(len(inputs)), length)
    with closing(_read_ahead(inputs, order, device)) as found:
        for _, part in found:
            yield part


def bring_near(inputs: Inputs, device: torch.device) -> Inputs:
    """Put inputs where steps look them up fastest: on the GPU or in memory, if they fit.

    A copy from disk to the GPU goes part by part, and never needs memory for all of them.
    """
    if device.type == "cpu":
        small = isinstance(inputs, PictureRows) and fits_memory(*inputs.shape)
        return inputs.to(device) if small else inputs
    free, _ = torch.cuda.mem_get_info(device)
    if inputs.nbytes < free // 2:
        return _copy_to(inputs, device)
    return inputs.pin_memory() if isinstance(inputs, Tensor) else inputs


def _copy_to(inputs: Inputs, device: torch.device) -> Tensor:
    if isinstance(inputs, Tensor):
        return inputs.to(device)
    whole, start = torch.empty(inputs.shape, dtype=torch.uint8, device=device), 0
    with closing(in_parts(inputs, COPIED_AT_ONCE, device)) as parts:
        for part in parts:
            whole[start : start + len(part)] = part
            start += len(part)
    return whole


def _looked_up(
    inputs: Tensor, order: Iterable[Tensor], device: torch.device
) -> Generator[Batch, None, None]:
    """Move the positions of many batches at once: each move waits for what a GPU has in hand."""
    waiting = iter(order)
    while some := list(islice(waiting, MOVED_AT_ONCE)):
        moved = torch.split(torch.cat(some).to(device), [len(positions) for positions in some])
        for positions, index in zip(some, moved, strict=True):
            where = index if inputs.device == device else positions.to(inputs.device)
            yield index, inputs[where].to(device)


def _read_ahead(
    rows: PictureRows, order: Iterable[Tensor], device: torch.device
) -> Generator[Batch, None, None]:
    """Keep a few batches in the making; a slot is filled again once its batch has been used."""
    waiting = (positions.numpy() for positions in order)
    first = next(waiting, None)
    if first is None:
        return
    making: deque[Future[_Slot]] = deque()
    copies = _GpuCopies(device) if device.type == "cuda" else None
    pool = ThreadPoolExecutor(READERS, thread_name_prefix=THREAD_NAME)
    try:
        for positions in islice(chain([first], waiting), _slot_count(rows, len(first))):
            making.append(pool.submit(_Slot(rows, len(first), device).fill, positions))
        while making:
            slot = making.popleft().result()
            yield copies.copy(slot) if copies else slot.batch
            if (following := next(waiting, None)) is not None:
                slot.wait()
                making.append(pool.submit(slot.fill, following))
    finally:  # also when the run fails or is interrupted: at most the reads in hand are waited for
        pool.shutdown(wait=True, cancel_futures=True)


def _slot_count(rows: PictureRows, length: int) -> int:
    batch_bytes = max(1, length * rows[:1].nbytes)
    return max(2, min(AHEAD, pictures.MEMORY_BYTES // batch_bytes))


class _Slot:
    """Room in memory for one batch, page-locked where a GPU copies from it.

    Threads fill it through NumPy alone: a call of CUDA beside the capture of a graph breaks it.

    Args:
        rows: that are read.
        length: of the longest batch.
        device: that computes.

    """

    def __init__(self, rows: PictureRows, length: int, device: torch.device) -> None:
        on_gpu = device.type == "cuda"
        self._rows, self._count = rows, 0
        self._index = torch.empty(length, dtype=torch.int64, pin_memory=on_gpu)
        shape = (length, *rows.shape[1:])
        self._pixels = torch.empty(shape, dtype=torch.uint8, pin_memory=on_gpu)
        self._arrays = self._index.numpy(), self._pixels.numpy()
        self.copied: torch.cuda.Event | None = None

    def fill(self, positions: NDArray[np.int64]) -> "_Slot":
        """Read a batch; called by a thread."""
        self._count = len(positions)
        index, pixels = (array[: self._count] for array in self._arrays)
        index[:] = positions
        self._rows.read(positions, pixels)
        return self

    @property
    def batch(self) -> Batch:
        """The positions and the pictures that were read."""
        return self._index[: self._count], self._pixels[: self._count]

    def wait(self) -> None:
        """Wait until a GPU has its copy."""
        if self.copied:
            self.copied.synchronize()


class _GpuCopies:
    """Two places on a GPU: one is copied to while the batch in the other is computed with."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._used: list[torch.cuda.Event | None] = [None, None]
        self._places: list[Batch] = []
        self._turn = 0

    def copy(self, slot: _Slot) -> Batch:
        """Queue the copy of a batch, and let the work that is queued after this call wait for it.

        Work on the batch before this one has been queued by now, so an event here marks its end.
        """
        current, sources = torch.cuda.current_stream(self._device), slot.batch
        if not self._places:
            index, pixels = (source.to(self._device) for source in sources)
            self._places = [(index, pixels), (index.clone(), pixels.clone())]
            self._stream.wait_stream(current)  # the room may be in use by what is queued there
        self._used[1 - self._turn] = current.record_event()
        targets = tuple(place[: len(sources[0])] for place in self._places[self._turn])
        with torch.cuda.stream(self._stream):
            if used := self._used[self._turn]:
                self._stream.wait_event(used)
            for target, source in zip(targets, sources, strict=True):
                target.copy_(source, non_blocking=True)
        slot.copied = self._stream.record_event()
        current.wait_event(slot.copied)
        self._turn = 1 - self._turn
        return targets[0], targets[1]
