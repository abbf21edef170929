"""Which numbers a processor computes codes with: floats, or integers of 8 bits, which are faster.

Codes of the two differ in a few bits, so that the engine is part of a model's identity, and an
index has the one that its codes were made with.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from softhash.devices import has_vnni, pick_device
from softhash.errors import SofthashError, UsageError, unknown_name
from softhash.model._safetensors import read_arrays
from softhash.model.config import ENGINES, FP32, INT8, ModelConfig
from softhash.model.folder import GRAPH, WEIGHTS

if TYPE_CHECKING:
    from softhash.model.lazy_network import LazyNetwork

AUTO = "auto"
MEASURED = ("efficientnet_lite0",)  # backbones whose loss was measured, with published weights


def check_engine(name: str) -> None:
    """Raise unless there is such an engine, or it is `auto`."""
    if name not in (AUTO, *ENGINES):
        raise unknown_name("engine", name, (AUTO, *ENGINES))


def choose_engine(model: "LazyNetwork", device: str = AUTO) -> str:
    """Return the engine that suits a model and this machine: int8 where it is known to win.

    That is on processors with instructions for it, and for backbones whose loss was measured: with
    published weights, not fine-tuned.

    Args:
        model: what computes the codes.
        device: where, as `Hasher.encode` takes it.

    """
    config = model.config
    if config.engine == INT8:
        return INT8
    wins = config.backbone in MEASURED and pick_device(device) == "cpu" and has_vnni()
    return INT8 if wins and _can_be_int8(config) and _is_published(model) else FP32


def change_engine(model: "LazyNetwork", engine: str) -> "LazyNetwork":
    """Make a model of the same weights whose codes another engine computes.

    Args:
        model: stays as it is.
        engine: `fp32` or `int8`.

    Raises:
        UsageError: int8 is not for such a network.

    """
    from softhash.model.lazy_network import LazyNetwork

    config, weights = replace(model.config, engine=engine), model.to_bytes()
    parts = {WEIGHTS: weights, GRAPH: make_graph(config, weights)}
    return LazyNetwork.from_parts(config, parts)


def make_graph(config: ModelConfig, weights: bytes) -> bytes:
    """Make the graph of an engine from the weights of a model, without torch.

    Raises:
        UsageError: the graph of such a network is not built here.

    """
    from softhash.model.onnx_builder import build_onnx

    if not _can_be_int8(config):
        raise UsageError(
            f"the engine {INT8} is for EfficientNet-Lite with heads whose signs are the code",
            f"use {FP32}",
        )
    return build_onnx(config, read_arrays(weights, WEIGHTS))


def _can_be_int8(config: ModelConfig) -> bool:
    from softhash.model.onnx_builder import check_built

    try:
        check_built(replace(config, engine=INT8))
    except UsageError:
        return False
    return True


def _is_published(model: "LazyNetwork") -> bool:
    """Return whether the backbone was not fine-tuned: its weights are those that pip delivers."""
    from softhash.model.default_model import published_arrays

    try:
        published, _ = published_arrays(str(model.config.backbone))
    except SofthashError:  # they are not installed
        return False
    found = read_arrays(model.to_bytes(), WEIGHTS)
    return all(
        name in found and np.array_equal(found[name], array) for name, array in published.items()
    )
