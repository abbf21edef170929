"""Features, labels and a split, made up for tests."""

from pathlib import Path

import numpy as np
import torch

from softhash.data.image_set import ImageSet
from softhash.experiments.inputs import GridInputs, arrange_inputs


def made_inputs(
    pictures: int = 60, features: int = 8, broken: int = 3, classes: int = 5, seed: int = 0
) -> GridInputs:
    """Make inputs of a split some of whose pictures could not be read."""
    rng = np.random.default_rng(0)
    labels = (rng.random((pictures, classes)) < 0.4).astype(np.uint8)
    labels[:, 0] |= ~labels.any(axis=1)
    names = tuple(f"{i:03}.jpg" for i in range(pictures))
    named = tuple("abcde") if classes == 5 else tuple(f"c{i}" for i in range(classes))
    images = ImageSet(Path("/somewhere/photos"), names, labels, named, "table")
    split = images.split("random", seed=seed, query=10, train=20)
    rows = np.sort(rng.permutation(pictures)[broken:])
    noise = rng.normal(size=(len(rows), features))
    values = noise + labels[rows] @ rng.normal(size=(classes, features))
    return arrange_inputs(torch.from_numpy(values.astype(np.float32)), rows, split)


def coloured_pictures(pictures: int = 60, side: int = 64) -> GridInputs:
    """Make pictures of noise, brighter in the channel that is their class."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, pictures)
    pixels = rng.integers(0, 128, (pictures, side, side, 3)).astype(np.uint8)
    pixels[np.arange(pictures), :, :, classes] += 100
    names = tuple(f"{i:03}.jpg" for i in range(pictures))
    labels = np.eye(3, dtype=np.uint8)[classes]
    images = ImageSet(Path("/somewhere/colours"), names, labels, tuple("rgb"), "table")
    split = images.split("random", seed=0, query=12, train=24)
    return arrange_inputs(torch.from_numpy(pixels), np.arange(pictures), split)
