"""Float features as a reference: what ranks by the cosine of the backbone's own features reaches.

In a grid it stands among the methods as ``float``. It is not one: nothing is learned, there is no
code, and it cannot be trained or saved. Its row has no bits to choose, so its recipe holds the
network alone, and its contract counts 32 bits for each number.
"""

import numpy as np
import numpy.typing as npt

from softhash.experiments.encoded_split import EncodedSplit
from softhash.experiments.inputs import GridInputs
from softhash.training.recipe import Recipe

FLOAT = "float"
DISTANCE = "cosine of float features"
NUMBER_BITS = 32
_NO_CODES = np.zeros((0, 0), np.uint8)
_EPSILON = 1e-12


def float_recipe(recipe: Recipe) -> Recipe:
    """Return the recipe of the reference row: the network of another recipe, and nothing else."""
    return Recipe(method=FLOAT, backbone=recipe.backbone, weights=recipe.weights, size=recipe.size)


def float_split(inputs: GridInputs) -> EncodedSplit:
    """Compute the distances, 1 − cosine, of all queries from the database.

    Args:
        inputs: features, and which of them are queries.

    """
    features, labels = inputs.inputs.numpy().astype(np.float32, copy=False), inputs.labels.numpy()
    query, database = inputs.query.numpy(), inputs.database.numpy()
    return EncodedSplit(
        (_NO_CODES, _NO_CODES),
        (labels[query], labels[database]),
        NUMBER_BITS * features.shape[1],
        1 - _unit(features[query]) @ _unit(features[database]).T,
        DISTANCE,
    )


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = rows / np.maximum(length, _EPSILON)
    return unit
