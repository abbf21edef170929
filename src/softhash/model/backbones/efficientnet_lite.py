"""EfficientNet-Lite 0, 1 and 2, up to the average pool.

Tan and Le, EfficientNet: rethinking model scaling for convolutional neural networks, 2019, in the
variant for edge devices: no squeeze-and-excitation, ReLU6 for swish, and stem, head, first and last
stage that do not grow.
"""

from importlib.util import find_spec
from typing import ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from softhash.model.backbones.efficientnet_lite_shape import (
    EPSILON,
    HEAD,
    STEM,
    BlockShape,
    block_shapes,
    same_padding,
)
from softhash.model.backbones.initialisation import initialise


class SameConv2d(nn.Conv2d):
    """A convolution without bias, padded as TensorFlow's "SAME" for any input size."""

    def __init__(
        self, channels: int, width: int, kernel: int, stride: int = 1, groups: int = 1
    ) -> None:
        # At stride 1 an odd kernel is padded alike on all sides, whatever the input's size.
        padding = kernel // 2 if stride == 1 else 0
        super().__init__(channels, width, kernel, stride, padding, groups=groups, bias=False)

    def forward(self, input: Tensor) -> Tensor:
        """Pad by what the input's size asks for, and convolve."""
        return super().forward(self.padded(input))

    def padded(self, input: Tensor) -> Tensor:
        """Pad by what the input's size asks for."""
        kernel, stride = self.kernel_size[0], self.stride[0]
        if stride == 1:
            return input
        # Plain integers: a traced graph then has constant padding.
        top, bottom = same_padding(int(input.shape[2]), kernel, stride)
        left, right = same_padding(int(input.shape[3]), kernel, stride)
        return functional.pad(input, (left, right, top, bottom))

    def normalised(self, input: Tensor, norm: nn.BatchNorm2d) -> Tensor:
        """Convolve and normalise; with fixed statistics, by one convolution with scaled weights.

        The gradients are the same, and batch normalisation's own backward pass, which takes longer
        than the convolutions of this network, is gone.
        """
        if norm.training or norm.running_var is None or norm.running_mean is None:
            return cast(Tensor, norm(self(input)))
        scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
        weight = self.weight * scale[:, None, None, None]
        bias = norm.bias - norm.running_mean * scale
        return cast(Tensor, self._conv_forward(self.padded(input), weight, bias))


class Block(nn.Module):
    """An inverted residual: expand, convolve each channel by itself, project."""

    def __init__(self, shape: BlockShape) -> None:
        super().__init__()
        inner = shape.inner
        self.expands, self.skips = shape.expands, shape.skips
        if self.expands:
            self._expand_conv = SameConv2d(shape.channels, inner, 1)
            self._bn0 = _norm(inner)
        self._depthwise_conv = SameConv2d(inner, inner, shape.kernel, shape.stride, groups=inner)
        self._bn1 = _norm(inner)
        self._project_conv = SameConv2d(inner, shape.width, 1)
        self._bn2 = _norm(shape.width)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block, and add its input where the shapes agree."""
        y: Tensor = x
        if self.expands:
            y = functional.relu6(self._expand_conv.normalised(y, self._bn0), inplace=True)
        y = functional.relu6(self._depthwise_conv.normalised(y, self._bn1), inplace=True)
        y = self._project_conv.normalised(y, self._bn2)
        return x + y if self.skips else y


class EfficientNetLite(nn.Module):
    """Picture (n, 3, side, side) → 1,280 features.

    Parameters have the names of the published files. Of the original training, drop-connect and
    the dropout before the classifier are left out.
    """

    left_out: ClassVar[tuple[str, ...]] = ("_fc.",)

    def __init__(self, width: float = 1.0, depth: float = 1.0) -> None:
        super().__init__()
        shapes = block_shapes(width, depth)
        self._conv_stem = SameConv2d(3, STEM, 3, stride=2)
        self._bn0 = _norm(STEM)
        self._blocks = nn.Sequential(*map(Block, shapes))
        self._conv_head = SameConv2d(shapes[-1].width, HEAD, 1)
        self._bn1 = _norm(HEAD)
        self.apply(initialise)

    def forward(self, x: Tensor) -> Tensor:
        """Compute the features of normalised pictures."""
        if _fuses(self, x):
            from softhash.model.backbones import _cuda_ends

            return _cuda_ends.features(self, x, torch.get_autocast_dtype("cuda"))
        x = functional.relu6(self._conv_stem.normalised(x, self._bn0), inplace=True)
        x = self._blocks(x)
        x = functional.relu6(self._conv_head.normalised(x, self._bn1), inplace=True)
        return x.mean((2, 3))


def _fuses(network: nn.Module, x: Tensor) -> bool:
    """Whether the kernels for fixed normalisation in half precision on a GPU can do the work."""
    return (
        x.is_cuda
        and torch.is_autocast_enabled("cuda")
        and torch.get_autocast_dtype("cuda") == torch.bfloat16
        and not x.requires_grad
        and not any(m.training for m in network.modules() if isinstance(m, nn.BatchNorm2d))
        and find_spec("triton") is not None
    )


def _norm(channels: int) -> nn.BatchNorm2d:
    """Batch normalisation with TensorFlow's constants; its momentum of 0.99 is torch's 0.01."""
    return nn.BatchNorm2d(channels, eps=EPSILON, momentum=0.01)
