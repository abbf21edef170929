"""What codes are compared with: rankings by floats, whose rows stand beside codes of every length.

In a grid they stand among the methods. They are none: there is no code, nothing can be saved, and
no bits are to be chosen, so a recipe holds the network alone and a contract counts 32 bits for each
number.

| name | ranks by |
|---|---|
| ``float`` | the cosine of the backbone's own features, which no label was shown to |
| ``classifier`` | the cosine of probabilities, of a logistic regression fitted to the train set |
| ``float-finetuned`` | the cosine of features, of the network fine-tuned as a classifier |
| ``classifier-finetuned`` | the cosine of that classifier's probabilities |

The last two are trained, by the settings of their grid, in grids of mode `finetune` alone.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from softhash.errors import UsageError
from softhash.experiments.encoded_split import EncodedSplit
from softhash.experiments.finetuned_classifier import classifier_features, classifier_probabilities
from softhash.experiments.inputs import GridInputs
from softhash.model.label_classifier import fit_label_classifier
from softhash.training.options import Options
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
        vectors: called with the recipe, the inputs of a grid, and where to compute; returns a
            vector of each picture (n, d).
        finetuned: whether a network is fine-tuned for it.

    """

    title: str
    distance: str
    vectors: Callable[[Recipe, GridInputs, Options], Floats]
    finetuned: bool = False


def reference_recipe(name: str, recipe: Recipe) -> Recipe:
    """Return the recipe of a reference's row: the network, and what it is fine-tuned by, if it is.

    Args:
        name: one of `REFERENCES`.
        recipe: of a cell of the grid; its bits and its method's settings do not count.

    Raises:
        UsageError: the reference is fine-tuned, and the grid is not.

    """
    if not REFERENCES[name].finetuned:
        network = {key: getattr(recipe, key) for key in ("backbone", "weights", "size")}
        return Recipe(method=name, **network)
    if recipe.mode != "finetune":
        raise UsageError(f"{name} is trained on pictures", "use it with mode = 'finetune'")
    return recipe.changed(method=name, bits=Recipe.bits, settings={})


def reference_split(recipe: Recipe, inputs: GridInputs, options: Options) -> EncodedSplit:
    """Compute the distances, 1 − cosine, of all queries from the database.

    Args:
        recipe: of `reference_recipe`.
        inputs: features or pictures, and which of them are queries.
        options: where a network is trained.

    """
    reference = REFERENCES[recipe.method]
    vectors, labels = reference.vectors(recipe, inputs, options), inputs.labels.numpy()
    query, database = inputs.query.numpy(), inputs.database.numpy()
    return EncodedSplit(
        (_NO_CODES, _NO_CODES),
        (labels[query], labels[database]),
        NUMBER_BITS * vectors.shape[1],
        1 - _unit(vectors[query]) @ _unit(vectors[database]).T,
        reference.distance,
    )


def _features(recipe: Recipe, inputs: GridInputs, options: Options) -> Floats:
    return inputs.features.numpy().astype(np.float32, copy=False)


def _probabilities(recipe: Recipe, inputs: GridInputs, options: Options) -> Floats:
    """Fit a classifier to the train set, and let it judge all pictures."""
    labels = inputs.labels[inputs.train]
    rows = inputs.train[(labels > 0).any(dim=1)]
    classes = inputs.split.images.classes
    classifier = fit_label_classifier(inputs.features[rows], inputs.labels[rows], classes)
    found: Floats = classifier.probabilities(_features(recipe, inputs, options)).astype(np.float32)
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
    "float-finetuned": Reference(
        "fine-tuned float features",
        "cosine of float features, fine-tuned by a classifier",
        classifier_features,
        finetuned=True,
    ),
    "classifier-finetuned": Reference(
        "fine-tuned classifier's probabilities",
        "cosine of a fine-tuned classifier's probabilities",
        classifier_probabilities,
        finetuned=True,
    ),
}
