"""From a file to an RGB picture, whatever the file holds.

Photos arrive turned, grey, with a palette, with holes, as CMYK, in 16 bits, animated, cut short,
with the wrong suffix, or made to fill the memory. `open_image` answers with an upright RGB picture
or with an `ImageError` that names the file and the reason, and with nothing else.
"""

import io
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import Image, UnidentifiedImageError

from softhash.errors import ImageError, UsageError

ImageSource = str | os.PathLike[str] | bytes | BinaryIO

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


def open_image(
    source: ImageSource, *, size: tuple[int, int] | int | None = None, max_pixels: int = MAX_PIXELS
) -> Image.Image:
    """Open a picture upright, in RGB, and with `size` squeezed to exactly (width, height).

    The content decides the format, not the suffix. Transparent parts become white, 16-bit grey is
    scaled to 8, and of an animation the first frame is taken. With `size`, a large JPEG is decoded
    at a half, a quarter or an eighth of its size, as long as twice the asked pixels remain on both
    sides.

    Raises:
        ImageError: the file is missing, empty, cut short, no picture, or has more than
        `max_pixels`.

    """
    target = _as_size(size)
    with _opened(source, max_pixels) as image:
        picture = _upright(image, target)
        # Leave nothing of the file behind: neither its handle nor its metadata.
        return picture.copy() if picture is image else picture


def as_picture(image: Image.Image, *, size: tuple[int, int] | int | None = None) -> Image.Image:
    """Give a picture in memory the form that `open_image` gives a file; it stays as it is."""
    try:
        with _quiet:
            return _upright(image, _as_size(size), draft=False)
    except Exception as error:  # the file may be read only now, and fail in as many ways
        raise ImageError(f"the {image.mode} picture cannot be used: {error}") from error


def _upright(
    image: Image.Image, target: tuple[int, int] | None, *, draft: bool = True
) -> Image.Image:
    """Convert, squeeze and turn."""
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
    """Read (width, height) of the upright picture from the header, without decoding a pixel."""
    with _opened(source, max_pixels) as image:
        width, height = image.size
        # Looking for EXIF data behind the pixels of a PNG would decode it.
        known = image.format != "PNG" or "exif" in image.info
        sideways = known and _orientation(image) in _SIDEWAYS
    return (height, width) if sideways else (width, height)


@contextmanager
def _opened(source: ImageSource, max_pixels: int) -> Iterator[Image.Image]:
    name = _name(source)
    try:
        with _stream(source) as stream, _quiet, Image.open(stream, formats=OPENED) as image:
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
        raise ImageError(f"{name} is no picture", f"known: {', '.join(OPENED).lower()}") from None
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
            raise ImageError(f"{path} is no regular file")
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


def _as_size(size: tuple[int, int] | int | None) -> tuple[int, int] | None:
    if size is None:
        return None
    width, height = size if isinstance(size, Sequence) else (size, size)
    if width < 1 or height < 1:
        raise UsageError(f"a picture of size {width}×{height} has no pixels", "give at least 1×1")
    return width, height


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


class _Quiet:
    """Pillow's warnings off while at least one thread decodes.

    `warnings` has one list of filters for the whole process: entering it once for all threads keeps
    them from restoring each other's lists, and the filter names Pillow alone.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._saved = warnings.catch_warnings()
                self._saved.__enter__()
                warnings.filterwarnings("ignore", module=r"PIL\.")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._saved.__exit__(None, None, None)


_quiet = _Quiet()
