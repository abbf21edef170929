"""How many near copies `softhash duplicates` finds, by what was done to the pictures.

    python benchmarks/near_copies.py FOLDER [--pictures 500] [--model MODEL] [--features]

Pictures of a folder are copied, and copies are made of some of them: scaled, compressed, cropped,
brightened. Each kind is added to an index of the folder, and what is grouped with its original is
counted. The folder itself is not changed.
"""

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image, ImageEnhance

from softhash import HammingIndex, Hasher, ImageSet
from softhash.data.decoding import open_image
from softhash.index.duplicates import find_duplicates
from softhash.index.features import keep_features
from softhash.model.default_model import default_model

Picture = Image.Image


def scaled(share: float) -> Callable[[Picture], Picture]:
    """Return what scales a picture to a share of its sides."""
    return lambda one: one.resize((round(share * one.width), round(share * one.height)))


def cropped(share: float) -> Callable[[Picture], Picture]:
    """Return what keeps a share of the sides, in the middle."""

    def crop(one: Picture) -> Picture:
        x, y = round(one.width * (1 - share) / 2), round(one.height * (1 - share) / 2)
        return one.crop((x, y, one.width - x, one.height - y))

    return crop


KINDS: dict[str, tuple[Callable[[Picture], Picture], int]] = {
    "half the side": (scaled(0.5), 90),
    "a quarter of the side": (scaled(0.25), 85),
    "JPEG, quality 60": (lambda one: one, 60),
    "JPEG, quality 20": (lambda one: one, 20),
    "brightness +20 %": (lambda one: ImageEnhance.Brightness(one).enhance(1.2), 90),
    "brightness -20 %": (lambda one: ImageEnhance.Brightness(one).enhance(0.8), 90),
    "contrast +25 %": (lambda one: ImageEnhance.Contrast(one).enhance(1.25), 90),
    "cropped to 95 %": (cropped(0.95), 90),
    "cropped to 90 %": (cropped(0.9), 90),
    "grey": (lambda one: one.convert("L"), 90),
    "mirrored": (lambda one: one.transpose(Image.Transpose.FLIP_LEFT_RIGHT), 90),
}


def main() -> None:
    """Measure, and print one line for each kind of copy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pictures", type=int, default=500, help="how many are copied")
    parser.add_argument("--model", type=Path, help="the model that comes along by default")
    parser.add_argument("--features", action="store_true", help="keep features in the index")
    given = parser.parse_args()
    hasher = Hasher.load(given.model or default_model())
    with TemporaryDirectory() as place:
        root = Path(place) / "pictures"
        shutil.copytree(given.folder, root)
        images = ImageSet.read(root)
        with HammingIndex.create(Path(place) / "index", hasher) as index:
            if given.features:
                keep_features(index)
            index.add(images)
            print(f"{len(index):,} pictures, {len(find_duplicates(index).groups):,} groups")
            count = min(given.pictures, len(images))
            chosen = np.random.default_rng(0).choice(len(images), count, replace=False)
            names = [images.file_names[i] for i in chosen]
            for kind in KINDS:
                print(f"{kind:24}{found_share(index, images, names, kind):8.1%}")


def found_share(index: HammingIndex, images: ImageSet, names: list[str], kind: str) -> float:
    """Add copies of one kind, count those that are grouped with their originals, remove them."""
    change, quality = KINDS[kind]
    copies = {f"near-copies/{number:06}.jpg": name for number, name in enumerate(names)}
    (images.root / "near-copies").mkdir()
    for copy, name in copies.items():
        change(open_image(images.root / name)).save(images.root / copy, quality=quality)
    labels = np.zeros((len(copies), 0), np.uint8)
    index.add(ImageSet(images.root, tuple(copies), labels, ()))
    groups = [{copy.file_name for copy in group} for group in find_duplicates(index).groups]
    group_of = {name: number for number, group in enumerate(groups) for name in group}
    found = sum(group_of.get(copy, -1) == group_of.get(copies[copy], -2) for copy in copies)
    index.remove(*index.store.find_names(list(copies)).values())
    shutil.rmtree(images.root / "near-copies")
    return found / len(copies)


if __name__ == "__main__":
    main()
