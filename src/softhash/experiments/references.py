"""What codes are compared with: rankings by floats, whose rows stand beside codes of every length.

In a grid they stand among the methods. They are none: there is no code, nothing can be saved, and
no bits are to be chosen, so a recipe holds the network alone and a contract counts 32 bits for each
number.

| name | ranks by |
|---|---|
| ``float`` | the cosine of the backbone's own features, which no label was shown to |
| ``classifier`` | the cosine of probabilities, of a logistic regression fitted to the train set |
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from softhash.experiments.encoded_split import EncodedSplit
from softhash.experiments.inputs import GridInputs
from softhash.model.label_classifier import fit_label_classifier
from softhash.training.recipe import Recipe

Floats = npt.NDArray[np.float32]

NUMBER_BITS = 32
_NO_CODES = np.zeros((0, 0), np.uint8)
_EPSILON = 1e-12


class Reference(NamedTuple):
    """A ranking without codes.

    Attributes:
        title: for tables.
        distance: what is ranked by, for the contract.
        vectors: called with the inputs of a grid; returns a vector of each picture (n, d).

    """

    title: str
    distance: str
    vectors: Callable[[GridInputs], Floats]


def reference_recipe(name: str, recipe: Recipe) -> Recipe:
    """Return the recipe of a reference's row: the network of another recipe, and nothing else."""
    return Recipe(method=name, backbone=recipe.backbone, weights=recipe.weights, size=recipe.size)


def reference_split(name: str, inputs: GridInputs) -> EncodedSplit:
    """Compute the distances, 1 − cosine, of all queries from the database.

    Args:
        name: one of `REFERENCES`.
        inputs: features, and which of them are queries.

    """
    reference = REFERENCES[name]
    vectors, labels = reference.vectors(inputs), inputs.labels.numpy()
    query, database = inputs.query.numpy(), inputs.database.numpy()
    return EncodedSplit(
        (_NO_CODES, _NO_CODES),
        (labels[query], labels[database]),
        NUMBER_BITS * vectors.shape[1],
        1 - _unit(vectors[query]) @ _unit(vectors[database]).T,
        reference.distance,
    )


def _features(inputs: GridInputs) -> Floats:
    return inputs.features.numpy().astype(np.float32, copy=False)


def _probabilities(inputs: GridInputs) -> Floats:
    """Fit a classifier to the train set, and let it judge all pictures."""
    labels = inputs.labels[inputs.train]
    rows = inputs.train[(labels > 0).any(dim=1)]
    classes = inputs.split.images.classes
    classifier = fit_label_classifier(inputs.features[rows], inputs.labels[rows], classes)
    found: Floats = classifier.probabilities(_features(inputs)).astype(np.float32)
    return found


def _unit(rows: Floats) -> Floats:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = rows / np.maximum(length, _EPSILON)
    return unit


REFERENCES = {
    "float": Reference("float features", "cosine of float features", _features),
    "classifier": Reference(
        "classifier's probabilities", "cosine of a classifier's probabilities", _probabilities
    ),
}
