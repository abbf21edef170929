"""`fit`: from a hasher and a labelled train set to a trained hasher."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from softhash.checkpoint import load_checkpoint, save_checkpoint
from softhash.devices import pick_device
from softhash.distributed import rank
from softhash.errors import InputError, UsageError
from softhash.features import features_of
from softhash.hasher import Hasher
from softhash.heads import Head
from softhash.images import ImageSet
from softhash.loading import Broken, Progress
from softhash.methods import Method, Shallow, create, method_class
from softhash.model.labelling import fit_labelling
from softhash.network import HashNetwork
from softhash.pixels import load_all
from softhash.recipe import Recipe
from softhash.teaching import Teacher, check_enlarging, enlarging
from softhash.training import Run, Watch, check_trainable, make_run, repeatable, train

FEATURES_AT_ONCE = 256


@dataclass
class Options:
    """Where and how a run happens, without any influence on what it ends with."""

    device: str = "auto"
    watch: Watch = lambda figures: None
    progress: Progress | None = None
    checkpoint: Path | None = None  # a file; written now and then, and on interruption
    resume: bool = False
    cache: Path | None = None  # a folder for features and pixels
    notes: Callable[[str], None] = field(default=lambda note: None)


def hasher_of(recipe: Recipe, features: int | None = None) -> Hasher:
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
        from softhash.backbones import load_weights

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
    recipe = (recipe or Recipe.of(method=method)).changed(method=method, bits=hasher.bits)
    _check_mode(recipe)
    options = options or Options()
    labelled = images.select(~images.without_labels)
    if len(labelled) < len(images):
        options.notes(f"{len(images) - len(labelled):,} pictures without labels are left out")
    labels = torch.from_numpy(labelled.labels)
    check_trainable(labels)
    hasher.classes = images.classes
    if recipe.mode == "frozen":
        found = features_of(
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
        raise UsageError(f"{recipe.method} is fitted to features; use --frozen (mode = 'frozen')")


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


def fit_pixels(
    hasher: Hasher, pixels: Tensor, labels: Tensor, recipe: Recipe, options: Options
) -> None:
    """Fine-tune the whole network on decoded pictures (n, h, w, 3), after its teacher if any."""
    device = torch.device(pick_device(options.device))
    network = hasher.network.to(device)
    if device.type == "cuda":
        pixels = _to_gpu_if_it_fits(pixels, device)
    teacher = None
    if recipe.closer:
        first, options = _halves(options, recipe.epochs)
        teacher = _train_teacher(network, pixels, labels, recipe, first)
    method = _fine_tune(network, pixels, labels, recipe, options, teacher)
    with repeatable(device):
        method.finish(network.head, lambda: _features(network, pixels, device))
    if hasher.classes:
        _learn_labels(hasher, _features(network, pixels, device), labels)
    network.to("cpu")


def _fine_tune(
    network: HashNetwork,
    pixels: Tensor,
    labels: Tensor,
    recipe: Recipe,
    options: Options,
    teacher: Teacher | None = None,
) -> Method:
    """Train a network, its head warmed up first, and return the method it was trained by."""
    features = _features(network, pixels, next(network.parameters()).device)
    network.head.standardise(features)
    warmed = None
    if recipe.warm_up and not _resumes(options):
        warm = recipe.changed(mode="frozen", epochs=recipe.warm_up, schedule="cosine", average=0.0)
        warmed = _method(warm, labels, features)
        _run(network.head, warmed, features, labels, warm, Options(device=options.device))
    method = _method(recipe, labels, features)
    if warmed:
        _take_over(method, warmed)
    _run(network, method, pixels, labels, recipe, options, teacher)
    return method


def _train_teacher(
    network: HashNetwork, pixels: Tensor, labels: Tensor, recipe: Recipe, options: Options
) -> Teacher:
    """Fine-tune a copy of a network on enlarged pictures."""
    device = next(network.parameters()).device
    larger = enlarging(network, recipe.closer)
    check_enlarging(larger, pixels[:1].to(device), recipe.backbone)
    _fine_tune(larger, pixels, labels, recipe, options)
    own, pupils = (_features(one, pixels, device) for one in (larger, network))
    return Teacher(larger, own, pupils)


def _halves(options: Options, epochs: int) -> tuple[Options, Options]:
    """Return the options of a teacher and of its pupil, whose figures are told as one run's."""

    def told(half: int, figures: dict[str, Any]) -> None:
        epoch, step, steps = (figures[name] for name in ("epoch", "step", "steps"))
        whole = {"epoch": half * epochs + epoch, "step": half * steps + step, "steps": 2 * steps}
        options.watch(figures | whole)

    file = options.checkpoint
    beside = file and file.with_stem(f"{file.stem}-teacher")
    first = replace(options, watch=partial(told, 0), checkpoint=beside)
    return first, replace(options, watch=partial(told, 1))


@torch.no_grad()
def _take_over(method: Method, warmed: Method) -> None:
    """Start with the weights (centres, classifiers) that a warm head was trained with."""
    for own, before in zip(method.parameters(), warmed.parameters(), strict=True):
        own.copy_(before)


def _fit_head(
    hasher: Hasher,
    features: NDArray[np.floating],
    labels: Tensor,
    recipe: Recipe,
    options: Options,
) -> None:
    inputs = torch.from_numpy(np.asarray(features, np.float32))
    train_head(hasher.network.head, inputs, labels, recipe, options).to("cpu")
    _learn_labels(hasher, inputs, labels)


def _learn_labels(hasher: Hasher, features: Tensor, labels: Tensor) -> None:
    """Teach a hasher that knows their names which labels features speak for."""
    if len(hasher.classes) == labels.shape[1]:
        hasher.labelling = fit_labelling(features, labels, hasher.classes)


def train_head(
    head: Head, features: Tensor, labels: Tensor, recipe: Recipe, options: Options
) -> Head:
    """Train a head on features (n, d); it stays on the device it was trained on."""
    device = torch.device(pick_device(options.device))
    features = features.to(device)
    with repeatable(device):
        method = _method(recipe, labels, features)
        if isinstance(method, Shallow):
            method.fit_head(head.to(device).eval(), features, labels.to(device))
            return head
        head.to(device).standardise(features)
        _run(head, method, features, labels, recipe, options)
        method.finish(head, lambda: features)
    return head


def _method(recipe: Recipe, labels: Tensor, features: Tensor) -> Method:
    """Make the method; whatever chance decides from here on comes from the recipe's seed."""
    torch.manual_seed(recipe.seed)
    method = create(recipe.method, recipe.bits, labels.shape[1], **recipe.settings)
    method.study(features, labels.to(features.device))
    return method


def _run(
    network: nn.Module,
    method: Method,
    inputs: Tensor,
    labels: Tensor,
    recipe: Recipe,
    options: Options,
    teacher: Teacher | None = None,
) -> None:
    """Train from the start, or from where a checkpoint was."""
    device = torch.device(pick_device(options.device))
    run = make_run(network, method, recipe, device)
    method.start(labels.to(device))
    if options.checkpoint and _resumes(options):
        load_checkpoint(options.checkpoint, run, recipe)

    def checkpoint(state: Run) -> None:
        if options.checkpoint and rank() == 0:
            save_checkpoint(options.checkpoint, state, recipe)

    train(
        run, recipe, inputs, labels.to(device),
        teacher=teacher, watch=options.watch, checkpoint=checkpoint,
    )  # fmt: skip


def _resumes(options: Options) -> bool:
    return bool(options.resume and options.checkpoint and options.checkpoint.exists())


@torch.no_grad()
def _features(network: Any, pixels: Tensor, device: torch.device) -> Tensor:
    """Compute the features of all pictures as they are, without augmentation."""
    network.eval()
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        parts = [
            network.features(part.to(device)) for part in torch.split(pixels, FEATURES_AT_ONCE)
        ]
    return torch.cat(parts)


def _to_gpu_if_it_fits(pixels: Tensor, device: torch.device) -> Tensor:
    free, _ = torch.cuda.mem_get_info(device)
    if pixels.nbytes < free // 2:
        return pixels.to(device)
    return pixels.pin_memory()


def _say_broken(broken: tuple[Broken, ...], options: Options) -> None:
    for one in broken[:5]:
        options.notes(f"left out: {one.reason}")
    if len(broken) > 5:
        options.notes(f"and {len(broken) - 5:,} more that cannot be read")
