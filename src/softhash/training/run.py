"""One training run: the method it is trained by, its steps, and its checkpoints."""

import torch
from torch import Tensor, nn

from softhash.devices import pick_device
from softhash.model.hasher import Hasher
from softhash.model.label_classifier import fit_label_classifier
from softhash.training.checkpoint import load_checkpoint, save_checkpoint
from softhash.training.distributed import rank
from softhash.training.loop import Run, make_run, train
from softhash.training.methods import Method, create
from softhash.training.options import Options
from softhash.training.pictures import Inputs
from softhash.training.recipe import Recipe
from softhash.training.schedule import seed_at, step_count
from softhash.training.teacher import Teacher


def build_method(
    kind: type[Method], recipe: Recipe, features: Tensor, labels: Tensor, steps: int
) -> Method:
    """Make a method for a train set; all chance from here on comes from the recipe's seed.

    Args:
        kind: the method's class.
        recipe: bits, seed and the method's settings.
        features: of the untouched backbone (n, d), on the device that trains.
        labels: (n, classes), multi-hot.
        steps: of the whole run.

    """
    torch.manual_seed(recipe.seed)
    method = create(kind, recipe.bits, labels.shape[1], **recipe.settings)
    method.study(features, labels.to(features.device))
    method.plan(steps)
    return method


def run_training(
    network: nn.Module,
    method: Method,
    inputs: Inputs,
    labels: Tensor,
    recipe: Recipe,
    options: Options,
    teacher: Teacher | None = None,
    warmed: Method | None = None,
) -> None:
    """Train from the start, or from where a checkpoint was.

    Args:
        network: the head where the recipe's mode is `frozen`, otherwise the whole network.
        method: what it is trained by.
        inputs: features (n, d), or pictures (n, h, w, 3) uint8, on any device or on disk.
        labels: (n, classes), multi-hot.
        recipe: how.
        options: where, and what is reported.
        teacher: what features are learned from, where pictures are trained on.
        warmed: the method that the head was warmed up with. What it has learned and counted
            (centres, classifiers, remembered outputs, steps) is carried over.

    """
    device = torch.device(pick_device(options.device))
    run = make_run(network, method, recipe, device)
    method.start(labels.to(device))
    if warmed is not None:
        method.load_state_dict(warmed.state_dict())
    if options.checkpoint and options.resumes:
        load_checkpoint(options.checkpoint, run, recipe, options.train_set)
        for figures in run.log:
            options.on_resume(figures)

    def checkpoint(state: Run) -> None:
        if options.checkpoint and rank() == 0:
            save_checkpoint(options.checkpoint, state, recipe, options.train_set)

    train(
        run, recipe, inputs, labels.to(device),
        teacher=teacher, on_epoch=options.on_epoch, checkpoint=checkpoint,
    )  # fmt: skip


def seed_finish(recipe: Recipe, items: int) -> None:
    """Make what a method draws after its last step the same, also where no step was left to run."""
    torch.manual_seed(seed_at(recipe.seed, step_count(recipe, items)))


def fit_labels(hasher: Hasher, features: Tensor, labels: Tensor, options: Options) -> None:
    """Fit the classifier that names the likely labels, where the hasher has names for them.

    Args:
        hasher: changed in place.
        features: of the train set (n, d).
        labels: (n, classes), multi-hot; pictures without labels are left out.
        options: who is told how far it is.

    """
    rows = labels.any(dim=1).nonzero().flatten()
    if len(hasher.classes) == labels.shape[1] and len(rows) > 1:
        x = features[rows.to(features.device)]
        hasher.label_classifier = fit_label_classifier(
            x, labels[rows], hasher.classes, progress=options.on_labels
        )
