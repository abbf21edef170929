"""The model that comes with softhash: a head in the package, on a backbone that pip delivers.

The package holds the head alone, in half precision. The whole model, with its graph, is put
together when it is first needed, without torch, and kept in the cache. Some of its bits were
learned from labels. The others are fitted to a collection when it is indexed (`fit_default_model`);
the model of the cache has plain ones, fitted to no collection in particular and the same on every
machine. `tools/default_model` made and measured it.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softhash.errors import InputError
from softhash.files import cache_folder, make_private
from softhash.model import folder as model_folder
from softhash.model._safetensors import read_arrays
from softhash.model.config import ModelConfig
from softhash.model.fitted_bits import MAX_PICTURES, Prior, fit_bits, take_turns
from softhash.model.folder import CONFIG, GRAPH, LABELS, WEIGHTS
from softhash.model.label_classifier import LabelClassifier
from softhash.model.published_classes import PREFIX as PUBLISHED

if TYPE_CHECKING:
    from softhash.model.hasher import Hasher

Arrays = dict[str, NDArray[Any]]

PACKED = Path(__file__).with_name("default")
HEAD = "head.safetensors"
MODELS = "models"  # the folder within the cache
LEARNED, PLAIN, PRIOR = "learned.", "plain.", "prior."  # what tensors' names begin with: bits that
LABELS_PART = "labels."  # labels taught, those of no collection in particular, how to fit others
_WAY = "name another model, or another cache folder with XDG_CACHE_HOME"
_CLASSIFIER = "_fc."  # of the published network, which ends in it
_CARD = "fitted"  # the section of the card that says what bits were fitted to


def default_model(report: Callable[[str], None] = lambda note: None) -> Path:
    """Return the folder of the model to use where none is named, made when it is not there yet.

    Args:
        report: called with a line before work that takes seconds.

    Raises:
        InputError: the cache cannot be written to, or the backbone's weights are not to be had.

    """
    folder = default_folder()
    if not _is_private(folder) or not _is_it(folder):
        report("preparing the model that comes with softhash; once, a second or two")
        _write(folder, packed_config())
    return folder


def fit_default_model(features: NDArray[np.floating]) -> "Hasher":
    """Fit the open bits of the model to a collection, by features (n, d) of some of its pictures.

    Raises:
        InputError: the backbone's weights are not to be had.

    """
    from softhash.model.hasher import Hasher

    config = packed_config()
    note = f"Its bits without labels were fitted to {len(features):,} pictures."
    config = replace(config, card={**config.card, _CARD: note})
    return Hasher.from_parts(config, _parts(config, features[:MAX_PICTURES]))


def default_folder() -> Path:
    """Return where the model is kept once it has been made, whether it is there or not."""
    head, config = (PACKED / HEAD).read_bytes(), (PACKED / CONFIG).read_bytes()
    return cache_folder() / MODELS / f"default-{model_folder.sha256(head + config)[:12]}"


def packed_config() -> ModelConfig:
    """Read the model's settings, without making the model."""
    return ModelConfig.from_json((PACKED / CONFIG).read_bytes(), str(PACKED / CONFIG))


def _packed_arrays() -> Arrays:
    data = model_folder.read_part(PACKED, HEAD, packed_config())
    return {
        name: array.astype(np.float32) if array.dtype.kind == "f" else array
        for name, array in read_arrays(data, HEAD).items()
    }


def _is_private(folder: Path) -> bool:
    """Return whether nobody else could have put the model there; nobody can from now on."""
    try:
        were = [make_private(one) for one in (folder.parent.parent, folder.parent)]  # both of them
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror or error}", _WAY) from None
    return all(were)


def _is_it(folder: Path) -> bool:
    """Return whether a folder has the settings of this model, and so the SHA-256 of its parts."""
    try:
        found = model_folder.read_config(folder)
    except InputError:
        return False
    return found.with_sha256({}) == packed_config().with_sha256({})


def _write(folder: Path, config: ModelConfig) -> None:
    parts = _parts(config)
    try:
        model_folder.write_model(folder, config, parts, force=True)
    except InputError as error:
        if not _is_it(folder):  # otherwise another process was first
            raise InputError(str(error), _WAY) from None


def _parts(config: ModelConfig, features: NDArray[np.floating] | None = None) -> dict[str, bytes]:
    """Put the head on the backbone's published weights: all files of a model but its texts."""
    from softhash.model.onnx_builder import build_onnx
    from softhash.model.weights import arrays_to_bytes

    packed = _packed_arrays()
    arrays, classifier = published_arrays(str(config.backbone))
    arrays |= _head_arrays(packed, features)
    labels = {name.removeprefix(LABELS_PART): array for name, array in packed.items()}
    labels |= {name.replace(_CLASSIFIER, PUBLISHED): array for name, array in classifier.items()}
    return {
        WEIGHTS: arrays_to_bytes(arrays),
        GRAPH: build_onnx(config, arrays, f"the weights of {config.backbone}"),
        LABELS: LabelClassifier.from_arrays(labels, config, HEAD).to_bytes(),
    }


def _head_arrays(packed: Arrays, features: NDArray[np.floating] | None) -> Arrays:
    """Return the head's arrays: learned bits, and others fitted to features, which take turns."""
    learned, others = ((packed[one + "weight"], packed[one + "bias"]) for one in (LEARNED, PLAIN))
    if features is not None:
        prior = Prior(packed[PRIOR + "mean"], packed[PRIOR + "axes"])
        others = fit_bits(features, len(prior.axes), prior)
    order = take_turns(len(learned[1]), len(others[1]))
    weight, bias = (np.concatenate(pair)[order] for pair in zip(learned, others, strict=True))
    width = weight.shape[1]
    return {
        "head.mean": np.zeros(width, np.float32),
        "head.scale": np.ones(width, np.float32),
        "head.output.weight": weight.astype(np.float32),
        "head.output.bias": bias.astype(np.float32),
    }


def published_arrays(name: str) -> tuple[Arrays, Arrays]:
    """Read published weights: a backbone's, as a network names them, and its classifier's."""
    from softhash.model.backbones.efficientnet_lite_onnx import PREFIX
    from softhash.model.backbones.published import published_weights
    from softhash.model.backbones.torch_file import read_torch_file

    arrays: Arrays = {}
    classifier: Arrays = {}
    for key, array in read_torch_file(published_weights(name)).items():
        is_last = key.startswith(_CLASSIFIER)
        (classifier if is_last else arrays)[key if is_last else PREFIX + key] = np.asarray(
            array, order="C"
        )
    return arrays, classifier
