"""A teacher for fine-tuning: the same network, trained on the same pictures enlarged.

Networks that were trained on crops know things larger than they are in whole pictures, so larger
pictures make better codes; but each of them then takes longer, for as long as the model is used.
A third to a half of what they bring can be had for training alone. A copy of the network is
fine-tuned first, on enlarged pictures. Then the network itself is, at its own size, by the method's
loss and

    w · D / D₀,    D = mean over features of ((φ(x) − φ′(x enlarged)) / σ)²,

where x is a picture as augmentation made it, φ are the network's features, φ′ the teacher's, σ
their standard deviations over the train set, and D₀ is D of the train set before training: how far
sizes are apart differs much between collections. w = 0.07; on held-out halves of VOC2012's train
set D was about 0.7 before training, so that this is a weight of 0.1 for D, which was chosen there
(docs/method.md).
"""

from copy import deepcopy
from typing import cast

import torch
from torch import Tensor, nn

from softhash.errors import UsageError
from softhash.network import HashNetwork

WEIGHT = 0.07
FLOOR = 0.25  # of the mean deviation: a feature that hardly ever speaks is not to be listened to
TINY = 1e-6


def enlarging(network: HashNetwork, closer: float) -> HashNetwork:
    """Copy a network, and let the copy enlarge the pictures that it gets so many times."""
    copy = deepcopy(network)
    larger = nn.Upsample(scale_factor=closer, mode="bicubic")
    copy.backbone = nn.Sequential(larger, cast(nn.Module, copy.backbone))
    return copy


def check_enlarging(network: HashNetwork, pixels: Tensor, backbone: str) -> None:
    """Raise where a backbone takes pictures of one size only; pixels are a picture or two."""
    try:
        with torch.no_grad():
            network.eval().features(pixels)
    except (AssertionError, RuntimeError, ValueError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise UsageError(
            f"{backbone} takes no enlarged pictures ({why}); "
            "use a recipe with closer = 0 to fine-tune it without a teacher"
        ) from None


class Teacher:
    """A trained network that says which features a picture should have.

    Args:
        network: it is frozen here.
        features: the network's own, of the train set (n, d).
        pupils: those of the network that is to learn them, before it does.

    """

    def __init__(self, network: HashNetwork, features: Tensor, pupils: Tensor) -> None:
        self._network = network.requires_grad_(False).eval()
        std = features.std(dim=0, correction=0)
        self._scale = std.clamp_min(FLOOR * std.mean()).clamp_min(TINY)
        self._start = self._distance(pupils, features).clamp_min(TINY)

    def loss(self, features: Tensor, pixels: Tensor) -> Tensor:
        """Return how far features (n, d) of pictures (n, h, w, 3) are from the teacher's."""
        with torch.no_grad():
            wanted = self._network.features(pixels)
        return WEIGHT * self._distance(features, wanted) / self._start

    def _distance(self, features: Tensor, wanted: Tensor) -> Tensor:
        return ((features - wanted) / self._scale).square().mean()
