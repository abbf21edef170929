"""From a file to an RGB picture, whatever the file holds.

Photos arrive turned, grey, with a palette, with holes, as CMYK, in 16 bits, animated, cut short,
with the wrong suffix, or made to fill the memory. `open_image` returns an upright RGB picture or
raises an `ImageError` that names the file and the reason; it raises and warns of nothing else.

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

import numpy as np
from PIL import Image, UnidentifiedImageError

from softhash.errors import ImageError, UsageError

ImageSource = str | os.PathLike[str] | bytes | BinaryIO
Size = int | tuple[int, int]  # one side of a square, or (height, width)

MAX_PIXELS = 178_956_970  # half a gigabyte of RGB; Pillow refuses more by itself
OPENED = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF")

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
        ImageError: the file is missing, empty, cut short, not a picture, or has more than
            `max_pixels`.

    """
    target = _pillow_size(size)
    with _opened(source, max_pixels) as image:
        picture = _upright(image, target)
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
    image: Image.Image, target: tuple[int, int] | None, *, draft: bool = True
) -> Image.Image:
    """Convert, resize to a target of (width, height), and turn."""
    orientation = _orientation(image)
    lying = target[::-1] if target and orientation in _SIDEWAYS else target
    box = _draft(image, lying) if lying and draft else None
    picture = _rgb(image)
    if lying and picture.size != lying:
        picture = picture.resize(lying, Image.Resampling.BICUBIC, box, reducing_gap=3.0)
    if orientation in _UPRIGHT:
        picture = picture.transpose(_UPRIGHT[orientation])
    return picture


def image_size(source: ImageSource, *, max_pixels: int = MAX_PIXELS) -> tuple[int, int]:
    """Read (height, width) of the upright picture from the header, without decoding a pixel."""
    with _opened(source, max_pixels) as image:
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
def _opened(source: ImageSource, max_pixels: int) -> Iterator[Image.Image]:
    name = _name(source)
    try:
        with _stream(source) as stream, Image.open(stream, formats=OPENED) as image:
            if image.width * image.height > max_pixels:
                raise ImageError(
                    f"{name} has {image.width}×{image.height} pixels, more than the limit of "
                    f"{max_pixels:,}",
                    "scale it down or raise max_pixels",
                )
            yield image
    except ImageError:
        raise
    except UnidentifiedImageError:
        raise ImageError(
            f"{name} is not a picture", f"known: {', '.join(OPENED).lower()}"
        ) from None
    # Decoders meet bad bytes with OSError, SyntaxError, ValueError, struct.error, zlib.error,
    # EOFError, IndexError, MemoryError and more: what a file can provoke is not enumerable.
    except Exception as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ImageError(f"{name} cannot be opened: {reason}") from error


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
        yield source


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


def _draft(image: Image.Image, size: tuple[int, int]) -> tuple[float, float, float, float] | None:
    """Ask for a scaled JPEG; return what part of it is picture.

    A side that the scale does not divide is rounded up, and stretching the rounded picture would
    shift what is in it by up to half a pixel.
    """
    if image.format not in ("JPEG", "MPO"):
        return None
    drafted = image.draft(None, (2 * size[0], 2 * size[1]))
    return drafted[1] if drafted else None


def _rgb(image: Image.Image) -> Image.Image:
    image.load()
    if image.mode.startswith("I;16"):
        return Image.fromarray(_eight_bits(np.asarray(image), 0, 65_535)).convert("RGB")
    if image.mode in ("I", "F"):
        values = np.nan_to_num(np.asarray(image, dtype=np.float64), posinf=0, neginf=0)
        low, high = values.min(), values.max()
        if image.mode == "I" and low >= 0 and high <= 65_535:
            low, high = 0, 65_535
        return Image.fromarray(_eight_bits(values, low, high)).convert("RGB")
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        white = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(white, layer).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")


def _eight_bits(values: np.ndarray, low: float, high: float) -> np.ndarray:
    scaled = (values.astype(np.float64) - low) * (255 / max(high - low, 1e-12))
    return np.rint(scaled).astype(np.uint8)
