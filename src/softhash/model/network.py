"""Backbone and head as one torch module, from plain pictures to u."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from softhash.model.heads import Head

if TYPE_CHECKING:
    from softhash.model.backbones import BackboneSpec


class HashNetwork(nn.Module):
    """Pictures, uint8 of shape (n, height, width, 3), to u of shape (n, bits).

    What the backbone's weights expect of pixels happens inside, so that it is part of the exported
    graph. Without a backbone the inputs are features of shape (n, d).

    Args:
        spec: the backbone's mean and std, of pixel values of 0 to 255; None without a backbone.
        backbone: a module from normalised (n, 3, height, width) to (n, features), or None.
        head: a module from features to u.

    """

    mean: Tensor
    std: Tensor

    def __init__(self, spec: "BackboneSpec | None", backbone: nn.Module | None, head: Head) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = head
        shape = (1, 3, 1, 1)
        # Constants of the backbone, not learned: they are in the config, not in the weights.
        mean, std = (spec.mean, spec.std) if spec else ((0.0,) * 3, (1.0,) * 3)
        self.register_buffer("mean", torch.tensor(mean).view(shape), persistent=False)
        self.register_buffer("std", torch.tensor(std).view(shape), persistent=False)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map pictures (or features, where there is no backbone) to u."""
        return self.both(inputs)[0]

    def features(self, pixels: Tensor) -> Tensor:
        """Map pictures to the backbone's features (n, d), in float32."""
        if self.backbone is None:
            return pixels.float()
        # A view of channels-last pictures as (n, 3, h, w) is in torch's channels_last format.
        normalised = (pixels.permute(0, 3, 1, 2).float() - self.mean) / self.std
        features: Tensor = self.backbone(normalised)
        return features.float()

    def both(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return u and the features it was made of, in one pass."""
        features = self.features(inputs)
        # The head is small, and its signs are the code: it keeps full precision under autocast.
        with torch.autocast(features.device.type, enabled=False):
            return self.head(features), features
