"""Features of a split in one file, for machines that have neither the pictures nor the backbone.

The file is an uncompressed .npz: features in half precision, labels, positions of the parts, and a
JSON text with file names, classes and the split's identity. Rows that are computed from it carry
the same split hash as rows from the pictures. Nothing in it is ever executed.
"""

import io
import json
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from softhash.data.image_set import ImageSet
from softhash.data.splits.split import ROLES, Split
from softhash.errors import InputError, SofthashError, UsageError
from softhash.experiments.inputs import GridInputs, arrange_inputs, starts_at_random
from softhash.files import write_whole
from softhash.training.recipe import Recipe

KIND = "softhash features 1"
HINT = "write it again with: softhash bench --save-features"
_NETWORK = ("backbone", "weights", "size")
_ARRAYS = ("facts", "features", "rows", "labels", *ROLES)

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class SavedFeatures:
    """Inputs of frozen cells, and the network whose features they are.

    Attributes:
        inputs: features, labels and parts.
        network: `backbone`, `weights` and `size`, as recipes name them; beside weights that are not
            the published ones also `seed`, None where a file has all of them.

    """

    inputs: GridInputs
    network: dict[str, Any]

    def check(self, recipes: Iterable[Recipe]) -> None:
        """Raise a UsageError where a cell needs anything else than these features."""
        for recipe in recipes:
            _check_frozen(recipe)
            for key, value in self.network.items():
                wanted = getattr(recipe, key)
                if value not in (wanted, None):  # the weights file itself may be elsewhere
                    raise UsageError(
                        f"the features are of {key} {value!r}, and the recipe has {wanted!r}",
                        "save features for this recipe",
                    )


def describe_network(recipe: Recipe) -> dict[str, Any]:
    """Return what the features of frozen cells depend on: backbone, its start, size of pictures.

    Weights that are not the published ones have a seed: None where a file has all of them.
    """
    _check_frozen(recipe)
    found = {key: getattr(recipe, key) for key in _NETWORK}
    if recipe.weights == "default":
        return found
    return {**found, "seed": recipe.seed if starts_at_random(recipe) else None}


def _check_frozen(recipe: Recipe) -> None:
    if recipe.mode != "frozen":
        raise UsageError(
            f"{recipe.method} is to be fine-tuned, which needs pictures instead of features",
            'give --data alone, or a recipe with mode = "frozen"',
        )


def save_features(inputs: GridInputs, recipe: Recipe, path: Path, *, force: bool = False) -> None:
    """Write the features of a split, in half precision.

    Args:
        inputs: features of a frozen network.
        recipe: that they were computed for.
        path: of the file.
        force: whether an existing file is overwritten.

    Raises:
        InputError: a feature is too large for half precision.

    """
    split = inputs.split
    with np.errstate(over="ignore"):
        half = inputs.features.numpy().astype(np.float16)
    if not np.isfinite(half).all():
        raise InputError("a feature is not finite, or above 65,504: too large for half precision")
    facts = {
        "kind": KIND,
        "network": describe_network(recipe),
        "collection": {"name": split.images.root.name, "format": split.images.format},
        "split": {"protocol": split.protocol, "seed": split.seed, "options": dict(split.options)},
        "sha256": split.sha256,
        "classes": split.images.classes,
        "file_names": split.images.file_names,
    }
    text = json.dumps(facts).encode()
    buffer = io.BytesIO()
    np.savez(
        buffer,
        allow_pickle=False,
        facts=np.frombuffer(text, np.uint8),
        features=half,
        rows=inputs.rows,
        labels=np.packbits(split.images.labels, axis=1),
        **{role: split.positions[role] for role in ROLES},
    )
    write_whole(path, buffer.getvalue(), force=force)


def load_features(path: Path) -> SavedFeatures:
    """Read what `save_features` wrote, and check that it is whole and makes sense.

    Raises:
        InputError: it cannot be read, is damaged, or is something else.

    """
    arrays = _read_arrays(path)
    try:
        return _checked(json.loads(arrays["facts"].tobytes()), arrays)
    except SofthashError as error:
        raise InputError(f"{path} is damaged: {error.detail}", HINT) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)[:200]
        raise InputError(f"{path} is not a file of features: {reason}", HINT) from None


def _checked(facts: dict[str, Any], arrays: Arrays) -> SavedFeatures:
    if facts["kind"] != KIND:
        raise ValueError(f"its kind is not '{KIND}'")
    split, features, rows = _split(facts, arrays), arrays["features"], arrays["rows"]
    if split.sha256 != facts["sha256"]:
        raise ValueError(f"its split has the SHA-256 {split.sha256[:12]}, another was saved")
    if features.dtype != np.float16 or features.ndim != 2 or not np.isfinite(features).all():
        raise ValueError("its features are not a matrix of finite numbers in half precision")
    if features.shape[:1] != rows.shape or not features.size:
        raise ValueError(f"it has features of shape {features.shape} for {rows.shape} pictures")
    values = torch.from_numpy(features.astype(np.float32))
    return SavedFeatures(arrange_inputs(values, rows, split), _read_network(facts["network"]))


def _read_network(facts: dict[str, Any]) -> dict[str, Any]:
    """Check what `describe_network` recorded; files without a seed are of seed 0."""
    given = {key: value for key, value in facts.items() if (key, value) != ("seed", None)}
    recipe = Recipe().changed(**given)
    found = {key: getattr(recipe, key) for key in _NETWORK}
    drawn = recipe.weights != "default"
    return {**found, "seed": facts.get("seed", recipe.seed)} if drawn else found


def _read_arrays(path: Path) -> Arrays:
    """Read the arrays; a compressed one, which could fill the memory, is refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            if any(one.compress_type != zipfile.ZIP_STORED for one in archive.infolist()):
                raise InputError(f"{path} is compressed, so softhash did not write it", HINT)
        with np.load(path, allow_pickle=False) as found:
            return {name: found[name] for name in _ARRAYS if name in found}
    except FileNotFoundError:
        raise InputError(f"{path} does not exist", HINT) from None
    except SofthashError:
        raise
    except Exception as error:  # a damaged header makes numpy raise nearly anything
        reason = getattr(error, "strerror", None) or "it is damaged, or not a .npz file"
        raise InputError(f"{path} cannot be read: {reason}", HINT) from None


def _split(facts: dict[str, Any], arrays: Arrays) -> Split:
    """Rebuild the split, whose pictures need not be there."""
    names, classes = tuple(facts["file_names"]), tuple(facts["classes"])
    if not all(isinstance(text, str) for text in (*names, *classes)):
        raise ValueError("its file names are not text")
    if arrays["labels"].shape != (len(names), -(-len(classes) // 8)):
        raise ValueError(f"its labels do not fit {len(classes):,} classes")
    labels = np.unpackbits(arrays["labels"], axis=1, count=len(classes))
    origin, drawn = facts["collection"], facts["split"]
    images = ImageSet(Path(str(origin["name"])), names, labels, classes, str(origin["format"]))
    for part in ("rows", *ROLES):
        _check_positions(part, arrays[part], len(images))
    positions = {role: arrays[role] for role in ROLES}
    return Split(images, str(drawn["protocol"]), int(drawn["seed"]), positions, drawn["options"])


def _check_positions(part: str, positions: npt.NDArray[Any], pictures: int) -> None:
    fits = positions.dtype == np.int64 and positions.ndim == 1 and positions.size
    if not fits or positions.min() < 0 or positions.max() >= pictures:
        raise ValueError(f"'{part}' does not list some of {pictures:,} pictures")
    if len(np.unique(positions)) < len(positions):
        raise ValueError(f"'{part}' lists a picture twice")
