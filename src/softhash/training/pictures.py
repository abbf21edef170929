"""Decoded pictures of a train set: in memory where they are few, on disk otherwise."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from softhash.data.decoding import Size, as_height_and_width
from softhash.data.image_set import ImageSet
from softhash.data.loading import Broken
from softhash.data.pixels import Pixels, load_all
from softhash.data.row_file import RowFile
from softhash.files import cache_folder
from softhash.training.options import Options

MEMORY_BYTES = 2_000_000_000  # of decoded pictures in memory; what is more stays on disk


@dataclass(frozen=True, eq=False)
class PictureRows:
    """Decoded pictures on disk, in the place of a tensor (n, h, w, 3) of uint8.

    Rows stay as they were when the pictures were loaded, unless another run finds that files have
    changed, and replaces their rows in the same cache.

    Attributes:
        file: that keeps them, perhaps among others.
        rows: the row of each picture in the file (n,).

    """

    file: RowFile
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, positions: Tensor | slice) -> "PictureRows":
        """Choose some of the pictures; nothing is read."""
        chosen = positions.numpy() if isinstance(positions, Tensor) else positions
        return PictureRows(self.file, self.rows[chosen])

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the tensor."""
        return len(self), *self.file.shape

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes that all pictures take in memory."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def device(self) -> torch.device:
        """Where positions belong that choose among the pictures."""
        return torch.device("cpu")

    def read(self, positions: NDArray[np.integer], target: NDArray[np.uint8]) -> None:
        """Read some of the pictures.

        Args:
            positions: which (m,).
            target: (m, h, w, 3), contiguous; it is overwritten.

        Raises:
            InputError: the file is gone, or has been cut off.

        """
        self.file.read(self.rows[positions], target)

    def to(self, device: torch.device | str) -> Tensor:
        """Read all pictures at once; `batches.in_parts` reads what does not fit into memory."""
        whole = np.empty(self.shape, np.uint8)
        self.file.read(self.rows, whole)
        return torch.from_numpy(whole).to(device)


Inputs: TypeAlias = Tensor | PictureRows  # features (n, d), or pictures (n, h, w, 3) uint8


class Pictures(NamedTuple):
    """The readable pictures of a collection, decoded.

    Attributes:
        inputs: (n, h, w, 3) uint8, one row per readable picture.
        positions: of these pictures in the collection (n,).
        broken: the pictures that could not be read.

    """

    inputs: Inputs
    positions: NDArray[np.int64]
    broken: tuple[Broken, ...]


def load_pictures(images: ImageSet, size: Size, options: Options) -> Pictures:
    """Decode every picture once, into memory or onto the disk.

    More than `MEMORY_BYTES` of them are never in memory. They are kept in the cache of the options,
    or else in the user's cache folder, and are read from there.

    Args:
        images: the collection.
        size: what every picture is resized to: the side of a square, or (height, width).
        options: cache, progress, and who hears of a folder that was not asked for.

    """
    fits, cache = fits_memory(len(images), *as_height_and_width(size), 3), options.cache
    if cache is None and not fits:
        cache = cache_folder() / "pictures"
        options.warn(f"the decoded pictures do not fit into memory and are kept in {cache}")
    pixels = load_all(images, size, cache=cache, progress=options.progress)
    found = _readable(pixels)
    near = found.to("cpu") if fits and isinstance(found, PictureRows) else found
    return Pictures(near, pixels.readable, pixels.broken)


def fits_memory(*shape: int) -> bool:
    """Return whether pictures (n, h, w, 3) may be in memory all at once.

    >>> fits_memory(10_000, 227, 227, 3), fits_memory(20_000, 227, 227, 3)
    (True, False)

    """
    return int(np.prod(shape, dtype=np.int64)) <= MEMORY_BYTES


def _readable(pixels: Pixels) -> Inputs:
    """Return the readable pictures where they are: mapped ones are not touched."""
    if isinstance(pixels.array, np.memmap):
        return PictureRows(RowFile.of(pixels.array), pixels.rows[pixels.readable])
    return torch.from_numpy(pixels[pixels.readable] if pixels.broken else pixels.array)
