"""All pictures of a collection at once, in memory or from a cache on disk."""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softhash.data.decoding import Size, as_height_and_width
from softhash.data.image_set import ImageSet
from softhash.data.loading import Broken, Progress, load
from softhash.data.row_cache import Computed, RowCache, fill
from softhash.errors import InputError

_DECODING = 1  # raise it when the same file gives other pixels than before


@dataclass(frozen=True, eq=False)
class Pixels:
    """The decoded pictures of a collection: `pixels[positions]` is (n, height, width, 3) uint8.

    Attributes:
        array: (rows, height, width, 3), in memory or mapped from a file.
        rows: the row of each picture in `array`, -1 where it could not be read.
        broken: the pictures that could not be read.

    """

    array: NDArray[np.uint8]
    rows: NDArray[np.int64]
    broken: tuple[Broken, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(
        self, positions: int | slice | Sequence[int] | NDArray[np.integer | np.bool_]
    ) -> NDArray[np.uint8]:
        rows = self.rows[positions]
        if np.any(rows < 0):
            asked = set(np.atleast_1d(np.arange(len(self))[positions]).tolist())
            culprit = next(broken for broken in self.broken if broken.position in asked)
            raise InputError(
                f"picture {culprit.position} has no pixels: {culprit.reason}",
                "ask for positions among `readable`",
            )
        return self.array[rows]

    @property
    def readable(self) -> NDArray[np.int64]:
        """The positions of the pictures that could be read."""
        return np.flatnonzero(self.rows >= 0)


def load_all(
    images: ImageSet,
    size: Size,
    *,
    cache: str | os.PathLike[str] | None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Pixels:
    """Decode every picture once.

    Args:
        images: the collection.
        size: what every picture is resized to: the side of a square, or (height, width).
        cache: where the decoded pictures are kept. A folder keeps them on disk: the next call
            decodes only files that are new or have changed, and a call that was interrupted
            continues where it stopped. None keeps them in memory, and nothing is written. There
            is no default: the two differ by gigabytes of memory or disk.
        workers: threads that decode; the cores this process may use by default.
        progress: called with (pictures done, pictures in all).

    Raises:
        InputError: the pictures do not fit into memory, or the cache cannot be written.

    """
    height, width = as_height_and_width(size)
    if cache is None:
        return _in_memory(images, (height, width), workers, progress)
    what = f"pixels {height}x{width} {_DECODING}"
    with RowCache(cache, images.root, what, (height, width, 3), np.uint8) as store:
        return _cached(images, (height, width), store, workers, progress)


def _in_memory(
    images: ImageSet, size: tuple[int, int], workers: int | None, progress: Progress | None
) -> Pixels:
    shape = (len(images), *size, 3)
    try:
        array = np.empty(shape, dtype=np.uint8)
    except MemoryError:
        raise InputError(
            f"{len(images):,} pictures of {size[0]}×{size[1]} need "
            f"{np.prod(shape, dtype=float) / 1e9:.1f} GB of memory",
            "give a folder as cache to keep them on disk",
        ) from None
    rows = np.arange(len(images))
    broken: list[Broken] = []
    for batch in load(images, size, workers=workers, progress=progress):
        array[batch.positions] = batch.pixels
        broken += batch.broken
    rows[[picture.position for picture in broken]] = -1
    return Pixels(array, rows, tuple(broken))


def _cached(
    images: ImageSet,
    size: tuple[int, int],
    store: RowCache,
    workers: int | None,
    progress: Progress | None,
) -> Pixels:
    def decode(order: Sequence[int]) -> Iterator[Computed]:
        with closing(load(images, size, workers=workers, order=order)) as batches:
            for batch in batches:
                yield Computed(batch.positions, batch.pixels, batch.broken)

    rows, broken = fill(store, images, decode, progress)
    return Pixels(store.array(), rows, broken)
