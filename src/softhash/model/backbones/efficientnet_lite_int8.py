"""EfficientNet-Lite in integers of 8 bits, made from its weights alone: no pictures are needed.

How large numbers get is known from the network itself (Nagel et al., "Data-free quantization
through weight equalization and bias correction", ICCV 2019). After ReLU6 they are from 0 to 6.
Elsewhere the bias and the weight of batch normalisation are the mean and the standard deviation of
a channel. There, each channel is also shifted and scaled by numbers of its own, and the next
convolution, which is 1 × 1, undoes that exactly.
"""

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from softhash.model.backbones.efficientnet_lite_onnx import PREFIX, Convolution
from softhash.model.backbones.efficientnet_lite_shape import (
    HEAD,
    SCALES,
    STEM,
    BlockShape,
    block_shapes,
    same_padding,
)
from softhash.model.quantised import Doubles, Quantised, clipped_mean, quantise_layer

if TYPE_CHECKING:
    from softhash.model.graph_builder import GraphBuilder

DEVIATIONS = 5  # from the mean, that 8 bits cover: tried on pictures of three collections
SIX = 6.0  # the bound of ReLU6


def add_int8_efficientnet_lite(
    graph: "GraphBuilder", x: Quantised, output: str, architecture: str, size: int
) -> str:
    """Add the nodes from pictures (n, 3, size, size) to features (n, 1280), which are floats.

    Args:
        graph: where to; it has the weights.
        x: the pictures.
        output: what the features are to be called.
        architecture: one of `SCALES`.
        size: the pictures' side.

    """
    stem = Convolution("_conv_stem", "_bn0", 3, STEM, kernel=3, stride=2)
    x, side = _add_relu6(graph, x, stem, size)
    shapes = block_shapes(*SCALES[architecture])
    factors = _common_factors(graph, shapes)
    for i, shape in enumerate(shapes):
        x, side = _add_block(graph, x, side, f"_blocks.{i}.", shape, factors[i])
    head = Convolution("_conv_head", "_bn1", shapes[-1].width, HEAD)
    x, _ = _add_relu6(graph, x, head, side)
    return graph.add("ReduceMean", output, x.as_floats(graph), axes=[2, 3], keepdims=0)


def _add_block(
    graph: "GraphBuilder", x: Quantised, side: int, name: str, shape: BlockShape, factors: Doubles
) -> tuple[Quantised, int]:
    """Add an inverted residual; return its output and the output's side.

    Args:
        graph: where to.
        x: the input.
        side: of the input.
        name: what the names of its weights begin with.
        shape: of the block.
        factors: of the output's channels (width,).

    """
    inner, y = shape.inner, x
    if shape.expands:
        expand = Convolution(f"{name}_expand_conv", f"{name}_bn0", shape.channels, inner)
        y, side = _add_relu6(graph, y, expand, side)
    depthwise = Convolution(
        f"{name}_depthwise_conv", f"{name}_bn1", inner, inner, shape.kernel, shape.stride, inner
    )
    y, side = _add_relu6(graph, y, depthwise, side)
    y = _add_linear(graph, y, _projection(name, shape), side, factors)
    return (_add_sum(graph, x, y, f"{PREFIX}{name}sum") if shape.skips else y), side


def _projection(name: str, shape: BlockShape) -> Convolution:
    return Convolution(f"{name}_project_conv", f"{name}_bn2", shape.inner, shape.width)


def _add_relu6(
    graph: "GraphBuilder", x: Quantised, layer: Convolution, side: int
) -> tuple[Quantised, int]:
    """Add a convolution and ReLU6, which the smallest and largest of 8 bits do by themselves."""
    mean, deviation = layer.expected(graph)
    ones = np.ones(layer.width)
    clipped = clipped_mean(mean, deviation, SIX)
    y = Quantised(f"{PREFIX}{layer.name}", SIX / 255, 0, ones, 0 * ones, clipped)
    _add_convolution(graph, x, y, layer, side)
    return y, -(-side // layer.stride)


def _add_linear(
    graph: "GraphBuilder", x: Quantised, layer: Convolution, side: int, factors: Doubles
) -> Quantised:
    """Add a convolution of 1 × 1 without an activation."""
    mean, deviation = (values.astype(np.float64) for values in layer.expected(graph))
    scale = _scale(deviation, factors)
    y = Quantised(f"{PREFIX}{layer.name}", scale, 128, factors, mean, mean, deviation)
    _add_convolution(graph, x, y, layer, side)
    return y


def _add_sum(graph: "GraphBuilder", x: Quantised, y: Quantised, name: str) -> Quantised:
    """Add two tensors whose channels have the same factors."""
    deviation = np.hypot(x.deviations, y.deviations)  # as if they were independent
    added = replace(
        y,
        name=name,
        scale=_scale(deviation, y.factors),
        offsets=x.offsets + y.offsets,
        means=x.means + y.means,
        deviations=deviation,
    )
    floats = graph.add("Add", f"{name}.float", x.as_floats(graph), y.as_floats(graph))
    graph.add("QuantizeLinear", name, floats, *added.constants(graph))
    return added


def _scale(deviation: Doubles, factors: Doubles) -> float:
    return float(np.float32(DEVIATIONS * (deviation / factors).max() / 127))


def _common_factors(graph: "GraphBuilder", shapes: list[BlockShape]) -> list[Doubles]:
    """Return the factors of each block's output: blocks that are added to each other share them."""
    deviations = [
        _projection(f"_blocks.{i}.", shape).expected(graph)[1].astype(np.float64)
        for i, shape in enumerate(shapes)
    ]
    starts = [i for i, shape in enumerate(shapes) if not shape.skips]
    factors: list[Doubles] = []
    for start, end in pairwise([*starts, len(shapes)]):
        together = np.sqrt(np.square(deviations[start:end]).sum(axis=0))
        floor = max(1e-3 * together.max(), 1e-6)  # for channels that are always the same
        factors += [np.maximum(together, floor)] * (end - start)
    return factors


def _add_convolution(
    graph: "GraphBuilder", x: Quantised, y: Quantised, layer: Convolution, side: int
) -> None:
    """Add a convolution from x to y.

    Args:
        graph: where to.
        x: the input.
        y: the output.
        layer: the convolution, with its normalisation.
        side: of the input.

    """
    weight, scales, bias = quantise_layer(*layer.folded(graph), x, y, depthwise=layer.groups > 1)
    before, after = same_padding(side, layer.kernel, layer.stride)
    graph.add(
        "QLinearConv",
        y.name,
        x.name,
        *x.constants(graph),
        graph.constant(f"{y.name}.weight", weight),
        graph.constant(f"{y.name}.scales", scales),
        graph.constant(f"{y.name}.zeros", np.zeros(len(scales), np.int8)),
        *y.constants(graph),
        graph.constant(f"{y.name}.bias", bias),
        group=layer.groups,
        kernel_shape=[layer.kernel] * 2,
        pads=[before, before, after, after],
        strides=[layer.stride] * 2,
    )
