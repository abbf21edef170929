"""Decoding in processes, where threads of one process cannot feed the network.

Threads share Python's lock and one address space. On a machine with 16 cores, 16 processes read
three times as many pictures as 16 threads (`benchmarks/gpu_encoding.py`). They take a second or two
to start, so that they are for thousands of pictures. Pixels go through memory that all share; paths
and answers go through pipes. A script that calls needs no `if __name__ == "__main__"`: the
processes run a module of this room, not the script. They have Pillow as it is installed, without
what a script may have changed in it.
"""

import os
import sys
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from mmap import mmap
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray
from PIL import ImageFile

from softhash.data._decoder import Decoder
from softhash.data._decoding_memory import MAX_BYTES
from softhash.data.image_set import ImageSet
from softhash.data.loading import Batch, Broken, collect_batch, decode_into, load

MAX_PROCESSES = 16  # more were not measured, and each takes 80 MB and has less memory to decode in
PICTURES_AT_ONCE = 32  # of one job


def can_use_processes() -> bool:
    """Return whether processes can be started here, and share memory without a file that stays."""
    is_python = bool(sys.executable) and not getattr(sys, "frozen", False)
    return is_python and hasattr(os, "memfd_create") and not ImageFile.LOAD_TRUNCATED_IMAGES


def load_in_processes(
    images: ImageSet, size: tuple[int, int], *, batch_size: int, processes: int
) -> Generator[Batch, None, None]:
    """Decode the pictures of a collection as `load` does, in processes.

    The pixels of a batch are overwritten once the next one is asked for. Where there is no room for
    processes or their memory, threads decode.

    Args:
        images: the collection.
        size: what every picture is resized to, (height, width).
        batch_size: pictures per batch, broken ones included; only the last batch may hold fewer.
        processes: how many decode, at most.

    Raises:
        InputError: a process ended, as when the system killed it.

    """
    batch_size = max(1, min(batch_size, len(images)))
    processes = min(processes, MAX_PROCESSES)
    ahead = max(2, -(-2 * processes * PICTURES_AT_ONCE // batch_size))
    slots = ahead + 2  # those in the making, one that is finished, one that is used
    with ExitStack() as stack:
        try:
            shape = (slots * batch_size, *size, 3)
            memory, rows = stack.enter_context(_shared_memory(shape))
            decoders = stack.enter_context(_started(memory, size, processes))
        except OSError:
            stack.close()
            yield from load(images, size, batch_size=batch_size)
            return
        yield from _batches(_Team(images, rows, decoders), len(images), batch_size, ahead)


class _Team:
    """Decoders that take jobs in turn.

    Args:
        images: the collection.
        rows: the shared memory (n, height, width, 3).
        decoders: the processes.

    """

    def __init__(self, images: ImageSet, rows: NDArray[np.uint8], decoders: list[Decoder]) -> None:
        self.images, self.rows, self.decoders = images, rows, decoders
        self._idle: SimpleQueue[Decoder] = SimpleQueue()
        for decoder in decoders:
            self._idle.put(decoder)

    def decode(self, positions: NDArray[np.int64], first: int) -> list[Broken | None]:
        """Fill rows from `first` on; return what is wrong with each picture."""
        paths = [os.fspath(self.images.path(position)) for position in positions]
        decoder = self._idle.get()
        try:
            refused = decoder.decode(first, paths)
        finally:
            self._idle.put(decoder)
        results: list[Broken | None] = [None] * len(positions)
        for number, reason, kind in refused:
            position = int(positions[number])
            if kind == "refused":  # by a share of the memory: here is all of it
                results[number] = decode_into(self.images, position, self.rows[first + number])
            else:
                results[number] = Broken(position, self.images.file_names[position], reason, kind)
        return results


def _batches(team: _Team, count: int, batch_size: int, ahead: int) -> Generator[Batch, None, None]:
    """Keep `ahead` batches in the making while the one before them is used."""
    making: deque[tuple[NDArray[np.int64], int, list[Future[list[Broken | None]]]]] = deque()

    def finished() -> Batch:
        chunk, first, jobs = making.popleft()
        pixels = team.rows[first : first + len(chunk)]
        return collect_batch(chunk, pixels, [one for job in jobs for one in job.result()])

    pool = ThreadPoolExecutor(len(team.decoders))  # a thread waits for each process
    try:
        for start in range(0, count, batch_size):
            chunk = np.arange(start, min(start + batch_size, count), dtype=np.int64)
            first = start % len(team.rows)
            jobs = [
                pool.submit(team.decode, chunk[i : i + PICTURES_AT_ONCE], first + i)
                for i in range(0, len(chunk), PICTURES_AT_ONCE)
            ]
            making.append((chunk, first, jobs))
            if len(making) > ahead:
                yield finished()
        while making:
            yield finished()
    finally:
        for decoder in team.decoders:  # nobody waits for what they have in hand
            decoder.kill()
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _shared_memory(shape: tuple[int, ...]) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Yield memory that child processes can share, which ends with the last of them."""
    descriptor = os.memfd_create("softhash-pixels")
    try:
        count = int(np.prod(shape))
        os.truncate(descriptor, count)
        yield descriptor, np.frombuffer(mmap(descriptor, count), np.uint8).reshape(shape)
    finally:
        os.close(descriptor)


@contextmanager
def _started(memory: int, size: tuple[int, int], processes: int) -> Iterator[list[Decoder]]:
    """Start processes, each with its share of what decoding may take; end them afterwards."""
    decoders: list[Decoder] = []
    try:
        for _ in range(processes):
            decoders.append(Decoder(memory, size, MAX_BYTES // processes))
        yield decoders
    finally:
        for decoder in decoders:
            decoder.kill()
        for decoder in decoders:
            decoder.close()
