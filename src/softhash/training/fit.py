"""`fit`: from a hasher and a train set to a trained hasher."""

from dataclasses import replace
from hashlib import sha256
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from softhash.data.image_set import ImageSet, is_binary
from softhash.data.loading import Broken
from softhash.devices import pick_device
from softhash.errors import InputError, UsageError
from softhash.model.hasher import Hasher
from softhash.model.heads import Head
from softhash.training.features import compute_features
from softhash.training.finetune import fit_pixels
from softhash.training.hash_head import decide_head
from softhash.training.methods import Method, Shallow, is_shallow, method_class
from softhash.training.options import Options
from softhash.training.pictures import load_pictures
from softhash.training.recipe import Recipe
from softhash.training.run import build_method, fit_labels, run_training, seed_finish
from softhash.training.schedule import run_length
from softhash.training.torch_state import preserve_torch_state, repeatable
from softhash.training.train_set import trainable_rows

__all__ = ["Options", "build_hasher", "fit", "fit_features", "train_head"]

BROKEN_SHOWN = 5


def build_hasher(
    recipe: Recipe, features: int | None = None, *, method: type[Method] | None = None
) -> Hasher:
    """Make the untrained hasher that a recipe asks for.

    Args:
        recipe: backbone, its start, bits, and settings of head and method.
        features: numbers per embedding, for a hasher of embeddings instead of pictures.
        method: a class, where it is not the one that the recipe names.

    """
    kind = method_class(method or recipe.method)
    _check_mode(kind, recipe)
    if features is not None:
        hasher = Hasher.from_features(features, recipe.bits)
        decide_head(hasher, kind, recipe)
        return hasher
    default = recipe.weights == "default"
    start = "default" if default else None
    hasher = Hasher(recipe.backbone, recipe.bits, size=recipe.size or None, weights=start)
    decide_head(hasher, kind, recipe)
    if not default and recipe.weights != "random":
        from softhash.model.backbones import load_weights

        backbone = cast(nn.Module, hasher.network.backbone)
        load_weights(backbone, recipe.weights, partial=True)
    return hasher


def fit(
    hasher: Hasher,
    images: ImageSet,
    *,
    method: str | type[Method] | None = None,
    recipe: Recipe | None = None,
    options: Options | None = None,
) -> Hasher:
    """Train a hasher in place on the pictures of a collection, and return it.

    A new hasher gets the head that method and recipe ask for, so that this trains what
    ``softhash train`` does; head options that it was made with win. One that was trained or loaded
    keeps its head, and is trained further.

    Args:
        hasher: bits and backbone are its own.
        images: the train set; pictures that cannot be read are left out, and so are those without
            labels, unless the method needs none.
        method: a name of `softhash list methods`, or a subclass of `Method`; the recipe's by
            default.
        recipe: all settings; by default those that suit the method.
        options: device, progress, checkpoints and caches.

    Raises:
        UsageError: the method does not exist, cannot be trained in that mode, or not with the
            hasher's head; or the labels teach nothing.

    """
    kind, recipe = _resolve(hasher, method, recipe)
    options = options or Options()
    train_set = images.select(trainable_rows(kind, images.labels))
    if len(train_set) < len(images):
        options.warn(f"{len(images) - len(train_set):,} pictures without labels are left out")
    labels = torch.from_numpy(train_set.labels)
    decide_head(hasher, kind, recipe)
    hasher.classes = images.classes
    if recipe.mode == "frozen":
        found = compute_features(
            hasher, train_set,
            device=options.device, cache=options.feature_cache, progress=options.progress,
        )  # fmt: skip
        _warn_of_broken(found.broken, options)
        options = _named(options, train_set.select(found.positions))
        _fit_head(hasher, kind, found.values, labels[found.positions], recipe, options)
    else:
        pixels, readable, broken = load_pictures(train_set, hasher.size or 0, options)
        _warn_of_broken(broken, options)
        options = _named(options, train_set.select(readable))
        fit_pixels(hasher, kind, pixels, labels[readable], recipe, options)
    return hasher


def fit_features(
    hasher: Hasher,
    features: NDArray[np.floating],
    labels: NDArray[np.uint8] | None = None,
    *,
    method: str | type[Method] | None = None,
    recipe: Recipe | None = None,
    options: Options | None = None,
) -> Hasher:
    """Train a hasher of features in place, for those who have embeddings already; return it.

    Args:
        hasher: made by `Hasher.from_features`; its head is decided as `fit` does.
        features: embeddings (n, d).
        labels: (n, classes), multi-hot. Rows without any label are left out, unless the method
            needs none; then None will do.
        method: a name, or a subclass of `Method`; the recipe's by default.
        recipe: all settings, of mode `frozen`; by default those that suit the method.
        options: device, progress and checkpoints.

    Raises:
        InputError: there are not as many features as labels, or labels are not 0 and 1.
        UsageError: as for `fit`.

    """
    kind, recipe = _resolve(hasher, method, recipe)
    if recipe.mode != "frozen":
        raise UsageError("embeddings have no network to fine-tune", "use mode = 'frozen'")
    labels = np.zeros((len(features), 0), np.uint8) if labels is None else labels
    if len(features) != len(labels):
        raise InputError(f"{len(features)} rows of features, but {len(labels)} rows of labels")
    labels = np.asarray(labels)
    if not is_binary(labels):
        raise InputError("labels have other values than 0 and 1", "give a multi-hot matrix")
    rows = trainable_rows(kind, labels)
    decide_head(hasher, kind, recipe)
    tensor, features = torch.from_numpy(labels[rows]), np.asarray(features)[rows]
    options = options or Options()
    if options.checkpoint:
        content = np.ascontiguousarray(features).view(np.uint8), np.ascontiguousarray(labels[rows])
        options = replace(options, train_set=_digest(*(part.data for part in content)))
    _fit_head(hasher, kind, features, tensor, recipe, options)
    return hasher


def train_head(
    head: Head,
    kind: type[Method],
    features: Tensor,
    labels: Tensor,
    recipe: Recipe,
    options: Options,
) -> Head:
    """Train a head; it stays on the device that it was trained on.

    Args:
        head: changed in place, and returned.
        kind: the method's class.
        features: of the train set (n, d).
        labels: (n, classes), multi-hot.
        recipe: how.
        options: where, and what is reported.

    """
    device = torch.device(pick_device(options.device))
    features = features.to(device)
    with preserve_torch_state(device), repeatable(device):
        method = build_method(kind, recipe, features, labels, run_length(recipe, len(labels)))
        if isinstance(method, Shallow):
            method.fit_head(head.to(device).eval(), features, labels.to(device))
            return head
        head.to(device)
        if recipe.standardise:
            head.standardise(features)
        run_training(head, method, features, labels, recipe, options)
        seed_finish(recipe, len(labels))
        method.finish(head, lambda: features)
    return head


def _resolve(
    hasher: Hasher, method: str | type[Method] | None, recipe: Recipe | None
) -> tuple[type[Method], Recipe]:
    """Return the method's class, and the recipe of this method and this hasher."""
    kind = method_class(method or (recipe.method if recipe else Recipe.method))
    recipe = recipe or Recipe.with_defaults(method=kind)
    own = {"bits": hasher.bits, "backbone": hasher.backbone or recipe.backbone}
    recipe = recipe.changed(method=kind.name, **own)
    _check_mode(kind, recipe)
    return kind, recipe


def _check_mode(kind: type[Method], recipe: Recipe) -> None:
    """Raise, before anything is decoded, where the method has nothing to fine-tune by."""
    if recipe.mode == "finetune" and is_shallow(kind):
        raise UsageError(f"{kind.name} learns from fixed features", "train it with mode = 'frozen'")


def _fit_head(
    hasher: Hasher,
    kind: type[Method],
    features: NDArray[np.floating],
    labels: Tensor,
    recipe: Recipe,
    options: Options,
) -> None:
    inputs = torch.from_numpy(np.asarray(features, np.float32))
    train_head(hasher.network.head, kind, inputs, labels, recipe, options).to("cpu")
    fit_labels(hasher, inputs, labels, options)


def _named(options: Options, train_set: ImageSet) -> Options:
    """Return options whose checkpoint belongs to these files with these labels."""
    names = "\0".join(train_set.file_names).encode("utf-8", "surrogatepass")
    labels = np.ascontiguousarray(train_set.labels)
    return replace(options, train_set=_digest(names, labels.data))


def _digest(*parts: bytes | memoryview) -> str:
    digest = sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _warn_of_broken(broken: tuple[Broken, ...], options: Options) -> None:
    for one in broken[:BROKEN_SHOWN]:
        options.warn(f"left out: {one.reason}")
    if len(broken) > BROKEN_SHOWN:
        options.warn(f"and {len(broken) - BROKEN_SHOWN:,} more that cannot be read")
