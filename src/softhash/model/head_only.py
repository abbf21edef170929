"""The head of a model alone, as a model of features: what features at hand need to become codes."""

from dataclasses import replace

from softhash.model._safetensors import read_arrays
from softhash.model.config import FP32
from softhash.model.folder import GRAPH, WEIGHTS
from softhash.model.lazy_network import LazyNetwork
from softhash.model.weights import arrays_to_bytes

PREFIX = "head."  # of the names that a head's weights have


def take_head(model: LazyNetwork) -> LazyNetwork:
    """Make a model that takes the features of another, and gives the same outputs.

    Up to rounding: an output that is almost 0 may get another sign.
    """
    from softhash.model.onnx_builder import build_head_onnx

    found = read_arrays(model.to_bytes(), WEIGHTS)
    arrays = {name: array for name, array in found.items() if name.startswith(PREFIX)}
    config = replace(model.config, backbone=None, size=0, engine=FP32)
    parts = {WEIGHTS: arrays_to_bytes(arrays), GRAPH: build_head_onnx(config, arrays)}
    return LazyNetwork.from_parts(config, parts)
