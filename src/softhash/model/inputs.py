"""Whatever holds pictures, as uint8 batches of one size; whatever holds features, as float32."""

import os
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from softhash.data.decoding import as_picture, open_image
from softhash.data.image_set import ImageSet
from softhash.data.loading import Batch, Broken, load
from softhash.data.processes import load_in_processes, useful_processes
from softhash.data.shards.stream import ShardPictures
from softhash.errors import ImageError, InputError

Item = str | os.PathLike[str] | bytes | Image.Image | NDArray[np.uint8]
Items = Sequence[Item] | NDArray[np.uint8]
MANY_PICTURES = 8192  # for which processes pay, which take seconds to start
Source = Item | ImageSet | ShardPictures | Sequence[Item] | NDArray[Any]


@dataclass(frozen=True)
class Feed:
    """How many there are, and how to get them batch by batch."""

    total: int
    batches: Generator[Batch, None, None]


def pictures(source: Source, size: int, batch_size: int, workers: int | None) -> Feed:
    """Feed pictures; files are decoded ahead, what is in memory when its turn comes.

    Args:
        source: pictures in any of the forms that `Hasher.encode` takes.
        size: the side that they are resized to.
        batch_size: pictures per batch.
        workers: threads that decode files. By default the cores this process may use, or as many
            processes where both pictures and cores are many.

    """
    if isinstance(source, ShardPictures):
        return Feed(0, source.batches(size, batch_size, workers))  # how many shows at the end
    if isinstance(source, ImageSet):
        return Feed(len(source), _files(source, size, batch_size, workers))
    items = _items(source)
    paths = [os.fspath(item) for item in items if isinstance(item, str | os.PathLike)]
    if len(items) and len(paths) == len(items):
        return Feed(len(paths), _files(_as_set(paths), size, batch_size, workers))
    return Feed(len(items), _in_turn(items, size, batch_size))


def features(source: Any, width: int, batch_size: int) -> Feed:
    """Feed features.

    Args:
        source: one row per picture, or the features of one picture.
        width: how many numbers each has.
        batch_size: rows per batch.

    """
    given = np.asarray(source)
    rows = given[np.newaxis] if given.ndim == 1 else given
    if rows.ndim != 2 or rows.shape[1] != width or rows.dtype.kind not in "fiu":
        raise InputError(
            f"features are a {given.dtype} array of shape {given.shape}",
            f"this model takes numbers of shape (n, {width}) or ({width},)",
        )
    return Feed(len(rows), _slices(rows, batch_size))


def _items(source: Any) -> Items:
    """Make one picture a list of one."""
    if isinstance(source, np.ndarray):
        array = _checked(source)
        return array if array.ndim == 4 else [array]
    if isinstance(source, str | os.PathLike):
        if Path(source).is_dir():
            raise InputError(f"{source} is a folder", "give one picture, or ImageSet.read of it")
        return [source]
    if isinstance(source, bytes | Image.Image):
        return [source]
    if isinstance(source, Sequence):
        return source
    raise InputError(
        f"a {type(source).__name__} is not a picture",
        "give a path, a PIL image, a uint8 array, an ImageSet, or a list of them",
    )


def _checked(array: NDArray[Any]) -> NDArray[np.uint8]:
    fits = array.ndim in (3, 4) and array.shape[-1] == 3 and 0 not in array.shape[-3:]
    if not fits or array.dtype != np.uint8:
        raise InputError(
            f"pictures are a {array.dtype} array of shape {array.shape}",
            "give uint8 of shape "
            "(n, height, width, 3) or (height, width, 3), with values from 0 to 255",
        )
    return array


def _files(
    images: ImageSet, size: int, batch_size: int, workers: int | None
) -> Generator[Batch, None, None]:
    is_long = workers is None and len(images) >= MANY_PICTURES
    if is_long and (processes := useful_processes()):
        return load_in_processes(images, (size, size), batch_size=batch_size, processes=processes)
    return load(images, size, batch_size=batch_size, workers=workers)


def _as_set(paths: list[str]) -> ImageSet:
    return ImageSet(Path(), tuple(paths), np.zeros((len(paths), 0), np.uint8), ())


def _in_turn(items: Items, size: int, batch_size: int) -> Generator[Batch, None, None]:
    for start in range(0, len(items), batch_size):
        chunk = items[start : start + batch_size]
        positions = np.arange(start, start + len(chunk))
        if isinstance(chunk, np.ndarray) and chunk.shape[1:3] == (size, size):
            yield Batch(positions, np.ascontiguousarray(chunk), ())
            continue
        pixels = np.empty((len(chunk), size, size, 3), np.uint8)
        broken = []
        for i, item in enumerate(chunk):
            try:
                pixels[i] = np.asarray(_picture(item, size))
            except InputError as error:
                name = str(item) if isinstance(item, str | os.PathLike) else f"item {start + i}"
                broken.append(
                    Broken(start + i, name, f"{error}", getattr(error, "kind", "damaged"))
                )
        whole = np.ones(len(chunk), bool)
        whole[[one.position - start for one in broken]] = False
        yield Batch(positions[whole], pixels[whole], tuple(broken))


def _picture(item: Item, size: int) -> Image.Image:
    if isinstance(item, np.ndarray):
        if item.ndim != 3:
            raise InputError(f"one picture has the shape (height, width, 3), not {item.shape}")
        return as_picture(Image.fromarray(_checked(item)), size=size)
    if isinstance(item, Image.Image):
        return as_picture(item, size=size)
    if isinstance(item, str | bytes | os.PathLike):
        return open_image(item, size=size)
    raise ImageError(f"a {type(item).__name__} is not a picture")


def _slices(rows: NDArray[Any], batch_size: int) -> Generator[Batch, None, None]:
    for start in range(0, len(rows), batch_size):
        with np.errstate(over="ignore"):  # found below, as infinity
            chunk = np.ascontiguousarray(rows[start : start + batch_size], np.float32)
        bad = ~np.isfinite(chunk).all(axis=1)
        if bad.any():
            raise InputError(f"features hold NaN or infinity, first in row {start + bad.argmax()}")
        # A batch of pictures in all but the type of its numbers.
        yield Batch(np.arange(start, start + len(chunk)), cast(Any, chunk), ())
