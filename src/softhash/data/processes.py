"""Decoding in processes, where threads of one process cannot feed the network.

Threads share Python's lock and one address space. On a machine with 16 cores, 16 processes read
three times as many pictures as 16 threads (`benchmarks/gpu_encoding.py`). They take a second or two
to start, so that they are for thousands of pictures. Pixels go through memory that all share; paths
and answers go through pipes. A script that calls needs no `if __name__ == "__main__"`: the
processes run a module of this room, not the script.
"""

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from mmap import mmap
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from softhash.data._decoding_memory import MAX_BYTES
from softhash.data._decoding_process import Refusal
from softhash.data.image_set import ImageSet
from softhash.data.loading import Batch, Broken, collect_batch, decode_into
from softhash.errors import InputError

PICTURES_AT_ONCE = 32  # of one job
MODULE = "softhash.data._decoding_process"
STOPPING = 10.0  # seconds to finish a job


def can_use_processes() -> bool:
    """Return whether this system shares memory between processes without a file that stays."""
    return hasattr(os, "memfd_create") and bool(sys.executable)


def load_in_processes(
    images: ImageSet, size: tuple[int, int], *, batch_size: int, processes: int
) -> Generator[Batch, None, None]:
    """Decode the pictures of a collection as `load` does, in processes.

    The pixels of a batch are overwritten once the next one is asked for.

    Args:
        images: the collection.
        size: what every picture is resized to, (height, width).
        batch_size: pictures per batch, broken ones included; only the last batch may hold fewer.
        processes: how many decode.

    Raises:
        InputError: a process ended, as when the system killed it.

    """
    ahead = max(2, -(-2 * processes * PICTURES_AT_ONCE // batch_size))
    slots = ahead + 2  # those in the making, one that is finished, one that is used
    shape = (slots, batch_size, *size, 3)
    making: deque[tuple[NDArray[np.int64], NDArray[np.uint8], list[Future[list[Broken | None]]]]]
    making = deque()

    def finished() -> Batch:
        chunk, pixels, jobs = making.popleft()
        return collect_batch(chunk, pixels, [one for job in jobs for one in job.result()])

    with _shared_memory(shape) as (memory, rows), _started(memory, size, processes) as workers:
        team = _Team(images, rows.reshape(-1, *size, 3), workers)
        pool = ThreadPoolExecutor(processes)  # a thread waits for each process
        try:
            for number, start in enumerate(range(0, len(images), batch_size)):
                slot = number % slots
                chunk = np.arange(start, min(start + batch_size, len(images)), dtype=np.int64)
                parts = range(0, len(chunk), PICTURES_AT_ONCE)
                jobs = [
                    pool.submit(team.decode, chunk[i : i + PICTURES_AT_ONCE], slot * batch_size + i)
                    for i in parts
                ]
                making.append((chunk, rows[slot, : len(chunk)], jobs))
                if len(making) > ahead:
                    yield finished()
            while making:
                yield finished()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class _Team:
    """Processes that take jobs in turn.

    Args:
        images: the collection.
        rows: the shared memory (n, height, width, 3).
        workers: the processes.

    """

    def __init__(
        self, images: ImageSet, rows: NDArray[np.uint8], workers: list["subprocess.Popen[str]"]
    ) -> None:
        self._images, self._rows = images, rows
        self._idle: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
        for worker in workers:
            self._idle.put(worker)

    def decode(self, positions: NDArray[np.int64], first: int) -> list[Broken | None]:
        """Fill rows from `first` on; return what is wrong with each picture."""
        paths = [os.fspath(self._images.path(position)) for position in positions]
        worker = self._idle.get()
        try:
            refused = _ask(worker, first, paths)
        finally:
            self._idle.put(worker)
        results: list[Broken | None] = [None] * len(positions)
        for number, reason, kind in refused:
            position = int(positions[number])
            if kind == "refused":  # by a share of the memory: here is all of it
                results[number] = decode_into(self._images, position, self._rows[first + number])
            else:
                results[number] = Broken(position, self._images.file_names[position], reason, kind)
        return results


def _ask(worker: "subprocess.Popen[str]", first: int, paths: list[str]) -> list[Refusal]:
    """Have a process decode pictures; return those that it could not read."""
    answer = ""
    if worker.stdin and worker.stdout:
        try:
            worker.stdin.write(json.dumps((first, paths)) + "\n")
            worker.stdin.flush()
            answer = worker.stdout.readline()
        except BrokenPipeError:
            pass
    if not answer.endswith("\n"):
        raise InputError(
            f"a process that decodes pictures ended ({worker.wait()}) with {paths[0]}, or one of "
            f"the {len(paths) - 1} after it",
            "was memory short? With a number of workers, threads decode",
        )
    return [(number, reason, kind) for number, reason, kind in json.loads(answer)]


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
def _started(
    memory: int, size: tuple[int, int], processes: int
) -> Iterator[list["subprocess.Popen[str]"]]:
    """Start processes, each with its share of what decoding may take; end them afterwards."""
    numbers = (memory, *size, MAX_BYTES // processes)
    command = [sys.executable, "-m", MODULE, *map(str, numbers)]
    found = os.pathsep.join(path for path in sys.path if path)
    workers = []
    try:
        for _ in range(processes):
            workers.append(
                subprocess.Popen(  # noqa: S603 - the same Python, a module of this package
                    command, text=True, pass_fds=[memory], env={**os.environ, "PYTHONPATH": found},
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                )
            )  # fmt: skip
        yield workers
    finally:
        for worker in workers:
            _let_go(worker)
        for worker in workers:
            _end(worker)


def _let_go(worker: "subprocess.Popen[str]") -> None:
    """Have a process end when its job is done."""
    try:
        if worker.stdin:
            worker.stdin.close()
    except BrokenPipeError:  # it has ended, with a job that it had not read
        pass


def _end(worker: "subprocess.Popen[str]") -> None:
    """Wait for a process, but not for ever."""
    with worker:
        try:
            worker.wait(STOPPING)
        except subprocess.TimeoutExpired:
            worker.kill()
