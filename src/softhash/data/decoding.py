"""From a file to an RGB picture, whatever the file holds.

Photos arrive turned, grey, with a palette, with holes, as CMYK, in 16 bits, animated, cut short,
with the wrong suffix, or made to fill the memory. `open_image` returns an upright RGB picture or
raises an `ImageError` that names the file and the reason; it raises and warns of nothing else.

What a file takes is bounded before a pixel is decoded: its pieces and scans (`_file_headers.py`)
and its memory, for all threads together (`_decoding_memory.py`).

Sizes are (height, width), as in arrays and in torch, or one number for a square. The one exception
is `size` of a Pillow image, which is Pillow's and (width, height).
"""

import io
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from PIL import Image, UnidentifiedImageError

from softhash.data._colours import rgb_or_grey
from softhash.data._decoding_memory import (
    budget,
    check_codec,
    decoder_bytes,
    pixel_bytes,
    still_bytes,
)
from softhash.data._file_headers import (
    MAX_FILE_BYTES,
    RefusedError,
    check_layout,
    count_scans,
    webp_size,
)
from softhash.data._heif import (
    AVIF,
    HEIC,
    can_read_heic,
    check_grid,
    container_kind,
    declared_size,
)
from softhash.data._resizing import copy_bytes, resized
from softhash.errors import ImageError, UsageError, install_hint

ImageSource = str | os.PathLike[str] | bytes | BinaryIO
Size = int | tuple[int, int]  # one side of a square, or (height, width)

MAX_PIXELS = 178_956_970  # half a gigabyte of RGB; Pillow refuses more by itself
OPENED = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF")
_CONTAINERS = {HEIC: ("HEIF",), AVIF: ("AVIF",)}
KNOWN = (*OPENED, *_CONTAINERS)
HEIC_HINT = install_hint("heic")

_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_ORIENTATION = 0x0112
_SIDEWAYS = (5, 6, 7, 8)
_JPEG = ("JPEG", "MPO")


def ignore_pillow_warnings() -> None:
    """Ignore what Pillow warns of while it decodes: odd metadata, and pictures over 89 megapixels.

    Importing this module does so once, for the process. Filters that are changed around each call
    would race between threads, because `warnings` has one list for all of them. To see Pillow's
    warnings all the same, add a filter of your own after the import.
    """
    for category in (UserWarning, Image.DecompressionBombWarning):
        warnings.filterwarnings("ignore", category=category, module=r"PIL\.")


ignore_pillow_warnings()


def open_image(
    source: ImageSource, *, size: Size | None = None, max_pixels: int = MAX_PIXELS
) -> Image.Image:
    """Open a picture upright, in RGB, and with `size` resized to exactly that.

    The content decides the format, not the suffix. Transparent parts become white, 16-bit grey is
    scaled to 8, and of an animation the first frame is taken. With `size`, a large JPEG is decoded
    at a half, a quarter or an eighth of its size, as long as twice the asked pixels remain on both
    sides.

    Args:
        source: a path, the bytes of a file, or a binary stream.
        size: the side of a square, or (height, width) as in arrays; the picture's own by default.
            Proportions are not kept.
        max_pixels: how many pixels a file may have; it is checked before any is decoded.

    Raises:
        ImageError: the file is missing, empty, cut short, not a picture, has more than
            `max_pixels`, or would take too much time or memory to decode.

    """
    target = _pillow_size(size)
    with opened(source, max_pixels) as (image, scans):
        picture = _upright(image, target, scans=scans)
        # Leave nothing of the file behind: neither its handle nor its metadata, where an
        # orientation would have the upright picture turned again.
        picture = picture.copy() if picture is image else picture
        picture.info.clear()
        return picture


def as_picture(image: Image.Image, *, size: Size | None = None) -> Image.Image:
    """Return a picture in memory in the form that `open_image` gives a file; it is not changed."""
    try:
        picture = _upright(image, _pillow_size(size), draft=False)
        if picture is not image:
            picture.info.clear()
        return picture
    except Exception as error:  # the file may be read only now, and fail in as many ways
        raise ImageError(f"the {image.mode} picture cannot be used: {error}") from error


def _upright(
    image: Image.Image, target: tuple[int, int] | None, *, draft: bool = True, scans: int = 1
) -> Image.Image:
    """Convert, resize to a target of (width, height), and turn."""
    needed = decoder_bytes(image, scans)
    box = _draft(image, target) if target and draft else None
    copied = copy_bytes(image) if target else 0
    with budget.taken(needed + pixel_bytes(image) + copied):
        orientation = _orientation(image)
        lying = target[::-1] if target and orientation in _SIDEWAYS else target
        picture = rgb_or_grey(image)
        if lying and picture.size != lying:
            picture = resized(picture, lying, box, may_copy=copied > 0)
        if orientation in _UPRIGHT:
            picture = picture.transpose(_UPRIGHT[orientation])
        return picture if picture.mode == "RGB" else picture.convert("RGB")


def image_size(source: ImageSource, *, max_pixels: int = MAX_PIXELS) -> tuple[int, int]:
    """Read (height, width) of the upright picture from the header, without decoding a pixel."""
    with opened(source, max_pixels) as (image, _):
        width, height = image.size
        # Looking for EXIF data behind the pixels of a PNG would decode it.
        known = image.format != "PNG" or "exif" in image.info
        sideways = known and _orientation(image) in _SIDEWAYS
    return (width, height) if sideways else (height, width)


def as_height_and_width(size: Size) -> tuple[int, int]:
    """Return a size given as one side or as (height, width) as the latter.

    >>> as_height_and_width(224), as_height_and_width((240, 320))
    ((224, 224), (240, 320))
    """
    height, width = size if isinstance(size, Sequence) else (size, size)
    if height < 1 or width < 1:
        raise UsageError(
            f"pictures of {height}×{width} have no pixels", "give a size of at least 1"
        )
    return height, width


@contextmanager
def opened(
    source: ImageSource, max_pixels: int = MAX_PIXELS, *, to_decode: bool = True
) -> Iterator[tuple[Image.Image, int]]:
    """Open a picture; yield it, not decoded yet, and the number of its scans.

    Args:
        source: a path, the bytes of a file, or a binary stream.
        max_pixels: how many pixels it may have.
        to_decode: whether scans are counted, which reads the whole file; otherwise they are 1.

    """
    name = _name(source)
    try:
        with _stream(source) as stream:
            scan = check_layout(stream)
            kind = container_kind(stream)
            _check_readable(name, kind)
            if size := declared_size(stream) if kind else webp_size(stream):
                _check_pixels(name, size, max_pixels)
                budget.check(still_bytes(size[0] * size[1]))
            with Image.open(stream, formats=_CONTAINERS.get(kind or "", OPENED)) as image:
                _check_pixels(name, image.size, max_pixels)
                check_codec(image, stream)
                check_grid(image)
                pixels = image.width * image.height
                yield image, count_scans(stream, scan, pixels) if scan and to_decode else 1
    except ImageError:
        raise
    except RefusedError as error:
        raise ImageError(f"{name} {error}", "save it anew, scaled down", "refused") from None
    except UnidentifiedImageError:
        raise ImageError(f"{name} is not a picture", f"known: {', '.join(KNOWN).lower()}") from None
    # Decoders meet bad bytes with OSError, SyntaxError, ValueError, struct.error, zlib.error,
    # EOFError, IndexError, MemoryError and more: what a file can provoke is not enumerable.
    except Exception as error:
        of_system = getattr(error, "strerror", None)
        reason = of_system or str(error) or type(error).__name__
        hint = "" if of_system else "is it complete? Copy it again, or save it anew in a viewer"
        kind = "unreadable" if of_system else "damaged"
        raise ImageError(f"{name} cannot be opened: {reason}", hint, kind) from error


def _check_readable(name: str, kind: str | None) -> None:
    if kind == HEIC and not can_read_heic():
        raise ImageError(f"{name} is a HEIC, which needs pillow-heif", HEIC_HINT, "heic")
    if kind and kind not in _CONTAINERS:
        raise ImageError(f"{name} is a video", f"known: {', '.join(KNOWN).lower()}", "video")


def _check_pixels(name: str, size: tuple[int, int], max_pixels: int) -> None:
    if size[0] * size[1] > max_pixels:
        raise ImageError(
            f"{name} has {size[0]}×{size[1]} pixels, more than the limit of {max_pixels:,}",
            "scale it down or raise max_pixels",
            "refused",
        )


def _name(source: ImageSource) -> str:
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    if isinstance(source, bytes):
        return f"the picture of {len(source):,} bytes"
    return str(getattr(source, "name", "the picture"))


@contextmanager
def _stream(source: ImageSource) -> Iterator[BinaryIO]:
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.exists() and not path.is_file():  # a pipe would be waited for without end
            raise ImageError(f"{path} is not a regular file")
        with path.open("rb") as stream:
            if os.fstat(stream.fileno()).st_size == 0:
                raise ImageError(f"{path} is empty (0 bytes)")
            yield stream
    elif isinstance(source, bytes):
        if not source:
            raise ImageError("the picture is empty (0 bytes)")
        yield io.BytesIO(source)
    else:
        yield source if source.seekable() else io.BytesIO(source.read(MAX_FILE_BYTES + 1))


def _pillow_size(size: Size | None) -> tuple[int, int] | None:
    """Return a size as Pillow has it, (width, height)."""
    return None if size is None else as_height_and_width(size)[::-1]


def _orientation(image: Image.Image) -> int:
    if image.format == "TIFF":  # Pillow turns these while it decodes them
        return 1
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # broken EXIF data must not cost the picture, and it breaks in many ways
        return 1


def _draft(image: Image.Image, target: tuple[int, int]) -> tuple[float, float, float, float] | None:
    """Ask for a scaled JPEG, for a target of (width, height); return what part of it is picture.

    A side that the scale does not divide is rounded up, and stretching the rounded picture would
    shift what is in it by up to half a pixel.
    """
    if image.format not in _JPEG:
        return None
    width, height = target[::-1] if _orientation(image) in _SIDEWAYS else target
    drafted = image.draft(None, (2 * width, 2 * height))
    return drafted[1] if drafted else None
