"""From any mode of Pillow to RGB or grey, a large picture strip by strip."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

STRIP_PIXELS = 1 << 20  # converted at once, so that a large picture has no large copies


def rgb_or_grey(image: Image.Image) -> Image.Image:
    """Decode; grey without transparency stays grey, which takes a quarter of the memory."""
    image.load()
    if image.mode.startswith("I;16"):
        return _in_strips(image, "L", lambda strip: _eight_bits(np.asarray(strip), 0, 65_535))
    if image.mode in ("I", "F"):
        low, high = _extremes(image)
        return _in_strips(image, "L", lambda strip: _eight_bits(_finite(strip), low, high))
    if image.has_transparency_data:
        return _in_strips(image, "RGB", _on_white)
    if image.mode in ("RGB", "L"):
        return image
    mode = "L" if image.mode == "1" else "RGB"
    return _in_strips(image, mode, lambda strip: strip.convert(mode))


def _in_strips(
    image: Image.Image, mode: str, convert: Callable[[Image.Image], Image.Image]
) -> Image.Image:
    """Convert a picture; a large one some rows at a time."""
    strips = list(_strips(image))
    if len(strips) == 1:
        return convert(image)
    target = Image.new(mode, image.size)
    for box in strips:
        target.paste(convert(image.crop(box)), box[:2])
    return target


def _strips(image: Image.Image) -> Iterator[tuple[int, int, int, int]]:
    rows = max(STRIP_PIXELS // max(image.width, 1), 1)
    for top in range(0, image.height, rows):
        yield 0, top, image.width, min(top + rows, image.height)


def _on_white(image: Image.Image) -> Image.Image:
    layer = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")


def _extremes(image: Image.Image) -> tuple[float, float]:
    """Return what becomes black and what white: of 16 bits in 32 their own range."""
    found = [(values.min(), values.max()) for values in _finite_strips(image)]
    low, high = min(low for low, _ in found), max(high for _, high in found)
    return (0, 65_535) if image.mode == "I" and low >= 0 and high <= 65_535 else (low, high)


def _finite_strips(image: Image.Image) -> Iterator[NDArray[np.float64]]:
    for box in _strips(image):
        yield _finite(image.crop(box))


def _finite(image: Image.Image) -> NDArray[np.float64]:
    return np.nan_to_num(np.asarray(image, dtype=np.float64), posinf=0, neginf=0)


def _eight_bits(values: NDArray[Any], low: float, high: float) -> Image.Image:
    scaled = (values.astype(np.float64) - low) * (255 / max(high - low, 1e-12))
    return Image.fromarray(np.rint(scaled).astype(np.uint8))
