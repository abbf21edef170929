"""Tensors of a graph in 8 bits, and the weights of a layer between two of them."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from softhash.model.graph_builder import GraphBuilder

Doubles = NDArray[np.float64]

MOST = 127  # of a weight; −128 is not used
MAX_BIAS = 1 << 30  # in steps of 32 bits
EMPTY = 1e-12  # the largest weight of a channel that has none


@dataclass(frozen=True, eq=False)
class Quantised:
    """A tensor of a graph, as uint8: channel c is factors[c]·scale·(q − zero) + offsets[c].

    Attributes:
        name: of the tensor.
        scale: the step between neighbouring numbers.
        zero: the number that stands for 0.
        factors: of the channels (c,), on top of the scale.
        offsets: of the channels (c,); 0 where the tensor is padded.
        means: expected mean of the channels (c,).
        deviations: their expected standard deviations (c,), where they are needed.

    """

    name: str
    scale: float
    zero: int
    factors: Doubles
    offsets: Doubles
    means: Doubles
    deviations: Doubles = field(default_factory=lambda: np.empty(0))

    def constants(self, graph: "GraphBuilder") -> tuple[str, str]:
        """Add scale and zero to a graph, and return their names."""
        scale = graph.constant(f"{self.name}.scale", np.array(self.scale, np.float32))
        return scale, graph.constant(f"{self.name}.zero", np.array(self.zero, np.uint8))

    def as_floats(self, graph: "GraphBuilder") -> str:
        """Add a node that makes floats of it, without factors and offsets; return its name."""
        name = f"{self.name}.floats"
        if not graph.has(name):
            graph.add("DequantizeLinear", name, self.name, *self.constants(graph))
        return name


def quantise_layer(
    weight: NDArray[Any], bias: NDArray[Any], x: Quantised, y: Quantised, *, depthwise: bool
) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.int32]]:
    """Quantise a convolution between two tensors, each output channel with a scale of its own.

    The bias makes up for what rounding the weights does to the mean of each output.

    Args:
        weight: (out, in, k, k), or (out, 1, k, k) of one that takes each channel by itself.
        bias: (out,).
        x: the input.
        y: the output.
        depthwise: whether each channel is convolved by itself.

    Returns:
        Weights, the scale of each output channel, and the bias in steps of 32 bits.

    """
    factors, offsets, means = x.factors, x.offsets, x.means
    wide = (-1, 1, 1, 1) if depthwise else (1, -1, 1, 1)
    whole = weight.astype(np.float64)
    shift = (whole * offsets.reshape(wide)).sum(axis=(1, 2, 3))
    target = whole * factors.reshape(wide) / y.factors[:, None, None, None]
    moved = (bias + shift - y.offsets) / y.factors
    flat = target.reshape(len(target), -1)
    scales = np.abs(flat).max(axis=1, initial=EMPTY) / MOST
    scales = np.maximum(scales, np.abs(moved) / (x.scale * MAX_BIAS)).astype(np.float32)
    steps = flat / scales[:, None]
    rounded = keep_sums(steps) if weight.shape[-1] > 1 else np.round(steps)
    expected = ((means - offsets) / factors).reshape(wide)
    wrong = (rounded * scales[:, None] - flat).reshape(target.shape)
    moved = moved - (wrong * expected).sum(axis=(1, 2, 3))
    whole_bias = np.round(moved / (np.float64(x.scale) * scales))
    return rounded.reshape(weight.shape).astype(np.int8), scales, whole_bias.astype(np.int32)


def keep_sums(steps: Doubles) -> Doubles:
    """Round so that each row's sum stays as near as it can: neighbouring pixels are much alike.

    Those numbers go the other way whose rounding was least clear.

    >>> keep_sums(np.array([[0.4, 0.3, 0.4, 2.0], [-1.6, 3.6, 3.7, 0.0]]))
    array([[ 1.,  0.,  0.,  2.],
           [-2.,  4.,  4.,  0.]])

    """
    rounded = np.round(steps)
    errors = rounded - steps
    excess = np.round(errors.sum(axis=1, keepdims=True))
    order = np.argsort(-errors * np.sign(excess), axis=1, kind="stable")
    ranks = np.argsort(order, axis=1, kind="stable")
    kept: Doubles = rounded - np.sign(excess) * (ranks < np.abs(excess))
    return kept


def clipped_mean(mean: NDArray[Any], deviation: NDArray[Any], most: float) -> Doubles:
    """Return the mean of normal distributions whose numbers are clipped to 0 … most.

    >>> clipped_mean(np.array([3.0, -9.0, 20.0, 0.0]), np.array([2.0, 1.0, 1.0, 1.0]), 6.0).round(3)
    array([3.   , 0.   , 6.   , 0.399])

    """
    mean, deviation = mean.astype(np.float64), np.maximum(deviation.astype(np.float64), 1e-6)
    low, high = -mean / deviation, (most - mean) / deviation
    below, above = _normal_share(low), 1 - _normal_share(high)
    inside = mean * (1 - below - above) + deviation * (_density(low) - _density(high))
    result: Doubles = inside + most * above
    return result


def _normal_share(z: Doubles) -> Doubles:
    return np.array([0.5 * (1 + math.erf(value / math.sqrt(2))) for value in z])


def _density(z: Doubles) -> Doubles:
    density: Doubles = np.exp(-np.square(z) / 2) / math.sqrt(2 * math.pi)
    return density
