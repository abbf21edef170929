"""The collections that the default model is made of: features, labels, and their parts."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softhash import Hasher, ImageSet
from softhash.data.splits.split import Split
from softhash.model.default_model import default_model

FIT, CALIBRATE, MEASURE = range(3)  # parts of a collection
SHARES = (0.75, 0.125, 0.125)

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Collection:
    """A collection, as features.

    Attributes:
        name: of the collection.
        features: (n, d), of labelled pictures.
        labels: multi-hot (n, classes).
        classes: names of the labels.
        parts: places of pictures to fit to, to calibrate on, and to measure with; drawn once.
        train, query, database: places, by the protocol that papers use.

    """

    name: str
    features: NDArray[np.float32]
    labels: NDArray[np.uint8]
    classes: tuple[str, ...]
    parts: tuple[Places, ...]
    train: Places
    query: Places
    database: Places


def read_collection(name: str, images: ImageSet, split: Split, cache: Path) -> Collection:
    """Read a collection; its features are computed once, and kept in a file of the cache.

    Args:
        name: of the collection.
        images: its pictures; those without labels are left out.
        split: queries, database and train set, by the protocol that papers use.
        cache: a folder.

    """
    images = images.select(~images.without_labels)
    features, places = read_features(images, cache / f"{name}.npz")
    labels = np.asarray(images.labels)[places].astype(np.uint8)
    names = {images.file_names[place]: at for at, place in enumerate(places.tolist())}
    sides = [
        np.array([names[one] for one in part.file_names if one in names], np.int64)
        for part in (split.train, split.query, split.database)
    ]
    order = np.random.default_rng(0).permutation(len(features))
    parts = tuple(np.split(order, (np.cumsum(SHARES[:-1]) * len(order)).astype(int)))
    return Collection(name, features, labels, images.classes, parts, *sides)


def read_features(images: ImageSet, path: Path) -> tuple[NDArray[np.float32], Places]:
    """Compute the backbone's features of pictures, or read them from a file of an earlier run."""
    if not path.exists():
        hasher = Hasher.load(default_model())
        found = hasher.encode_readable(images, "features", progress=_progress(path.stem))
        np.savez(path, features=found.values.astype(np.float16), places=found.positions)
    with np.load(path) as kept:
        return kept["features"].astype(np.float32), kept["places"]


def _progress(name: str):  # noqa: ANN202
    def show(done: int, total: int) -> None:
        if done % 4000 < 8:
            print(f"{name}: {done:,} of {total:,} pictures", flush=True)

    return show
