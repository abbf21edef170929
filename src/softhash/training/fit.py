"""`fit`: from a hasher and a labelled train set to a trained hasher."""

from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from softhash.data.image_set import ImageSet
from softhash.data.loading import Broken
from softhash.data.pixels import load_all
from softhash.devices import pick_device
from softhash.errors import InputError, UsageError
from softhash.model.hasher import Hasher
from softhash.model.heads import Head
from softhash.training.features import compute_features
from softhash.training.finetune import fit_pixels
from softhash.training.loop import check_trainable, repeatable
from softhash.training.methods import Shallow, create, method_class
from softhash.training.recipe import Recipe
from softhash.training.run import Options, build_method, fit_labels, run_training

__all__ = ["Options", "build_hasher", "fit", "fit_features", "train_head"]


def build_hasher(recipe: Recipe, features: int | None = None) -> Hasher:
    """Make the untrained hasher that a recipe asks for, of pictures or of features."""
    _check_mode(recipe)
    method = create(recipe.method, recipe.bits, 1, **recipe.settings)
    head = method.head_options(recipe.hidden, recipe.dropout)
    head |= {"feature_dropout": recipe.feature_dropout, "seed": recipe.seed}
    if features is not None:
        return Hasher.from_features(features, recipe.bits, **head)
    default = recipe.weights == "default"
    start = "default" if default else None
    hasher = Hasher(recipe.backbone, recipe.bits, size=recipe.size or None, weights=start, **head)
    if not default and recipe.weights != "random":
        from softhash.model.backbones import load_weights

        backbone = cast(nn.Module, hasher.network.backbone)
        load_weights(backbone, recipe.weights, partial=True)
    return hasher


def fit(
    hasher: Hasher,
    images: ImageSet,
    *,
    method: str | None = None,
    recipe: Recipe | None = None,
    options: Options | None = None,
) -> Hasher:
    """Train a hasher in place on the labelled pictures of a collection, and return it.

    Args:
        hasher: an untrained one, or one to train further.
        images: the train set; pictures without labels, and those that cannot be read, are left out.
        method: see `softhash list methods`.
        recipe: all settings; bits, backbone and head are the hasher's own.
        options: device, progress, checkpoints and caches.

    """
    method = method or (recipe.method if recipe else Recipe.method)
    recipe = (recipe or Recipe.with_defaults(method=method)).changed(
        method=method, bits=hasher.bits
    )
    _check_mode(recipe)
    options = options or Options()
    labelled = images.select(~images.without_labels)
    if len(labelled) < len(images):
        options.warn(f"{len(images) - len(labelled):,} pictures without labels are left out")
    labels = torch.from_numpy(labelled.labels)
    check_trainable(labels)
    hasher.classes = images.classes
    if recipe.mode == "frozen":
        found = compute_features(
            hasher, labelled, device=options.device, cache=options.cache, progress=options.progress
        )
        _say_broken(found.broken, options)
        _fit_head(hasher, found.values, labels[found.positions], recipe, options)
    else:
        pixels = load_all(
            labelled, hasher.size or 0, cache=options.cache, progress=options.progress
        )
        _say_broken(pixels.broken, options)
        inputs = torch.from_numpy(np.ascontiguousarray(pixels[pixels.readable]))
        fit_pixels(hasher, inputs, labels[pixels.readable], recipe, options)
    return hasher


def _check_mode(recipe: Recipe) -> None:
    """Raise, before anything is decoded, where the method has no loss to fine-tune by."""
    if recipe.mode == "finetune" and issubclass(method_class(recipe.method), Shallow):
        raise UsageError(f"{recipe.method} is fitted to features", "train it with mode = 'frozen'")


def fit_features(
    hasher: Hasher,
    features: NDArray[np.floating],
    labels: NDArray[np.uint8],
    *,
    recipe: Recipe,
    options: Options | None = None,
) -> Hasher:
    """Train a hasher of features, for those who have embeddings already."""
    if len(features) != len(labels):
        raise InputError(f"{len(features)} rows of features, but {len(labels)} rows of labels")
    has_labels = labels.any(axis=1)
    tensor = torch.from_numpy(labels[has_labels])
    check_trainable(tensor)
    _fit_head(hasher, features[has_labels], tensor, recipe, options or Options())
    return hasher


def _fit_head(
    hasher: Hasher,
    features: NDArray[np.floating],
    labels: Tensor,
    recipe: Recipe,
    options: Options,
) -> None:
    inputs = torch.from_numpy(np.asarray(features, np.float32))
    train_head(hasher.network.head, inputs, labels, recipe, options).to("cpu")
    fit_labels(hasher, inputs, labels)


def train_head(
    head: Head, features: Tensor, labels: Tensor, recipe: Recipe, options: Options
) -> Head:
    """Train a head on features (n, d); it stays on the device it was trained on."""
    device = torch.device(pick_device(options.device))
    features = features.to(device)
    with repeatable(device):
        method = build_method(recipe, labels, features)
        if isinstance(method, Shallow):
            method.fit_head(head.to(device).eval(), features, labels.to(device))
            return head
        head.to(device).standardise(features)
        run_training(head, method, features, labels, recipe, options)
        method.finish(head, lambda: features)
    return head


def _say_broken(broken: tuple[Broken, ...], options: Options) -> None:
    for one in broken[:5]:
        options.warn(f"left out: {one.reason}")
    if len(broken) > 5:
        options.warn(f"and {len(broken) - 5:,} more that cannot be read")
