"""GoogLeNet with batch normalisation, up to the average pool.

Szegedy et al., Going deeper with convolutions, 2015, with the batch normalisation of Ioffe and
Szegedy 2015. The published weights have 3×3 kernels where the paper has 5×5, and so has this.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from softhash.model.backbones.initialisation import initialise


class ConvUnit(nn.Module):
    """A convolution, batch normalisation and ReLU."""

    def __init__(
        self, channels: int, width: int, kernel: int, stride: int = 1, padding: int = 0
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, width, kernel, stride, padding, bias=False)
        self.bn = nn.BatchNorm2d(width, eps=1e-3)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the three in turn."""
        return torch.relu_(self.bn(self.conv(x)))


class Inception(nn.Module):
    """Four branches side by side: 1×1, two of 3×3 behind a reduction, and a pool.

    `widths` are the paper's columns: #1×1, #3×3 reduce, #3×3, #5×5 reduce, #5×5, pool proj.
    """

    def __init__(self, channels: int, widths: tuple[int, int, int, int, int, int]) -> None:
        super().__init__()
        one, reduce_three, three, reduce_five, five, pool = widths
        self.branch1 = ConvUnit(channels, one, 1)
        self.branch2 = nn.Sequential(
            ConvUnit(channels, reduce_three, 1), ConvUnit(reduce_three, three, 3, padding=1)
        )
        self.branch3 = nn.Sequential(
            ConvUnit(channels, reduce_five, 1), ConvUnit(reduce_five, five, 3, padding=1)
        )
        self.branch4 = nn.Sequential(
            nn.MaxPool2d(3, 1, padding=1, ceil_mode=True), ConvUnit(channels, pool, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Concatenate what the branches make of `x`."""
        return torch.cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class GoogLeNet(nn.Module):
    """Picture (n, 3, side, side) → 1,024 features.

    Parameters have torchvision's names. The auxiliary classifiers are left out, and so is
    torchvision's `transform_input`: the backbone's spec gives the mean and std that the published
    weights were trained with.
    """

    left_out: ClassVar[tuple[str, ...]] = ("fc.", "aux1.", "aux2.")

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = ConvUnit(3, 64, 7, 2, 3)
        self.maxpool1 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv2 = ConvUnit(64, 64, 1)
        self.conv3 = ConvUnit(64, 192, 3, padding=1)
        self.maxpool2 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.inception3a = Inception(192, (64, 96, 128, 16, 32, 32))
        self.inception3b = Inception(256, (128, 128, 192, 32, 96, 64))
        self.maxpool3 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.inception4a = Inception(480, (192, 96, 208, 16, 48, 64))
        self.inception4b = Inception(512, (160, 112, 224, 24, 64, 64))
        self.inception4c = Inception(512, (128, 128, 256, 24, 64, 64))
        self.inception4d = Inception(512, (112, 144, 288, 32, 64, 64))
        self.inception4e = Inception(528, (256, 160, 320, 32, 128, 128))
        self.maxpool4 = nn.MaxPool2d(2, 2, ceil_mode=True)
        self.inception5a = Inception(832, (256, 160, 320, 32, 128, 128))
        self.inception5b = Inception(832, (384, 192, 384, 48, 128, 128))
        self.apply(initialise)

    def forward(self, x: Tensor) -> Tensor:
        """Compute the features of normalised pictures."""
        for layer in self.children():  # in the order of their definition
            x = layer(x)
        return x.mean((2, 3))
