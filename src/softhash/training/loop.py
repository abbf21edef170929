"""Training: one loop, for a head on cached features and for a whole network on pictures.

Everything a step depends on is a function of the step's number (`schedule`), so a run that is
resumed ends as it would have without the interruption.
"""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from softhash.errors import DivergedError
from softhash.training import distributed
from softhash.training.augment import augment
from softhash.training.batches import batches
from softhash.training.interrupts import held_interrupts
from softhash.training.methods import Method
from softhash.training.options import OnEpoch
from softhash.training.pictures import Inputs
from softhash.training.recipe import Recipe
from softhash.training.schedule import (
    batch_at,
    batch_length,
    epochs_done,
    rate_at,
    seed_at,
    step_count,
)
from softhash.training.step import Average, CapturedStep, Forward, Step
from softhash.training.teacher import Teacher
from softhash.training.torch_state import repeatable


@dataclass
class Run:
    """A training run in the making: what a checkpoint holds, and what the loop moves on."""

    network: nn.Module
    method: Method
    optimiser: torch.optim.Optimizer
    average: Average | None
    step: int = 0
    log: list[dict[str, Any]] = field(default_factory=list)  # the figures of each epoch


def make_run(network: nn.Module, method: Method, recipe: Recipe, device: torch.device) -> Run:
    """Prepare the optimiser and the running mean of the weights that the recipe asks for.

    Args:
        network: moved to the device; the head alone where the recipe's mode is `frozen`.
        method: moved to the device.
        recipe: optimiser, rates and mean.
        device: that trains.

    """
    network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    method.to(device)
    whole: Any = network
    head = [*_trainable(whole.head if recipe.mode == "finetune" else whole), *_trainable(method)]
    backbone = _trainable(whole.backbone) if recipe.mode == "finetune" else []
    captured = device.type == "cuda"
    torch.backends.cudnn.benchmark |= captured  # every batch has one shape: trying pays
    groups = [
        {
            "params": weights,
            "lr": torch.tensor(rate, device=device) if captured else rate,
            "base": rate,
        }
        for weights, rate in ((head, recipe.head_rate), (backbone, recipe.backbone_rate))
        if weights
    ]
    kind = torch.optim.AdamW if recipe.optimiser == "adamw" else torch.optim.Adam
    optimiser = kind(groups, weight_decay=recipe.weight_decay, capturable=captured, fused=True)
    average = Average(network, recipe.average) if recipe.average else None
    return Run(network, method, optimiser, average)


def train(
    run: Run,
    recipe: Recipe,
    inputs: Inputs,
    labels: Tensor,
    *,
    teacher: Teacher | None = None,
    on_epoch: OnEpoch = lambda figures: None,
    checkpoint: Callable[[Run], None] = lambda run: None,
) -> None:
    """Run the steps that are left; the averaged weights, if any, are in the network afterwards.

    Args:
        run: where to go on from.
        recipe: how.
        inputs: features (n, d), or pictures (n, h, w, 3) uint8, on any device or on disk.
        labels: (n, classes) multi-hot, on the device that trains.
        teacher: what features are learned from, where pictures are trained on.
        on_epoch: called with the figures of each epoch.
        checkpoint: called now and then, and when the run is interrupted.

    """
    items, steps = len(labels), step_count(recipe, len(labels))
    step = _make_step(run, recipe, labels, teacher)
    order = (distributed.share(batch_at(recipe, items, i)) for i in range(run.step, steps))
    epoch = _Epoch(recipe, items, steps)
    run.network.train()
    _freeze_batch_norm(run.network, recipe)
    with (
        repeatable(labels.device),
        held_interrupts() as interrupted,
        closing(batches(inputs, order, labels.device)) as prepared,
    ):  # a step that is half done could not be resumed
        while run.step < steps:
            for group in run.optimiser.param_groups:
                _set_rate(group, group["base"] * rate_at(recipe, run.step, steps))
            torch.manual_seed(seed_at(recipe.seed, run.step))
            epoch.losses.append(step(*next(prepared)).clone())
            run.step += 1
            if epoch.ends(run.step):
                run.log.append(epoch.close(run.step))
                run.method.epoch()
                checkpoint(run)
                on_epoch(run.log[-1])
            if interrupted():
                checkpoint(run)
                raise KeyboardInterrupt
    if run.average:
        run.average.swap()
    run.network.eval()


class _Epoch:
    """The losses of the current epoch, and the figures that are reported when it is over."""

    def __init__(self, recipe: Recipe, items: int, steps: int) -> None:
        self._recipe, self._items, self._steps = recipe, items, steps
        self.losses: list[Tensor] = []
        self._started = time.perf_counter()

    def ends(self, step: int) -> bool:
        """Return whether an epoch is over with the last of so many steps."""
        done = (epochs_done(self._recipe, i, self._steps) for i in (step - 1, step))
        return next(done) < next(done)

    def close(self, step: int) -> dict[str, Any]:
        """Return the figures of the epoch, and start the next; raise if a loss is not finite."""
        values = torch.stack(self.losses).float()
        bad = (~torch.isfinite(values)).nonzero()
        if len(bad):
            culprit = step - len(values) + int(bad[0])
            batch = batch_at(self._recipe, self._items, culprit).tolist()
            raise DivergedError(
                f"the loss is {values[bad[0]].item()} at step {culprit}",
                f"its batch was the pictures at {batch[:8]}…; lower the learning rates",
            )
        mean = float(values.mean())  # waits for the device, so the time below is the work's
        pictures = len(values) * batch_length(self._recipe, self._items)
        seconds = time.perf_counter() - self._started
        self.losses, self._started = [], time.perf_counter()
        return {
            "epoch": epochs_done(self._recipe, step, self._steps),
            "step": step,
            "steps": self._steps,
            "loss": mean,
            "rate": rate_at(self._recipe, step - 1, self._steps),
            "pictures_per_second": pictures / max(seconds, 1e-9),
        }


def _trainable(module: nn.Module) -> list[nn.Parameter]:
    return [weight for weight in module.parameters() if weight.requires_grad]


def _set_rate(group: dict[str, Any], rate: float) -> None:
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(rate)  # the captured step reads it from there
    else:
        group["lr"] = rate


def _make_step(run: Run, recipe: Recipe, labels: Tensor, teacher: Teacher | None) -> Step:
    """Choose how a step runs: captured on one GPU, eager otherwise."""
    captured = labels.device.type == "cuda" and distributed.world_size() == 1
    kind = CapturedStep if captured else Step
    forward = _forward(run.network, recipe, labels.device, teacher)
    return kind(forward, run.method, run.optimiser, labels, run.average)


def _forward(
    network: Any, recipe: Recipe, device: torch.device, teacher: Teacher | None
) -> Forward:
    """Return the function from a batch of inputs to u and the teacher's loss.

    The backbone computes in bf16 on a GPU, the head in fp32.
    """

    def alone(features: Tensor) -> tuple[Tensor, float]:
        return network(features), 0.0

    def whole(pixels: Tensor) -> tuple[Tensor, Tensor | float]:
        pixels = augment(pixels) if recipe.augment else pixels
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            features = network.features(pixels)
            teacher_loss = teacher.loss(features, pixels) if teacher else 0.0
        return network.head(features.float()), teacher_loss

    forward = alone if recipe.mode == "frozen" else whole
    if distributed.world_size() == 1:
        return forward
    return DistributedDataParallel(_Shell(forward, network))


class _Shell(nn.Module):
    """A module around a function of another, as DistributedDataParallel wants it."""

    def __init__(self, function: Forward, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        self._function = function

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor | float]:
        return self._function(inputs)


def _freeze_batch_norm(network: nn.Module, recipe: Recipe) -> None:
    if recipe.freeze_batch_norm:
        for module in network.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.eval()
