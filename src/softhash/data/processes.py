"""Decoding in processes, where threads of one process cannot feed the network.

Threads share Python's lock and one address space. On a machine with 16 cores, 16 processes read
three times as many pictures as 16 threads (`benchmarks/gpu_encoding.py`). They take a second or two
to start, so that they are for thousands of pictures. Pixels go through memory that all share; files
and answers go through pipes. A script that calls needs no `if __name__ == "__main__"`: the
processes run a module of this room, not the script.

What a process cannot decode is tried again here: with all of the memory, with what the program may
have changed in Pillow, and for an error that names the picture.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from mmap import mmap
from queue import SimpleQueue
from typing import Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from softhash.data._decoder import Decoder, Decoders, File, start_decoders
from softhash.data._decoding_memory import MAX_BYTES
from softhash.data.image_set import ImageSet
from softhash.data.loading import Batch, Broken, Job, collect_batch, decode_ahead, decode_into
from softhash.devices import usable_cores

MANY_CORES = 8  # threads use no more
MAX_PROCESSES = 16  # more were not measured, and each has less memory to decode in
PICTURES_AT_ONCE = 32  # of one piece of work
BYTES_WAITING = 1 << 28  # of files read ahead, beyond which nothing more is read

Chunks = Iterable[tuple[NDArray[np.int64], Sequence[Job]]]
Decode = Callable[[Job, NDArray[np.uint8]], Broken | None]


def useful_processes() -> int:
    """Return how many processes decode thousands of pictures faster than threads; 0 for none."""
    cores = usable_cores()
    is_python = bool(sys.executable) and not getattr(sys, "frozen", False)
    can_share = is_python and hasattr(os, "memfd_create")
    return min(cores, MAX_PROCESSES) if can_share and cores >= MANY_CORES else 0


def load_in_processes(
    images: ImageSet, size: tuple[int, int], *, batch_size: int, processes: int
) -> Generator[Batch, None, None]:
    """Decode the pictures of a collection as `load` does, in processes.

    Args:
        images: the collection.
        size: what every picture is resized to, (height, width).
        batch_size: pictures per batch, broken ones included; only the last batch may hold fewer.
        processes: how many decode.

    """
    positions = np.arange(len(images), dtype=np.int64)
    starts = range(0, len(images), batch_size)
    parts = (positions[start : start + batch_size] for start in starts)
    chunks = ((part, part.tolist()) for part in parts)

    def path(position: int) -> str:
        return os.fspath(images.path(position))

    some = max(1, min(batch_size, len(images)))
    decode = partial(decode_into, images)
    return decode_in_processes(chunks, decode, path, size, batch_size=some, processes=processes)


def decode_in_processes(
    chunks: Chunks[Job],
    decode: Decode[Job],
    find_file: Callable[[Job], File | None],
    size: tuple[int, int],
    *,
    batch_size: int,
    processes: int,
) -> Generator[Batch, None, None]:
    """Decode chunks of pictures as `decode_ahead` does, in processes.

    The pixels of a batch are overwritten once the next one is asked for. Where there is no room for
    processes or their memory, threads decode.

    Args:
        chunks: positions, and for each what `decode` needs.
        decode: fills an array with one picture, or returns what is wrong with it.
        find_file: returns the path of a picture or its bytes, None for what is not for processes.
        size: what every picture is resized to, (height, width).
        batch_size: how many pictures a chunk has, at most.
        processes: how many decode.

    Raises:
        InputError: a process ended, as when the system killed it.

    """
    ahead = max(2, -(-2 * processes * PICTURES_AT_ONCE // batch_size))
    slots = ahead + 2  # those in the making, one that is finished, one that is used
    with ExitStack() as stack:
        try:
            memory, rows = stack.enter_context(_shared_memory((slots, batch_size, *size, 3)))
            share = MAX_BYTES // processes
            decoders = stack.enter_context(start_decoders(processes, memory, size, share))
        except OSError:
            stack.close()
            yield from decode_ahead(chunks, decode, (*size, 3), processes, batch_size)
            return
        team = _Team(decode, rows.reshape(-1, *size, 3), decoders)
        yield from _ahead(chunks, find_file, team, batch_size, slots)


class _Team(Generic[Job]):
    """Decoders that take pieces of work in turn.

    Args:
        decode: decodes a picture in this process.
        rows: the shared memory (n, height, width, 3).
        decoders: the processes.

    """

    def __init__(
        self,
        decode: Decode[Job],
        rows: NDArray[np.uint8],
        decoders: Decoders,
    ) -> None:
        self._decode, self.rows, self.decoders = decode, rows, decoders
        self._idle: SimpleQueue[Decoder] = SimpleQueue()
        for decoder in decoders:
            self._idle.put(decoder)

    def fill(
        self, first: int, jobs: Sequence[Job], files: Sequence[File | None]
    ) -> list[Broken | None]:
        """Fill rows from `first` on; return what is wrong with each picture."""
        decoder = self._idle.get()
        try:
            failed = decoder.decode(first, files)
        finally:
            self._idle.put(decoder)
        results: list[Broken | None] = [None] * len(jobs)
        for number in failed:
            results[number] = self._decode(jobs[number], self.rows[first + number])
        return results


class _Making(NamedTuple):
    """A batch in the making.

    Attributes:
        chunk: the positions of its pictures.
        first: the row of the first.
        parts: what becomes of the pieces of work.
        waiting: the bytes of files that they hold.

    """

    chunk: NDArray[np.int64]
    first: int
    parts: list[Future[list[Broken | None]]]
    waiting: int


def _ahead(
    chunks: Chunks[Job],
    find_file: Callable[[Job], File | None],
    team: _Team[Job],
    batch_size: int,
    slots: int,
) -> Generator[Batch, None, None]:
    """Keep batches in the making while the one before them is used, as many as there is room for.

    Args:
        chunks: positions and jobs.
        find_file: returns what a process is given of a picture.
        team: the processes.
        batch_size: rows of a slot.
        slots: how many batches have room; one of them is used, and one is finished.

    """
    making: deque[_Making] = deque()

    def finished() -> Batch:
        one = making.popleft()
        pixels = team.rows[one.first : one.first + len(one.chunk)]
        results = [result for part in one.parts for result in part.result()]
        return collect_batch(one.chunk, pixels, results)

    pool = ThreadPoolExecutor(len(team.decoders))  # a thread waits for each process
    try:
        for number, (chunk, jobs) in enumerate(chunks):
            first = number % slots * batch_size
            files = [find_file(job) for job in jobs]
            pieces = [slice(i, i + PICTURES_AT_ONCE) for i in range(0, len(jobs), PICTURES_AT_ONCE)]
            parts = [
                pool.submit(team.fill, first + piece.start, jobs[piece], files[piece])
                for piece in pieces
            ]
            waiting = sum(len(file) for file in files if isinstance(file, bytes))
            making.append(_Making(chunk, first, parts, waiting))
            while len(making) > slots - 2 or sum(one.waiting for one in making) > BYTES_WAITING:
                yield finished()
        while making:
            yield finished()
    finally:
        team.decoders.kill()  # nobody waits for what they have in hand
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
