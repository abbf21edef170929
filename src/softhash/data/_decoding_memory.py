"""What decoding takes of memory: counted before it starts, bounded for all threads together."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock
from typing import BinaryIO

from PIL import Image

from softhash.data._file_headers import MAX_SCANNED, RefusedError, is_progressive

MAX_BYTES = 3 << 29  # of all pictures that are being decoded; 179 megapixels of CMYK just fit
MAX_RUNS = 1 << 22  # pixels, and half the bytes, of a run-length BMP: Pillow decodes it in Python

_ONE_BYTE = ("1", "L", "P")
_GREY = ("1", "L", "I", "F")
_STILL = 16  # bytes per pixel: two canvases, the frame, and what is handed over
_BITS, _STRIP_ROWS, _TILE_WIDTH, _TILE_ROWS = 258, 278, 322, 323  # tags of TIFF


class MemoryBudget:
    """Bytes that threads take and give back; who asks for more than is free waits for its turn.

    Args:
        total: how many there are.

    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.reset()

    def reset(self) -> None:
        """Forget what was taken: the threads that would give it back are not in a forked child."""
        self._used = 0
        self._turn, self._changed = Lock(), Condition()

    def check(self, amount: int) -> None:
        """Raise a RefusedError where there are never so many bytes."""
        if amount > self.total:
            raise RefusedError(
                f"takes {amount / 1e9:.1f} GB of memory to decode, more than the limit of "
                f"{self.total / 1e9:.1f} GB"
            )

    @contextmanager
    def taken(self, amount: int) -> Iterator[None]:
        """Hold some bytes; raise a RefusedError where there are never so many."""
        self.check(amount)
        with self._turn, self._changed:  # in turn: many small pictures do not keep out a large one
            self._changed.wait_for(lambda: self._used + amount <= self.total)
            self._used += amount
        try:
            yield
        finally:
            with self._changed:
                self._used -= amount
                self._changed.notify_all()


budget = MemoryBudget(MAX_BYTES)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=budget.reset)


def pixel_bytes(image: Image.Image) -> int:
    """Return what the pixels of an opened picture take, and their copy in RGB or grey."""
    mode = image.mode.partition(";")[0]  # 16 bits, I;16, count as the 32 of I
    own = 1 if mode in _ONE_BYTE else 4
    copy = 0 if mode in ("RGB", "L") else 1 if mode in _GREY else 4
    if image.has_transparency_data:
        copy = 4
    return image.width * image.height * (own + copy)


def decoder_bytes(image: Image.Image, scans: int) -> int:
    """Return what a decoder takes beside the pixels.

    Args:
        image: opened, at its full size.
        scans: of a JPEG; with more than one, all coefficients are kept until the last.

    """
    pixels = image.width * image.height
    if image.format == "AVIF":  # its frame may be larger than declared, and then just fits
        return max(still_bytes(pixels), budget.total - pixel_bytes(image))
    if image.format in ("WEBP", "HEIF"):
        return still_bytes(pixels)
    if image.format in ("JPEG", "MPO"):
        return 2 * len(image.getbands()) * pixels if scans > 1 else 0
    if image.format == "TIFF" and _codec(image) == "libtiff":
        return _strip_bytes(image)
    return 0


def still_bytes(pixels: int) -> int:
    """Return what the decoder of a WebP, HEIC or AVIF of so many pixels takes."""
    return _STILL * pixels


def check_codec(image: Image.Image, stream: BinaryIO) -> None:
    """Raise a RefusedError for what decodes so slowly that a small file takes minutes."""
    pixels = image.width * image.height
    in_runs = _codec(image) == "bmp_rle"
    if in_runs and (pixels > MAX_RUNS or stream.seek(0, os.SEEK_END) > 2 * MAX_RUNS):
        raise RefusedError("is a run-length BMP of more than 4 megapixels or 8 megabytes")
    # libtiff allows a JPEG within a TIFF a hundred scans.
    jpegs = image.format == "TIFF" and "jpeg" in str(image.info.get("compression"))
    if jpegs and 100 * pixels > MAX_SCANNED and is_progressive(stream):
        raise RefusedError(f"is a TIFF of progressive JPEGs with {pixels:,} pixels")


def _codec(image: Image.Image) -> str:
    tiles = getattr(image, "tile", None)
    return str(tiles[0][0]) if tiles else ""


def _strip_bytes(image: Image.Image) -> int:
    """Return the size of a strip or tile of a TIFF; one may be larger than the picture."""
    tags = getattr(image, "tag_v2", {})
    bits = tags.get(_BITS, (8,))
    width = tags.get(_TILE_WIDTH, image.width)
    rows = tags.get(_TILE_ROWS) or min(tags.get(_STRIP_ROWS, image.height), image.height)
    return int(width) * int(rows) * sum(bits if isinstance(bits, tuple) else (bits,)) // 8
