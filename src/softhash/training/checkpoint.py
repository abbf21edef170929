"""A training run on disk: safetensors and JSON, never a pickle; whole or not at all."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from softhash.errors import InputError
from softhash.files import write_whole
from softhash.training.loop import Run
from softhash.training.recipe import Recipe

STEP, RECIPE, LOG, TRAIN_SET = "step", "recipe", "log", "train_set"
COUNTS = ("epoch", "step", "steps")  # among the figures of an epoch


def save_checkpoint(path: Path, run: Run, recipe: Recipe, train_set: str = "") -> None:
    """Write everything that the rest of a run depends on.

    Args:
        path: the file, which is replaced.
        run: between two steps.
        recipe: that the run was made by.
        train_set: what tells the pictures and labels apart that it learns from.

    """
    header = {STEP: str(run.step), RECIPE: json.dumps(recipe.as_dict(), sort_keys=True)}
    header |= {LOG: json.dumps(run.log), TRAIN_SET: train_set}
    tensors = {name: tensor.contiguous().cpu() for name, tensor in _tensors(run).items()}
    write_whole(path, save(tensors, header), force=True)


def load_checkpoint(path: Path, run: Run, recipe: Recipe, train_set: str = "") -> None:
    """Bring a fresh run to where a saved one was.

    Args:
        path: the file.
        run: as `make_run` makes it; changed in place.
        recipe: that the run was made by, the same as the saved one's.
        train_set: as for `save_checkpoint`, and the same.

    Raises:
        InputError: the file is damaged, or of an earlier version of softhash, or of another recipe,
            train set or network.

    """
    stored, saved, step, log, learned_from = _read(path)
    _check_origin(path, saved, learned_from, recipe, train_set)
    _start_optimiser(run)
    own = _tensors(run)
    if own.keys() != stored.keys():
        odd = sorted(own.keys() ^ stored.keys())
        raise InputError(f"{path} is of another network: {odd[0]} is on one side only")
    for name, tensor in own.items():
        if (stored[name].shape, stored[name].dtype) != (tensor.shape, tensor.dtype):
            raise InputError(f"{path} is of another network: {name} has another shape or type")
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(stored[name])
    run.step, run.log = step, log


def _check_origin(
    path: Path, saved: dict[str, Any], learned_from: str | None, recipe: Recipe, train_set: str
) -> None:
    """Raise unless a checkpoint is of this recipe and this train set.

    Args:
        path: of the checkpoint.
        saved: its recipe.
        learned_from: its train set, None where none is recorded.
        recipe: of the run that goes on.
        train_set: of that run.

    """
    if learned_from is None:
        raise InputError(
            f"{path} was made by an earlier version of softhash, which recorded no train set",
            "start anew without --resume, or into another folder",
        )
    current = json.loads(json.dumps(recipe.as_dict()))
    differing = sorted(name for name in current if saved.get(name) != current[name])
    if differing:
        name = differing[0]
        raise InputError(
            f"{path} is from another recipe: {name} was {saved.get(name)!r}, and is now "
            f"{current[name]!r}",
            "start anew, or resume with the recipe that it was started with",
        )
    if learned_from != train_set:
        raise InputError(
            f"{path} is of another train set: pictures, labels or the split are not those that it "
            "was started with",
            "start anew, or bring them back",
        )


def _read(
    path: Path,
) -> tuple[dict[str, Tensor], dict[str, Any], int, list[dict[str, Any]], str | None]:
    """Return tensors, recipe, step, figures of its epochs, and the train set if it is recorded."""
    try:
        data = path.read_bytes()
        stored = load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
        saved, step, log = json.loads(header[RECIPE]), int(header[STEP]), json.loads(header[LOG])
    # safetensors' reader meets bad bytes with more than its own error.
    except (
        OSError, SafetensorError, LookupError, TypeError, ValueError, RuntimeError, AttributeError,
        OverflowError, RecursionError,
    ) as error:  # fmt: skip
        raise InputError(f"{path} cannot be read as a checkpoint: {error}") from None
    if not isinstance(saved, dict) or not isinstance(log, list) or step < 0:
        raise InputError(f"{path} cannot be read as a checkpoint: its header makes no sense")
    for figures in log:
        if not isinstance(figures, dict) or any(type(figures.get(k)) is not int for k in COUNTS):
            raise InputError(f"{path} cannot be read as a checkpoint: its log makes no sense")
    return stored, saved, step, log, header.get(TRAIN_SET)


def _tensors(run: Run) -> dict[str, Tensor]:
    """Name every tensor of a run."""
    named = {f"network.{name}": value for name, value in run.network.state_dict().items()}
    named |= {f"method.{name}": value for name, value in run.method.state_dict().items()}
    for i, mean in enumerate(run.average.state() if run.average else ()):
        named[f"average.{i}"] = mean
    weights = [weight for group in run.optimiser.param_groups for weight in group["params"]]
    for i, weight in enumerate(weights):
        for name, value in run.optimiser.state[weight].items():
            named[f"optimiser.{i}.{name}"] = value
    return named


def _start_optimiser(run: Run) -> None:
    """Make the optimiser create its state, by a step that moves nothing."""
    before = [weight.detach().clone() for weight in run.network.parameters()]
    owned = [weight.detach().clone() for weight in run.method.parameters()]
    for group in run.optimiser.param_groups:
        for weight in group["params"]:
            weight.grad = torch.zeros_like(weight)
    run.optimiser.step()
    run.optimiser.zero_grad(set_to_none=True)
    with torch.no_grad():
        for weight, old in zip(run.network.parameters(), before, strict=True):
            weight.copy_(old)
        for weight, old in zip(run.method.parameters(), owned, strict=True):
            weight.copy_(old)
