"""A network as an ONNX graph, from its weights alone: what `onnx_export` writes, without torch.

It covers the backbones that pip delivers and heads whose signs are the code; everything else is
exported by torch. Graphs in 8 bits are made here alone.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softhash.errors import UsageError
from softhash.model.backbones.efficientnet_lite_int8 import add_int8_efficientnet_lite
from softhash.model.backbones.efficientnet_lite_onnx import add_efficientnet_lite
from softhash.model.backbones.efficientnet_lite_shape import SCALES
from softhash.model.config import INT8, ModelConfig
from softhash.model.graph_builder import GraphBuilder
from softhash.model.onnx_graph import FEATURES, OUTPUTS, PIXELS
from softhash.model.quantised import Quantised

ACTIVATIONS = {"cosine": "Cos", "identity": "Identity", "softsign": "Softsign", "tanh": "Tanh"}


def build_onnx(
    config: ModelConfig, arrays: Mapping[str, NDArray[Any]], source: str = "the weights"
) -> bytes:
    """Build the graph of a network: `pixels` (n, size, size, 3) → `u` and `features`.

    Args:
        config: the network's settings.
        arrays: its weights, under the names they have in `model.safetensors`.
        source: what errors call them.

    Raises:
        InputError: weights are missing, or of another shape than the config asks for.
        UsageError: the network is one that only torch can export.

    """
    check_built(config)
    graph = GraphBuilder(arrays, source)
    if config.engine == INT8:
        add: Any = add_int8_efficientnet_lite
        x: Any = _quantised(graph, config)
    else:
        add, x = add_efficientnet_lite, _normalised(graph, config)
    _add_head(graph, add(graph, x, FEATURES, config.backbone, config.size), config)
    return graph.to_bytes(
        (PIXELS, "uint8", ("n", config.size, config.size, 3)),
        [
            (OUTPUTS, "float32", ("n", config.bits)),
            (FEATURES, "float32", ("n", config.features)),
        ],
    )


def check_built(config: ModelConfig) -> None:
    """Raise UsageError where the graph of such a network is not built here."""
    if config.backbone not in SCALES:
        raise _not_built(f"a graph of {config.backbone}")
    if config.engine == INT8 and not _has_one_mean(config):
        raise _not_built("a graph in 8 bits for pixels whose mean is not one whole number")
    _check_head(config)


def build_head_onnx(config: ModelConfig, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Build the graph of a head alone: `features` (n, d) → `u`.

    Raises:
        InputError: weights are missing, or of another shape than the config asks for.
        UsageError: the head is one that only torch can export.

    """
    _check_head(config)
    graph = GraphBuilder(arrays, "the head")
    _add_head(graph, FEATURES, config)
    return graph.to_bytes(
        (FEATURES, "float32", ("n", config.features)), [(OUTPUTS, "float32", ("n", config.bits))]
    )


def _check_head(config: ModelConfig) -> None:
    if config.lift != "relu" or config.embedding:
        raise _not_built("a graph of this head")


def _not_built(what: str) -> UsageError:
    return UsageError(f"{what} is not built here", "export it with torch")


def _normalised(graph: GraphBuilder, config: ModelConfig) -> str:
    """Add what the backbone's weights expect of pixels: channels first, mean and std."""
    mean, std = (np.array(v, np.float32).reshape(1, 3, 1, 1) for v in (config.mean, config.std))
    x = graph.add("Transpose", "channels_first", PIXELS, perm=[0, 3, 1, 2])
    x = graph.add("Cast", "float", x, to=1)
    x = graph.add("Sub", "centred", x, graph.constant("mean", mean))
    return graph.add("Div", "normalised", x, graph.constant("std", std))


def _has_one_mean(config: ModelConfig) -> bool:
    """Return whether 0, which pictures are padded with, is a value that pixels have."""
    return len(set(config.mean)) == 1 and config.mean[0] in range(256)


def _quantised(graph: GraphBuilder, config: ModelConfig) -> Quantised:
    """Add pixels with channels first: they are in 8 bits already."""
    x = graph.add("Transpose", "channels_first", PIXELS, perm=[0, 3, 1, 2])
    zeros = np.zeros(3)
    return Quantised(x, 1.0, int(config.mean[0]), 1 / np.array(config.std), zeros, zeros)


def _add_head(graph: GraphBuilder, x: str, config: ModelConfig) -> None:
    """Add standardised features → (hidden layer, and a path beside it) → linear → activation."""
    width = config.features
    for kind, name in (("Sub", "head.mean"), ("Div", "head.scale")):
        x = graph.add(kind, f"{name}.out", x, graph.constant(name, graph.take(name, width)))
    skip = None
    if config.hidden and config.skip_dropout < 1:
        skip = graph.constant(
            "head.skip.weight", graph.take("head.skip.weight", config.bits, width)
        )
        skip = graph.add("Gemm", "head.skip", x, skip, transB=1)
    if config.hidden:
        x = _add_linear(graph, x, "head.hidden.0", config.hidden, width)
        x = graph.add("Relu", "head.hidden.1", x)
        width = config.hidden
    x = _add_linear(graph, x, "head.output", config.bits, width)
    if skip:
        x = graph.add("Add", "head.sum", x, skip)
    graph.add(ACTIVATIONS[config.activation], OUTPUTS, x)


def _add_linear(graph: GraphBuilder, x: str, name: str, outputs: int, inputs: int) -> str:
    weight = graph.constant(f"{name}.weight", graph.take(f"{name}.weight", outputs, inputs))
    bias = graph.constant(f"{name}.bias", graph.take(f"{name}.bias", outputs))
    return graph.add("Gemm", name, x, weight, bias, transB=1)
