"""AlexNet up to its seventh layer.

Krizhevsky, One weird trick for parallelizing convolutional neural networks, 2014: the variant of
AlexNet (Krizhevsky et al. 2012) on one device and without response normalisation, whose weights
torchvision publishes.
"""

from typing import ClassVar

from torch import Tensor, nn

from softhash.model.backbones.initialisation import initialise


class AlexNet(nn.Module):
    """Picture (n, 3, side, side) → the 4,096 features of fc7, after ReLU.

    Parameters have torchvision's names. Dropout stands after fc6 and fc7 as in the paper of 2012;
    torchvision has it before fc6 and fc7, which evaluation does not see.
    """

    left_out: ClassVar[tuple[str, ...]] = ("classifier.6.",)  # fc8, which the hash layer replaces

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 11, stride=4, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, 5, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 384, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(384, 256, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(256, 256, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2),
        )
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))  # changes nothing at 224 and 227 pixels
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Linear(256 * 6 * 6, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(0.5),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(0.5),
        )
        self.apply(initialise)

    def forward(self, x: Tensor) -> Tensor:
        """Compute the features of normalised pictures."""
        features: Tensor = self.classifier(self.avgpool(self.features(x)))
        return features
