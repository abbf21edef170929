"""HEIC and AVIF, which are boxes within boxes as videos are; checked before a library opens them.

Both libraries read the whole file and decode the picture at once. That of HEIC refuses a picture
that is larger than its boxes declare. Here all declared sizes are checked, also those of tiles.
"""

import functools
import os
import re
import struct
from typing import BinaryIO

from PIL import Image

from softhash.data._file_headers import RefusedError

MAX_FILE_BYTES = 1 << 28  # read as a whole; photographs of telephones have a hundredth
MAX_META_BYTES = 1 << 24  # of the box that declares everything
MAX_BOXES = 1_000

HEIC, AVIF, VIDEO = "HEIC", "AVIF", "video"

_START = 64  # bytes that hold all brands
_EITHER = (b"mif1", b"msf1")  # the compatible brands decide
_HEIC = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", *_EITHER)
_AVIF = (b"avif", b"avis")
_SIZE = re.compile(rb"ispe....(.{8})", re.DOTALL)


def container_kind(stream: BinaryIO) -> str | None:
    """Return whether a file is a HEIC, an AVIF or a video; None where it has no such boxes."""
    stream.seek(0)
    start = stream.read(_START)
    stream.seek(0)
    if start[4:8] != b"ftyp":
        return None
    brand, brands = start[8:12], start[8 : max(int.from_bytes(start[:4], "big"), 12)]
    if brand in _AVIF or (brand in _EITHER and any(one in brands for one in _AVIF)):
        return AVIF
    return HEIC if brand in _HEIC else VIDEO


def declared_size(stream: BinaryIO) -> tuple[int, int]:
    """Return (width, height) of the largest picture that a HEIC or AVIF declares, tiles included.

    Raises:
        RefusedError: the file is too large, animated, or put together of overlays.

    """
    size = stream.seek(0, os.SEEK_END)
    if size > MAX_FILE_BYTES:
        raise RefusedError(f"has {size:,} bytes, more than the limit of {MAX_FILE_BYTES:,}")
    if _read(stream, 8, 4) in (b"avis", b"msf1"):
        raise RefusedError("is an animation, of which only still pictures are read")
    meta = _meta(stream, size)
    stream.seek(0)
    if b"iovl" in meta:
        raise RefusedError("is put together of overlays")
    sizes = [struct.unpack(">II", found) for found in _SIZE.findall(meta)]
    width, height = max(sizes, key=lambda one: one[0] * one[1], default=(0, 0))
    return width, height


def check_grid(image: Image.Image) -> None:
    """Raise a RefusedError where a HEIC of tiles is larger than it declares."""
    tiling = image.info.get("tiling") or {}
    pixels = tiling.get("image_width", 0) * tiling.get("image_height", 0)
    if pixels > image.width * image.height:
        raise RefusedError("has more tiles than it declares")


@functools.cache
def can_read_heic() -> bool:
    """Have Pillow read HEIC, and return whether it can: pillow-heif is an extra."""
    if "HEIF" in Image.OPEN:  # somebody else had it do so, with options of their own
        return True
    try:
        from pillow_heif import register_heif_opener  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return False
    register_heif_opener(thumbnails=False, depth_images=False, aux_images=False, decode_threads=1)
    return True


def _meta(stream: BinaryIO, size: int) -> bytes:
    """Return the content of the box that declares everything, which may be behind the pixels."""
    at = 0
    for _ in range(MAX_BOXES):
        head = _read(stream, at, 16)
        if len(head) < 8:
            return b""
        length, start = int.from_bytes(head[:4], "big"), 8
        if length == 1:
            length, start = int.from_bytes(head[8:], "big"), 16
        length = min(length or size - at, size - at)
        if head[4:8] == b"meta":
            if length > MAX_META_BYTES:
                raise RefusedError(f"has {length:,} bytes of metadata")
            return _read(stream, at + start, length - start)
        at += max(length, start)
    raise RefusedError(f"is in too many pieces to be a picture: {MAX_BOXES:,} boxes and more")


def _read(stream: BinaryIO, at: int, size: int) -> bytes:
    stream.seek(at)
    return stream.read(max(size, 0))
