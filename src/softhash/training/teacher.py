"""A teacher for fine-tuning: the same network, trained on the same pictures upsampled.

Larger pictures make better codes, but cost more at every use of the model. A third to a half of the
gain can be had in training alone. A copy of the network is fine-tuned first, on pictures upsampled
by `teacher_zoom`. Then the network itself is trained at its own size, by the method's loss and

    w · D / D₀,    D = mean over features of ((φ(x) − φ′(x upsampled)) / σ)²,

where x is an augmented picture, φ are the network's features, φ′ the teacher's, σ their standard
deviations over the train set, and D₀ is D of the train set before training: the distance between
sizes differs much from collection to collection. w = 0.07 was chosen on held-out halves of
VOC2012's train set (docs/why/method-appendix.md).
"""

from copy import deepcopy
from typing import cast

import torch
from torch import Tensor, nn

from softhash.errors import UsageError
from softhash.model.network import HashNetwork

WEIGHT = 0.07
MIN_RELATIVE_STD = 0.25  # of the mean: features that hardly vary do not dominate D
EPSILON = 1e-6


def with_upsampling(network: HashNetwork, zoom: float) -> HashNetwork:
    """Copy a network, and let the copy upsample its pictures by a factor."""
    copy = deepcopy(network)
    larger = nn.Upsample(scale_factor=zoom, mode="bicubic")
    copy.backbone = nn.Sequential(larger, cast(nn.Module, copy.backbone))
    return copy


def check_upsampling(network: HashNetwork, pixels: Tensor, backbone: str) -> None:
    """Raise where the backbone takes pictures of one size only.

    Args:
        network: made by `with_upsampling`.
        pixels: one picture or two (n, h, w, 3).
        backbone: its name, for the error.

    """
    try:
        with torch.no_grad():
            network.eval().features(pixels)
    except (AssertionError, RuntimeError, ValueError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise UsageError(
            f"{backbone} does not take upsampled pictures ({why})",
            "use a recipe with teacher_zoom = 0 to fine-tune it without a teacher",
        ) from None


class Teacher:
    """A trained network whose features the student learns.

    Args:
        network: the teacher; it is frozen here.
        features: the teacher's, of the train set (n, d).
        student_features: the student's, before training.

    """

    def __init__(self, network: HashNetwork, features: Tensor, student_features: Tensor) -> None:
        self._network = network.requires_grad_(False).eval()
        std = features.std(dim=0, correction=0)
        self._scale = std.clamp_min(MIN_RELATIVE_STD * std.mean()).clamp_min(EPSILON)
        self._start = self._distance(student_features, features).clamp_min(EPSILON)

    def loss(self, features: Tensor, pixels: Tensor) -> Tensor:
        """Return w · D / D₀ of the student's features (n, d) of pictures (n, h, w, 3)."""
        with torch.no_grad():
            target = self._network.features(pixels)
        return WEIGHT * self._distance(features, target) / self._start

    def _distance(self, features: Tensor, target: Tensor) -> Tensor:
        return ((features - target) / self._scale).square().mean()
