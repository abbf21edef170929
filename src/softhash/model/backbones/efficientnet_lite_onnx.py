"""EfficientNet-Lite as nodes of an ONNX graph, batch normalisation folded into convolutions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from softhash.model.backbones.efficientnet_lite_shape import (
    EPSILON,
    HEAD,
    SCALES,
    STEM,
    BlockShape,
    block_shapes,
    same_padding,
)

if TYPE_CHECKING:
    from softhash.model.graph_builder import GraphBuilder

Floats = NDArray[np.float32]

PREFIX = "backbone."  # of its parameters in a network


def add_efficientnet_lite(
    graph: "GraphBuilder", x: str, output: str, architecture: str, size: int
) -> str:
    """Add the nodes from normalised pictures (n, 3, size, size) to features (n, 1280).

    Args:
        graph: where to; it has the weights.
        x: the name of the pictures.
        output: what the features are to be called.
        architecture: one of `SCALES`.
        size: the pictures' side.

    """
    for bound, value in (("zero", 0), ("six", 6)):
        graph.constant(bound, np.array(value, np.float32))
    stem = Convolution("_conv_stem", "_bn0", 3, STEM, kernel=3, stride=2)
    x, side = stem.add(graph, x, size, relu6=True)
    shapes = block_shapes(*SCALES[architecture])
    for i, shape in enumerate(shapes):
        x, side = _add_block(graph, x, side, f"_blocks.{i}.", shape)
    head = Convolution("_conv_head", "_bn1", shapes[-1].width, HEAD)
    x, _ = head.add(graph, x, side, relu6=True)
    return graph.add("ReduceMean", output, x, axes=[2, 3], keepdims=0)


def _add_block(
    graph: "GraphBuilder", x: str, side: int, name: str, shape: BlockShape
) -> tuple[str, int]:
    """Add an inverted residual; return the name of its output and the output's side."""
    inner, y = shape.inner, x
    if shape.expands:
        expand = Convolution(f"{name}_expand_conv", f"{name}_bn0", shape.channels, inner)
        y, side = expand.add(graph, y, side, relu6=True)
    depthwise = Convolution(
        f"{name}_depthwise_conv", f"{name}_bn1", inner, inner, shape.kernel, shape.stride, inner
    )
    y, side = depthwise.add(graph, y, side, relu6=True)
    project = Convolution(f"{name}_project_conv", f"{name}_bn2", inner, shape.width)
    y, side = project.add(graph, y, side, relu6=False)
    return (graph.add("Add", f"{PREFIX}{name}sum", x, y) if shape.skips else y), side


@dataclass(frozen=True)
class Convolution:
    """A convolution with "SAME" padding and the normalisation that follows it."""

    name: str
    norm: str
    channels: int
    width: int
    kernel: int = 1
    stride: int = 1
    groups: int = 1

    def add(self, graph: "GraphBuilder", x: str, side: int, *, relu6: bool) -> tuple[str, int]:
        """Add the nodes; return the name of their output and the output's side."""
        name = f"{PREFIX}{self.name}"
        weight, bias = self.folded(graph)
        before, after = same_padding(side, self.kernel, self.stride)
        y = graph.add(
            "Conv",
            name,
            x,
            graph.constant(f"{name}.weight", weight),
            graph.constant(f"{name}.bias", bias),
            group=self.groups,
            kernel_shape=[self.kernel] * 2,
            pads=[before, before, after, after],
            strides=[self.stride] * 2,
        )
        if relu6:
            y = graph.add("Clip", f"{name}.relu6", y, "zero", "six")
        return y, -(-side // self.stride)

    def folded(self, graph: "GraphBuilder") -> tuple[Floats, Floats]:
        """Scale and shift the weights by the normalisation's fixed statistics."""
        shape = self.width, self.channels // self.groups, self.kernel, self.kernel
        weight = graph.take(f"{PREFIX}{self.name}.weight", *shape)
        scale, bias, mean, var = (
            graph.take(f"{PREFIX}{self.norm}.{part}", self.width)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        scale = scale * (1 / np.sqrt(var + np.float32(EPSILON)))
        return weight * scale[:, None, None, None], bias - mean * scale

    def expected(self, graph: "GraphBuilder") -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each channel, as its normalisation makes them."""
        mean, deviation = (
            graph.take(f"{PREFIX}{self.norm}.{part}", self.width) for part in ("bias", "weight")
        )
        return mean, np.abs(deviation)
