"""The model that comes with softhash: a head in the package, on a backbone that pip delivers.

The package holds the head alone, in half precision. The whole model, with its graph, is put
together when it is first needed, without torch, and kept in the cache. How the head was trained is
in `recipes/softhash/default-model.toml`; `tools/pack_default_model.py` takes it out of a model.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softhash.errors import InputError
from softhash.files import cache_folder, make_private
from softhash.model import folder as model_folder
from softhash.model._safetensors import read_arrays
from softhash.model.config import ModelConfig
from softhash.model.folder import CONFIG, GRAPH, LABELS, WEIGHTS
from softhash.model.label_classifier import LabelClassifier

PACKED = Path(__file__).with_name("default")
HEAD = "head.safetensors"
MODELS = "models"  # the folder within the cache
PARTS = ("head.", "labels.")  # what tensors of the file begin with
_WAY = "name another model, or another cache folder with XDG_CACHE_HOME"
_CLASSIFIER = "_fc."  # of the published network, which ends in it


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
        _write(folder, _packed_head(), packed_config())
    return folder


def default_folder() -> Path:
    """Return where the model is kept once it has been made, whether it is there or not."""
    head, config = (PACKED / HEAD).read_bytes(), (PACKED / CONFIG).read_bytes()
    return cache_folder() / MODELS / f"default-{model_folder.sha256(head + config)[:12]}"


def packed_config() -> ModelConfig:
    """Read the model's settings, without making the model."""
    return ModelConfig.from_json((PACKED / CONFIG).read_bytes(), str(PACKED / CONFIG))


def _packed_head() -> bytes:
    return model_folder.read_part(PACKED, HEAD, packed_config())


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


def _write(folder: Path, head: bytes, config: ModelConfig) -> None:
    parts = _parts(head, config)
    try:
        model_folder.write_model(folder, config, parts, force=True)
    except InputError as error:
        if not _is_it(folder):  # otherwise another process was first
            raise InputError(str(error), _WAY) from None


def _parts(head: bytes, config: ModelConfig) -> dict[str, bytes]:
    """Put the head on the backbone's published weights: all files of a model but its texts."""
    from softhash.model.onnx_builder import build_onnx
    from softhash.model.weights import arrays_to_bytes

    head_part, labels_part = PARTS
    packed = {name: array.astype(np.float32) for name, array in read_arrays(head, HEAD).items()}
    arrays = _backbone_arrays(str(config.backbone))
    arrays |= {name: array for name, array in packed.items() if name.startswith(head_part)}
    weight, bias = (packed[labels_part + name] for name in ("weight", "bias"))
    return {
        WEIGHTS: arrays_to_bytes(arrays),
        GRAPH: build_onnx(config, arrays, f"the weights of {config.backbone}"),
        LABELS: LabelClassifier(weight, bias, config.classes).to_bytes(),
    }


def _backbone_arrays(name: str) -> dict[str, NDArray[Any]]:
    """Read a backbone's published weights, under the names that a network has for them."""
    from softhash.model.backbones.efficientnet_lite_onnx import PREFIX
    from softhash.model.backbones.published import published_weights
    from softhash.model.backbones.torch_file import read_torch_file

    found = read_torch_file(published_weights(name))
    return {
        PREFIX + name: np.asarray(array, order="C")
        for name, array in found.items()
        if not name.startswith(_CLASSIFIER)
    }
