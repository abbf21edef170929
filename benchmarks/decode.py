"""Pictures a second from JPEG files to uint8 batches, against a bare Pillow loop.

`python -m benchmarks.decode` draws its photos itself, smoothed noise with fine detail, into a
temporary folder. Both sides read the same files in turns, and the best turn of each counts.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from softhash.images import ImageSet
from softhash.loading import load, usable_cores

SIDE = 224
TURNS = 5
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


def rate(run: Callable[[ImageSet], None], images: ImageSet) -> float:
    """Time one pass over all pictures."""
    start = time.perf_counter()
    run(images)
    return len(images) / (time.perf_counter() - start)


def rows() -> list[dict[str, object]]:
    """Measure every case."""
    measured: list[dict[str, object]] = []
    for case, width, height, count, target in CASES:
        with TemporaryDirectory() as folder:
            images = draw(Path(folder), width, height, count)
            turns = [(rate(bare_pillow, images), rate(softhash, images)) for _ in range(TURNS)]
        peer, ours = (max(rates) for rates in zip(*turns, strict=True))
        measured.append(
            {
                "benchmark": "decode",
                "case": case,
                "peer": peer,
                "ours": ours,
                "unit": "img/s",
                "ratio": ours / peer,
                "target": target,
            }
        )
    return measured


def main() -> None:
    """Print the table."""
    before = os.getloadavg()[0]
    print(f"{'':22}{'Pillow loop':>14}{'softhash':>14}{'ratio':>8}{'target':>9}")
    for row in rows():
        print(
            f"{row['case']:22}{row['peer']:8.1f} img/s{row['ours']:8.1f} img/s"
            f"{row['ratio']:7.2f}x{row['target']:8.1f}x"
        )
    # Threads need idle cores: a machine that is busy with other work shows less than they can do.
    print(f"{usable_cores()} cores; load before {before:.1f}, after {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
