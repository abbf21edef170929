"""A network fine-tuned as a plain classifier of the labels: what floats reach beside codes.

It is trained by the loop and the settings that methods have, with one output per class and the mean
binary cross-entropy, so that it differs from a method in its loss alone.
"""

from contextlib import closing
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from softhash.devices import pick_device
from softhash.experiments.encoded_split import AT_ONCE, outputs
from softhash.experiments.inputs import GridInputs
from softhash.model.config import HeadOptions
from softhash.training.batches import in_parts
from softhash.training.finetune import fit_pixels
from softhash.training.fit import build_hasher
from softhash.training.methods import Method
from softhash.training.options import Options
from softhash.training.recipe import Recipe

Floats = npt.NDArray[np.float32]


class Classification(Method):
    """One logistic output per class, right on the features; there are no codes."""

    name = "classification"
    activation = "identity"

    def head_options(self, hidden: int, dropout: float) -> HeadOptions:
        """Return a linear classifier, whatever hidden layer the recipe asks for."""
        return super().head_options(0, dropout)

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Binary cross-entropy of the outputs."""
        return F.binary_cross_entropy_with_logits(u, labels.to(u.dtype))


def classifier_probabilities(recipe: Recipe, inputs: GridInputs, options: Options) -> Floats:
    """Fine-tune a classifier, and return the probabilities of every picture (n, classes).

    Args:
        recipe: how it is trained.
        inputs: pictures, and which of them are the train set.
        options: where, and what is reported.

    """
    network, device = _train(recipe, inputs, options)
    scores = torch.from_numpy(outputs(network, inputs.inputs, device))
    found: Floats = scores.sigmoid().numpy()
    return found


def classifier_features(recipe: Recipe, inputs: GridInputs, options: Options) -> Floats:
    """Fine-tune a classifier, and return the features of every picture (n, d).

    Args:
        recipe: how it is trained.
        inputs: pictures, and which of them are the train set.
        options: where, and what is reported.

    """
    network, device = _train(recipe, inputs, options)
    with torch.no_grad(), closing(in_parts(inputs.inputs, AT_ONCE, device)) as parts:
        found: Floats = torch.cat([network.features(part).float().cpu() for part in parts]).numpy()
    return found


def _train(recipe: Recipe, inputs: GridInputs, options: Options) -> tuple[Any, torch.device]:
    """Fine-tune a network of as many outputs as there are classes; return it in evaluation mode."""
    labels = inputs.labels[inputs.train]
    recipe = recipe.changed(bits=labels.shape[1])
    hasher = build_hasher(recipe, method=Classification)
    train = inputs.inputs[inputs.train.to(inputs.inputs.device)]
    fit_pixels(hasher, Classification, train, labels, recipe, options)
    device = torch.device(pick_device(options.device))
    return hasher.network.to(device).eval(), device
