"""VGG-19 up to its second fully connected layer.

Simonyan and Zisserman, Very deep convolutional networks for large-scale image recognition, 2015:
configuration E, without batch normalisation.
"""

from typing import ClassVar

from torch import Tensor, nn

from softhash.model.backbones.initialisation import initialise

_STAGES = ((2, 64), (2, 128), (4, 256), (4, 512), (4, 512))  # 3×3 convolutions, channels


class VGG19(nn.Module):
    """Picture (n, 3, side, side) → the 4,096 features of fc7, after ReLU and dropout.

    Parameters have torchvision's names.
    """

    left_out: ClassVar[tuple[str, ...]] = ("classifier.6.",)  # fc8, which the hash layer replaces

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(*_convolutions())
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))  # changes nothing at 224 to 255 pixels
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(0.5),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(0.5),
        )
        self.apply(initialise)

    def forward(self, x: Tensor) -> Tensor:
        """Compute the features of normalised pictures."""
        features: Tensor = self.classifier(self.avgpool(self.features(x)).flatten(1))
        return features


def _convolutions() -> list[nn.Module]:
    layers: list[nn.Module] = []
    channels = 3
    for repeats, width in _STAGES:
        for _ in range(repeats):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(inplace=True)]
            channels = width
        layers.append(nn.MaxPool2d(2, 2))
    return layers
