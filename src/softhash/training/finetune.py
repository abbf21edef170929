"""Fine-tuning: the whole network, on decoded pictures, after its teacher if it has one."""

from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from softhash.devices import pick_device
from softhash.model.hasher import Hasher
from softhash.model.network import HashNetwork
from softhash.training.batches import bring_near, in_parts
from softhash.training.methods import Method
from softhash.training.options import OnEpoch, Options
from softhash.training.pictures import Inputs
from softhash.training.recipe import Recipe
from softhash.training.run import build_method, fit_labels, run_training, seed_finish
from softhash.training.schedule import run_length, warm_up_recipe
from softhash.training.teacher import Teacher, check_upsampling, with_upsampling
from softhash.training.torch_state import preserve_torch_state, repeatable

FEATURES_AT_ONCE = 256


def fit_pixels(
    hasher: Hasher,
    kind: type[Method],
    pixels: Inputs,
    labels: Tensor,
    recipe: Recipe,
    options: Options,
) -> None:
    """Fine-tune the whole network of a hasher, after its teacher if it has one.

    Args:
        hasher: changed in place.
        kind: the method's class.
        pixels: decoded pictures (n, h, w, 3) uint8, in memory or on disk.
        labels: (n, classes), multi-hot.
        recipe: how.
        options: where, and what is reported.

    """
    device = torch.device(pick_device(options.device))
    network = hasher.network.to(device)
    pixels = bring_near(pixels, device)
    with preserve_torch_state(device):
        teacher = None
        if recipe.teacher_zoom:
            first, options = _halves(options, recipe.epochs)
            teacher = _train_teacher(network, kind, pixels, labels, recipe, first)
        method = _fine_tune(network, kind, pixels, labels, recipe, options, teacher)
        with repeatable(device):
            seed_finish(recipe, len(labels))
            method.finish(network.head, lambda: _features(network, pixels, device))
    if hasher.classes:
        fit_labels(hasher, _features(network, pixels, device), labels, options)
    network.to("cpu")


def _fine_tune(
    network: HashNetwork,
    kind: type[Method],
    pixels: Inputs,
    labels: Tensor,
    recipe: Recipe,
    options: Options,
    teacher: Teacher | None = None,
) -> Method:
    """Train a network, its head warmed up first, and return the method it was trained by."""
    features = _features(network, pixels, next(network.parameters()).device)
    if recipe.standardise:
        network.head.standardise(features)
    warmed, steps = None, run_length(recipe, len(labels))
    if recipe.warm_up and not options.resumes:
        warm = warm_up_recipe(recipe)
        warmed = build_method(kind, warm, features, labels, steps)
        run_training(network.head, warmed, features, labels, warm, Options(device=options.device))
    method = build_method(kind, recipe, features, labels, steps)
    run_training(network, method, pixels, labels, recipe, options, teacher, warmed)
    return method


def _train_teacher(
    network: HashNetwork,
    kind: type[Method],
    pixels: Inputs,
    labels: Tensor,
    recipe: Recipe,
    options: Options,
) -> Teacher:
    """Fine-tune a copy of a network on enlarged pictures."""
    device = next(network.parameters()).device
    larger = with_upsampling(network, recipe.teacher_zoom)
    check_upsampling(larger, pixels[:1].to(device), recipe.backbone)
    _fine_tune(larger, kind, pixels, labels, recipe, options)
    own, student = (_features(one, pixels, device) for one in (larger, network))
    return Teacher(larger, own, student)


def _halves(options: Options, epochs: int) -> tuple[Options, Options]:
    """Return the options of a teacher and of its student, reported as the halves of one run."""

    def report(told: OnEpoch, half: int, figures: dict[str, Any]) -> None:
        epoch, step, steps = (figures[name] for name in ("epoch", "step", "steps"))
        whole = {"epoch": half * epochs + epoch, "step": half * steps + step, "steps": 2 * steps}
        told(figures | whole)

    def half_of(half: int, checkpoint: Path | None) -> Options:
        on_epoch, on_resume = (
            partial(report, told, half) for told in (options.on_epoch, options.on_resume)
        )
        return replace(options, on_epoch=on_epoch, on_resume=on_resume, checkpoint=checkpoint)

    file = options.checkpoint
    teachers = file and file.with_stem(f"{file.stem}-teacher")
    return half_of(0, teachers), half_of(1, file)


@torch.no_grad()
def _features(network: Any, pixels: Inputs, device: torch.device) -> Tensor:
    """Compute the features of all pictures as they are, without augmentation."""
    network.eval()
    with (
        torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"),
        closing(in_parts(pixels, FEATURES_AT_ONCE, device)) as parts,
    ):
        return torch.cat([network.features(part) for part in parts])
