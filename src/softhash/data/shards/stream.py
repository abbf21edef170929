"""The pictures of a shard as batches, read once, decoded ahead."""

import io
import os
from collections.abc import Generator, Iterable
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softhash.data.decoding import open_image
from softhash.data.loading import Batch, Broken, decode_ahead
from softhash.data.processes import decode_in_processes, useful_processes
from softhash.data.shards.records import Picture, Record, Unusable, read_shard
from softhash.devices import usable_cores
from softhash.errors import ImageError

BYTES_AT_ONCE = 1 << 26  # of files waiting in one batch: it ends early beyond that
MANY_BYTES = 1 << 28  # of a shard, from which on processes pay, which take seconds to start


class ShardPictures:
    """The pictures of one shard, a source of `Hasher.stream`; to be read once.

    Args:
        path: of the shard.
        column: of a table, where its pictures are; found by itself by default.
        name: what rows without an id are named after; the file's own by default.

    """

    def __init__(self, path: Path, column: str | None = None, name: str | None = None) -> None:
        self.path = path
        self._name = name
        self._column = column
        self._names: dict[int, tuple[str, str]] = {}

    def take_names(self, positions: NDArray[np.int64]) -> tuple[list[str], list[str]]:
        """Return ids and members of pictures that were decoded, and forget them."""
        found = [self._names.pop(position) for position in positions.tolist()]
        return [id for id, _ in found], [member for _, member in found]

    def batches(
        self, size: int, batch_size: int, workers: int | None = None
    ) -> Generator[Batch, None, None]:
        """Decode all pictures in the shard's order.

        Args:
            size: the side of the squares that they are resized to.
            batch_size: pictures per batch, at most.
            workers: threads that decode. By default the cores this process may use, or as many
                processes where the shard is large and cores are many.

        """
        chunks = self._chunks(batch_size)
        with closing(chunks), closing(self._decoded(chunks, size, batch_size, workers)) as batches:
            for batch in batches:
                for one in batch.broken:
                    self._names.pop(one.position, None)
                yield batch

    def _decoded(
        self, chunks: Iterable["Chunk"], size: int, batch_size: int, workers: int | None
    ) -> Generator[Batch, None, None]:
        is_long = workers is None and self._size() >= MANY_BYTES
        if is_long and (processes := useful_processes()):
            square, many = (size, size), {"batch_size": batch_size, "processes": processes}
            return decode_in_processes(chunks, _decode, _file, square, **many)
        threads = usable_cores() if workers is None else workers
        return decode_ahead(chunks, _decode, (size, size, 3), threads, batch_size)

    def _size(self) -> int:
        """Return the bytes of the shard; a table of paths has few."""
        try:
            return self.path.stat().st_size
        except OSError:  # said with the reason, when it is read
            return 0

    def _chunks(self, batch_size: int) -> Generator[tuple[NDArray[np.int64], list["Job"]]]:
        start, waiting = 0, 0
        jobs: list[Job] = []
        for position, record in enumerate(read_shard(self.path, self._column, self._name)):
            if isinstance(record, Picture):
                self._names[position] = record.id, record.member
                waiting += len(record.content) if isinstance(record.content, bytes) else 0
            jobs.append((position, self.path, record))
            if len(jobs) == batch_size or waiting > BYTES_AT_ONCE:
                yield np.arange(start, position + 1), jobs
                start, waiting, jobs = position + 1, 0, []
        if jobs:
            yield np.arange(start, start + len(jobs)), jobs


Job = tuple[int, Path, Record]
Chunk = tuple[NDArray[np.int64], list[Job]]


def _file(job: Job) -> str | bytes | None:
    """Return the path of a picture or its bytes, None for what is no picture."""
    _, _, record = job
    if isinstance(record, Unusable):
        return None
    return os.fspath(record.content) if isinstance(record.content, Path) else record.content


def _decode(job: Job, target: NDArray[np.uint8]) -> Broken | None:
    """Fill an array with one picture; return what is wrong where that is impossible."""
    position, path, record = job
    if isinstance(record, Unusable):
        return Broken(position, record.member, record.reason, record.kind)
    try:
        height, width, _ = target.shape
        target[:] = np.asarray(open_image(_source(record, path), size=(height, width)))
    except ImageError as error:
        return Broken(position, record.member, str(error), error.kind)
    return None


class _Named(io.BytesIO):
    """Bytes with a name that errors call them."""

    name = ""


def _source(picture: Picture, path: Path) -> Path | _Named:
    if isinstance(picture.content, Path):
        return picture.content
    source = _Named(picture.content)
    source.name = f"{path}: {picture.member or picture.id}"
    return source
