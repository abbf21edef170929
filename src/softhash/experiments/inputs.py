"""What all cells of a grid share: features or decoded pictures, computed once, and the split."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from softhash.data.image_set import ImageSet
from softhash.data.loading import Broken
from softhash.data.splits.draws import Positions
from softhash.data.splits.split import ROLES, Split
from softhash.errors import UsageError
from softhash.evaluation.feature_pair import FeaturePair
from softhash.hamming.cosine import quantise
from softhash.model.backbones import build, load_weights
from softhash.model.backbones.weights import read
from softhash.training.features import compute_features
from softhash.training.fit import build_hasher
from softhash.training.options import Options
from softhash.training.pictures import Inputs, load_pictures
from softhash.training.recipe import Recipe

Found = tuple[Inputs, npt.NDArray[np.int64], tuple[Broken, ...]]


@dataclass(frozen=True, eq=False)
class GridInputs:
    """Inputs of the readable pictures of a collection, and the part that each belongs to.

    Attributes:
        inputs: features (n, d), or pictures (n, h, w, 3) uint8, in memory or on disk.
        labels: (n, classes), multi-hot.
        train: rows of the train set.
        query: rows of the queries.
        database: rows of the database.
        split: what these rows come from.
        rows: positions of these pictures in the collection (n,).

    """

    inputs: Inputs
    labels: Tensor
    train: Tensor
    query: Tensor
    database: Tensor
    split: Split
    rows: Positions

    @property
    def names(self) -> list[str]:
        """The files, one per row."""
        return [self.split.images.file_names[i] for i in self.rows]

    @property
    def features(self) -> Tensor:
        """The inputs of a grid that trains heads alone (n, d)."""
        if not isinstance(self.inputs, Tensor):
            raise UsageError("these inputs are pictures", "use mode = 'frozen' for features")
        return self.inputs

    @cached_property
    def feature_pair(self) -> FeaturePair | None:
        """Features of queries and database, where the inputs are features."""
        if self.inputs.ndim != 2:
            return None
        features = self.features.float().cpu().numpy()
        return FeaturePair(features[self.query], quantise(features[self.database])[0])


def prepare_inputs(split: Split, recipe: Recipe, options: Options) -> GridInputs:
    """Compute features, or decode pictures, of all pictures of a split once.

    Args:
        split: the collection, and its parts.
        recipe: mode, backbone, its start and the size of pictures.
        options: device, progress, caches, and who hears of pictures that are left out.

    """
    chosen = np.unique(np.concatenate([split.positions[role] for role in ROLES]))
    inputs, readable, broken = _computed(split.images.select(chosen), recipe, options)
    for one in broken:
        options.warn(f"left out: {one.reason}")
    return arrange_inputs(inputs, chosen[readable], split)


def arrange_inputs(inputs: Inputs, rows: Positions, split: Split) -> GridInputs:
    """Put inputs together with labels, and with the part that each row belongs to.

    Args:
        inputs: features or pictures, one row each.
        rows: positions of these pictures in the collection (n,).
        split: the collection, and its parts; pictures without a row are left out of them.

    """
    row = np.full(len(split.images), -1)
    row[rows] = np.arange(len(rows))
    parts = [row[split.positions[role]] for role in ROLES]
    train, query, database = (torch.from_numpy(part[part >= 0]) for part in parts)
    labels = torch.from_numpy(split.images.labels[rows])
    return GridInputs(inputs, labels, train, query, database, split, rows)


def shared_key(recipe: Recipe) -> tuple[Any, ...]:
    """Return what a cell's inputs depend on: cells with equal keys share them.

    The seed is among it where features are of layers that start at random; pictures need none.
    """
    try:
        seed = recipe.seed if recipe.mode == "frozen" and starts_at_random(recipe) else 0
    except Exception:  # the cell reports what it is, where it computes its features
        seed = recipe.seed
    return recipe.mode, recipe.backbone, recipe.weights, recipe.size, seed


def starts_at_random(recipe: Recipe) -> bool:
    """Return whether some of the backbone is drawn by the seed: all of it, or what a file lacks.

    Raises:
        InputError: the weights cannot be read, or are another backbone's.

    """
    if recipe.weights in ("default", "random"):
        return recipe.weights == "random"
    file = Path(recipe.weights)
    return _lacks_layers(recipe.backbone, file, file.stat().st_mtime_ns if file.is_file() else 0)


@lru_cache
def _lacks_layers(backbone: str, file: Path, changed: int) -> bool:
    """Return whether a file of weights lacks layers; a file that has changed is read again."""
    read(file)  # raises before a network is built for nothing
    with torch.random.fork_rng([]):
        module = build(backbone, weights=None)
    return bool(load_weights(module, file, partial=True))


def _computed(images: ImageSet, recipe: Recipe, options: Options) -> Found:
    hasher = build_hasher(recipe)
    if recipe.mode == "frozen":
        found = compute_features(
            hasher, images,
            device=options.device, cache=options.feature_cache, progress=options.progress,
        )  # fmt: skip
        values = torch.from_numpy(np.ascontiguousarray(found.values))
        return values, found.positions, found.broken
    return load_pictures(images, hasher.size or 0, options)
