"""How a decoded picture gets its size: as Pillow resizes it, and where possible faster."""

from math import ceil, floor

from PIL import Image

Box = tuple[float, float, float, float]

REDUCING_GAP = 3.0  # pictures twice as many times larger are reduced by a whole number first
MAX_PIXELS = 1 << 21  # of a picture that is copied; a larger one is left to Pillow
MIN_ROWS = 32  # that are resized side by side
_COPY_BYTES = 8  # per pixel: four in the copy, and at most four in what its rows become


def copy_bytes(image: Image.Image) -> int:
    """Return what resizing takes beside the pixels of a picture, at most; 0 where none is made.

    The decoder of an AVIF may take all that there is, and keeps it.
    """
    pixels = image.width * image.height
    return _COPY_BYTES * pixels if pixels <= MAX_PIXELS and image.format != "AVIF" else 0


def resized(
    image: Image.Image, size: tuple[int, int], box: Box | None, *, may_copy: bool = True
) -> Image.Image:
    """Resize a picture, or a part of it, by bicubic interpolation.

    Args:
        image: decoded.
        size: (width, height) to resize to.
        box: the part that is resized, all by default.
        may_copy: whether there is memory for a copy.

    """
    part = box or (0.0, 0.0, float(image.width), float(image.height))
    if not (may_copy and _is_exact(image, size, part)):
        return image.resize(size, Image.Resampling.BICUBIC, part, reducing_gap=REDUCING_GAP)
    from softhash.data._bicubic import resize_bicubic

    return resize_bicubic(image, size, part)


def _is_exact(image: Image.Image, size: tuple[int, int], box: Box) -> bool:
    """Return whether a picture can be resized exactly as Pillow would.

    From version 13 on, Pillow resizes columns first where the height shrinks by more than twice as
    many pixels as the width.
    """
    small = image.width * image.height <= MAX_PIXELS
    if image.mode != "RGB" or not small or image.height < MIN_ROWS:
        return False
    across, down = box[2] - box[0], box[3] - box[1]
    reduced = max(ceil(across) / size[0], ceil(down) / size[1]) >= 2 * REDUCING_GAP
    fewer = floor(across) - size[0], image.height - size[1]
    return not reduced and min(fewer) > 0 and fewer[1] <= 2 * fewer[0]
