"""One training run: where it happens, the method it is trained by, and its checkpoints."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from softhash.data.loading import Progress
from softhash.devices import pick_device
from softhash.model.hasher import Hasher
from softhash.model.label_classifier import fit_label_classifier
from softhash.training.checkpoint import load_checkpoint, save_checkpoint
from softhash.training.distributed import rank
from softhash.training.loop import OnEpoch, Run, make_run, train
from softhash.training.methods import Method, create
from softhash.training.recipe import Recipe
from softhash.training.teacher import Teacher


@dataclass
class Options:
    """Where and how a run happens, without any influence on what it ends with."""

    device: str = "auto"
    on_epoch: OnEpoch = lambda figures: None
    progress: Progress | None = None
    checkpoint: Path | None = None  # a file; written now and then, and on interruption
    resume: bool = False
    cache: Path | None = None  # a folder for features and pixels
    warn: Callable[[str], None] = field(default=lambda text: None)


def build_method(recipe: Recipe, labels: Tensor, features: Tensor) -> Method:
    """Make the method; whatever chance decides from here on comes from the recipe's seed."""
    torch.manual_seed(recipe.seed)
    method = create(recipe.method, recipe.bits, labels.shape[1], **recipe.settings)
    method.study(features, labels.to(features.device))
    return method


def run_training(
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
    if options.checkpoint and resumes(options):
        load_checkpoint(options.checkpoint, run, recipe)

    def checkpoint(state: Run) -> None:
        if options.checkpoint and rank() == 0:
            save_checkpoint(options.checkpoint, state, recipe)

    train(
        run, recipe, inputs, labels.to(device),
        teacher=teacher, on_epoch=options.on_epoch, checkpoint=checkpoint,
    )  # fmt: skip


def resumes(options: Options) -> bool:
    """Whether there is a checkpoint to go on from, and it is wanted."""
    return bool(options.resume and options.checkpoint and options.checkpoint.exists())


def fit_labels(hasher: Hasher, features: Tensor, labels: Tensor) -> None:
    """Teach a hasher that knows their names which labels features speak for."""
    if len(hasher.classes) == labels.shape[1]:
        hasher.label_classifier = fit_label_classifier(features, labels, hasher.classes)
