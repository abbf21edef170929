"""64 bits of how a picture looks: near copies of a picture differ in few of them.

Zauner, "Implementation and Benchmarking of Perceptual Image Hash Functions" (2010), the hash by
the discrete cosine transform: a picture is scaled to 32×32 grey pixels, and each of 8×8 low
frequencies is a bit, 1 where its coefficient is above the median of all 64.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes
from softhash.data.image_set import ImageSet
from softhash.data.loading import Broken, Progress, load
from softhash.data.row_cache import Computed, RowCache, fill

SIDE = 32  # of the square that a picture is scaled to
FREQUENCIES = np.arange(8)  # in each direction
GREY = np.array([0.299, 0.587, 0.114], np.float32)  # weights of red, green and blue
MIN_CONTRAST = 2.0  # standard deviation of grey: below it, the bits are those of noise

COSINES = np.cos(np.pi / SIDE * np.outer(FREQUENCIES, np.arange(SIDE) + 0.5)).astype(np.float32)

WHAT = "perceptual hash 1"  # names the cache; another number where the hash changes
BYTES = 8

Pixels = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]


def perceptual_hashes(pixels: Pixels) -> tuple[Codes, Mask]:
    """Compute the hashes of pictures (n, 32, 32, 3).

    Returns:
        Hashes (n, 8), packed, and whether each picture has contrast enough to be told by its hash
        from other pictures.

    """
    grey = pixels.astype(np.float32) @ GREY
    coefficients = (COSINES @ grey @ COSINES.T).reshape(len(pixels), -1)
    medians = np.median(coefficients, axis=1, keepdims=True)
    contrast = grey.reshape(len(pixels), -1).std(axis=1)
    return np.packbits(coefficients > medians, axis=1), contrast >= MIN_CONTRAST


class HashedFiles(NamedTuple):
    """The perceptual hashes of a collection.

    Attributes:
        hashes: (n, 8), packed.
        counts: (n,) whether each counts: the picture can be read, and has contrast.
        broken: the pictures that cannot be read.

    """

    hashes: Codes
    counts: Mask
    broken: tuple[Broken, ...]


def hash_files(
    images: ImageSet,
    *,
    cache: Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> HashedFiles:
    """Compute the perceptual hashes of a collection.

    Args:
        images: the collection.
        cache: a folder that keeps hashes: those of files that have not changed since are taken
            from it. Without it nothing is kept on disk.
        workers: threads that decode; one per core by default.
        progress: called with (pictures done, pictures in all).

    """
    found = np.zeros((len(images), BYTES + 1), np.uint8)
    broken: tuple[Broken, ...] = ()
    if cache is None:
        for part in _compute(images, workers, range(len(images)), progress):
            found[part.positions] = part.rows
            broken += part.broken
    else:
        with RowCache(cache, images.root, WHAT, (BYTES + 1,), np.uint8) as store:
            rows, broken = fill(store, images, partial(_compute, images, workers), progress)
            found[rows >= 0] = store.array()[rows[rows >= 0]]
    hashes = np.ascontiguousarray(found[:, :BYTES])
    return HashedFiles(hashes, found[:, BYTES].astype(bool), broken)


def _compute(
    images: ImageSet,
    workers: int | None,
    order: Sequence[int],
    progress: Progress | None = None,
) -> Iterator[Computed]:
    """Yield rows of a hash and of whether it counts."""
    for batch in load(images, SIDE, workers=workers, order=order, progress=progress):
        hashes, counts = perceptual_hashes(batch.pixels)
        yield Computed(batch.positions, np.column_stack([hashes, counts]), batch.broken)
