"""The layers of EfficientNet-Lite as numbers: what the torch module and the ONNX graph share."""

import math
from dataclasses import dataclass

SCALES = {  # width, depth
    "efficientnet_lite0": (1.0, 1.0),
    "efficientnet_lite1": (1.0, 1.1),
    "efficientnet_lite2": (1.1, 1.2),
}
STEM, HEAD = 32, 1280  # channels after the first convolution, and after the last
EPSILON = 1e-3  # of batch normalisation
_STAGES = (  # repeats, kernel, stride, expansion, width
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)


@dataclass(frozen=True)
class BlockShape:
    """An inverted residual: expand, convolve each channel by itself, project.

    Attributes:
        channels: of the input.
        width: channels of the output.
        kernel, stride: of the convolution in the middle.
        expansion: how many times the channels of the input the middle has.

    """

    channels: int
    width: int
    kernel: int
    stride: int
    expansion: int

    @property
    def inner(self) -> int:
        """Channels of the middle."""
        return self.channels * self.expansion

    @property
    def expands(self) -> bool:
        """Whether a convolution makes the middle wider than the input."""
        return self.expansion != 1

    @property
    def skips(self) -> bool:
        """Whether the input is added to the output."""
        return self.stride == 1 and self.channels == self.width


def block_shapes(width: float, depth: float) -> list[BlockShape]:
    """List the blocks of a network; its first and its last stage do not grow with depth.

    >>> len(block_shapes(*SCALES["efficientnet_lite0"])), block_shapes(1.1, 1.2)[-1].width
    (16, 352)
    """
    blocks: list[BlockShape] = []
    channels = STEM
    for stage, (repeats, kernel, stride, expansion, base) in enumerate(_STAGES):
        grows = 0 < stage < len(_STAGES) - 1
        scaled = _scaled_width(base, width)
        for i in range(math.ceil(repeats * depth) if grows else repeats):
            step = stride if i == 0 else 1
            blocks.append(BlockShape(channels, scaled, kernel, step, expansion))
            channels = scaled
    return blocks


def same_padding(side: int, kernel: int, stride: int) -> tuple[int, int]:
    """Zeros before and after a side, as TensorFlow's "SAME" has them: the odd one comes after.

    >>> same_padding(224, kernel=3, stride=2), same_padding(227, kernel=3, stride=2)
    ((0, 1), (1, 1))
    """
    outputs = -(-side // stride)
    zeros = max((outputs - 1) * stride + kernel - side, 0)
    return zeros // 2, zeros - zeros // 2


def _scaled_width(channels: int, factor: float) -> int:
    """Scale to the nearest multiple of 8, but never down by more than a tenth."""
    scaled = channels * factor
    rounded = max(8, int(scaled + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * scaled else rounded
