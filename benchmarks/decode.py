"""From JPEG files to uint8 batches of 224×224, against a bare Pillow loop on the same files.

The photos are drawn here, smoothed noise with fine detail, into a temporary folder. Threads need
idle cores: a machine that is busy with other work shows less than they can do.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from benchmarks._timing import Row, best_times, row
from softhash.data.image_set import ImageSet
from softhash.data.loading import load

SIDE = 224
CASES = (
    # case, width, height, photos, target
    ("500-px photos", 500, 375, 600, 1.6),
    ("12-megapixel photos", 4000, 3000, 24, 3.0),
)


def photo(width: int, height: int, random: np.random.Generator) -> Image.Image:
    """Draw soft shapes of several sizes under the grain of a sensor."""
    mixed = Image.new("RGB", (width, height), (128, 128, 128))
    for cells, weight in ((4, 0.6), (16, 0.4), (64, 0.25), (256, 0.15)):
        noise = random.integers(0, 256, (cells * 3 // 4, cells, 3), dtype=np.uint8)
        layer = Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC)
        mixed = Image.blend(mixed, layer, weight)
    tile = random.integers(0, 10, (256, 256, 1), dtype=np.uint8)
    grain = np.tile(tile, (-(-height // 256), -(-width // 256), 1))[:height, :width]
    return Image.fromarray(np.minimum(np.asarray(mixed), 245) + grain)


def draw(folder: Path, width: int, height: int, count: int) -> ImageSet:
    """Write `count` photos, a dozen different ones in turn."""
    random = np.random.default_rng(0)
    different = min(count, 12)
    names = tuple(f"{number:04}.jpg" for number in range(count))
    for name in names[:different]:
        photo(width, height, random).save(folder / name, quality=90)
    for number, name in enumerate(names[different:]):
        (folder / name).write_bytes((folder / names[number % different]).read_bytes())
    return ImageSet(folder, names, np.zeros((count, 0), np.uint8), ())


def bare_pillow(images: ImageSet) -> None:
    """Decode as most scripts do."""
    for position in range(len(images)):
        with Image.open(images.path(position)) as image:
            np.asarray(image.convert("RGB").resize((SIDE, SIDE)))


def softhash(images: ImageSet) -> None:
    """Decode with `load` at its defaults."""
    for batch in load(images, SIDE):
        if batch.broken:
            raise RuntimeError(batch.broken[0].reason)


def rows() -> list[Row]:
    """Measure every case."""
    lines = []
    for case, width, height, count, target in CASES:
        with TemporaryDirectory() as folder:
            images = draw(Path(folder), width, height, count)
            runs = {
                "peer": lambda images=images: bare_pillow(images),
                "ours": lambda images=images: softhash(images),
            }
            times = best_times(runs, rounds=5)
        peer, ours = (times[name] / count * 1000 for name in ("peer", "ours"))
        lines.append(row("decode", case, peer, ours, "ms/picture", target))
    return lines


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show(rows())
