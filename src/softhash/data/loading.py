"""From a collection to uint8 batches, decoded ahead of whoever uses them.

Decoding runs in threads: Pillow releases Python's lock while it decodes and resizes, and keeps it
for about 2 % of a 500-pixel photo. On two cores threads read 1.8 times as many of them as a plain
loop, processes 1.6 times, and threads also keep ahead beside a torch training loop. They start at
once, copy nothing between processes and leave nothing behind. What they cannot do is outlive a
decoder that crashes the interpreter; a picture that merely cannot be read is reported and skipped.
Many cores need processes all the same: see `processes`.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from softhash.data.decoding import Size, as_height_and_width, open_image
from softhash.data.image_set import ImageSet
from softhash.devices import usable_cores
from softhash.errors import ImageError, InputError, UsageError

Progress = Callable[[int, int], None]
Job = TypeVar("Job")

THREAD_NAME = "softhash-decode"


@dataclass(frozen=True)
class Broken:
    """A picture that could not be read; the reason names the file, the kind is an ImageError's."""

    position: int
    file_name: str
    reason: str
    kind: str = "damaged"


@dataclass(frozen=True, eq=False)
class Batch:
    """Some pictures of a collection, decoded.

    Attributes:
        positions: where in the collection the pictures are that could be read.
        pixels: (len(positions), height, width, 3), one picture per position.
        broken: those of the batch that could not be read.

    """

    positions: NDArray[np.int64]
    pixels: NDArray[np.uint8]
    broken: tuple[Broken, ...]


def load(
    images: ImageSet,
    size: Size,
    *,
    batch_size: int = 128,
    workers: int | None = None,
    order: Sequence[int] | NDArray[np.integer] | None = None,
    progress: Progress | None = None,
) -> Generator[Batch, None, None]:
    """Decode the pictures of a collection, batch by batch, and a few batches ahead.

    Args:
        images: the collection.
        size: what every picture is resized to: the side of a square, or (height, width).
        batch_size: pictures per batch, broken ones included; only the last batch may hold fewer.
        workers: threads that decode; the cores this process may use by default. 0 decodes in the
            calling thread, when a batch is asked for.
        order: the positions to load, in this order; all of them by default.
        progress: called with (pictures done, pictures in all) before a batch is handed over.

    """
    height, width = as_height_and_width(size)
    if batch_size < 1:
        raise UsageError(f"batch_size is {batch_size}", "give at least 1")
    if workers is not None and workers < 0:
        raise UsageError(f"workers is {workers}", "give 0 or more, or leave it out for all cores")
    positions = _positions(images, order)
    threads = usable_cores() if workers is None else workers
    starts = range(0, len(positions), batch_size)
    chunks = (positions[start : start + batch_size] for start in starts)
    shape = (height, width, 3)
    threads = min(threads, len(positions)) if len(positions) > 1 else 0
    jobs = ((chunk, chunk) for chunk in chunks)
    batches = decode_ahead(jobs, partial(decode_into, images), shape, threads, batch_size)
    return _with_progress(batches, progress, len(positions))


def _positions(
    images: ImageSet, order: Sequence[int] | NDArray[np.integer] | None
) -> NDArray[np.int64]:
    if order is None:
        return np.arange(len(images), dtype=np.int64)
    given = np.asarray(order)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise InputError(
            f"order has the type {given.dtype} and the shape {given.shape}",
            "give a list of positions (of a mask: np.flatnonzero(mask))",
        )
    outside = given[(given < 0) | (given >= len(images))]
    if outside.size:
        raise InputError(f"order has position {outside[0]}, but there are {len(images)} pictures")
    return given.astype(np.int64)


def decode_into(images: ImageSet, position: int, target: NDArray[np.uint8]) -> Broken | None:
    """Fill `target` with one picture; return what is wrong where that is impossible."""
    try:
        height, width, _ = target.shape
        target[:] = np.asarray(open_image(images.path(position), size=(height, width)))
    except ImageError as error:
        return Broken(int(position), images.file_names[position], str(error), error.kind)
    return None


def collect_batch(
    positions: NDArray[np.int64], pixels: NDArray[np.uint8], results: Sequence[Broken | None]
) -> Batch:
    """Put together what became of some pictures."""
    broken = tuple(one for one in results if one is not None)
    if not broken:
        return Batch(positions, pixels, ())
    whole = np.array([one is None for one in results], dtype=bool)
    return Batch(positions[whole], pixels[whole], broken)


def decode_ahead(
    chunks: Iterable[tuple[NDArray[np.int64], Iterable[Job]]],
    decode: Callable[[Job, NDArray[np.uint8]], Broken | None],
    shape: tuple[int, int, int],
    threads: int,
    batch_size: int,
) -> Generator[Batch, None, None]:
    """Decode chunks of pictures, a few chunks ahead of whoever uses them.

    Args:
        chunks: positions, and for each what `decode` needs.
        decode: fills an array with one picture, or returns what is wrong with it.
        shape: of a picture, (height, width, 3).
        threads: how many decode; with 0 the calling thread does, when a batch is asked for.
        batch_size: how many pictures a chunk has, at most.

    """
    if not threads:
        return _in_turn(chunks, decode, shape)
    return _ahead(chunks, decode, shape, threads, max(2, -(-2 * threads // batch_size)))


def _in_turn(
    chunks: Iterable[tuple[NDArray[np.int64], Iterable[Job]]],
    decode: Callable[[Job, NDArray[np.uint8]], Broken | None],
    shape: tuple[int, int, int],
) -> Generator[Batch, None, None]:
    for chunk, jobs in chunks:
        pixels = np.empty((len(chunk), *shape), dtype=np.uint8)
        results = [decode(*job) for job in zip(jobs, pixels, strict=True)]
        yield collect_batch(chunk, pixels, results)


def _ahead(
    chunks: Iterable[tuple[NDArray[np.int64], Iterable[Job]]],
    decode: Callable[[Job, NDArray[np.uint8]], Broken | None],
    shape: tuple[int, int, int],
    threads: int,
    ahead: int,
) -> Generator[Batch, None, None]:
    """Keep `ahead` batches in the making while the one before them is used."""
    making: deque[tuple[NDArray[np.int64], NDArray[np.uint8], list[Future[Broken | None]]]] = (
        deque()
    )

    def finished() -> Batch:
        chunk, pixels, futures = making.popleft()
        wait(futures)  # woken once a batch, not once a picture
        return collect_batch(chunk, pixels, [future.result() for future in futures])

    pool = ThreadPoolExecutor(threads, thread_name_prefix=THREAD_NAME)
    try:
        for chunk, jobs in chunks:
            pixels = np.empty((len(chunk), *shape), dtype=np.uint8)
            futures = [pool.submit(decode, *job) for job in zip(jobs, pixels, strict=True)]
            making.append((chunk, pixels, futures))
            if len(making) > ahead:
                yield finished()
        while making:
            yield finished()
    finally:  # also when the consumer stops early: at most the pictures in hand are waited for
        pool.shutdown(wait=True, cancel_futures=True)


def _with_progress(
    batches: Generator[Batch, None, None], progress: Progress | None, total: int
) -> Generator[Batch, None, None]:
    done = 0
    with closing(batches):
        for batch in batches:
            done += len(batch.positions) + len(batch.broken)
            if progress:
                progress(done, total)
            yield batch
