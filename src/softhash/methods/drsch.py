"""DRSCH draft."""

import torch
from torch import Tensor, nn

from softhash.functional import label_overlap, squared_distances
from softhash.methods._base import Method
from softhash.methods._triplets import anchor_mean, differences, ranked_triplets


class DRSCH(Method):
    """Triplet hinge on weighted bits, with a Laplacian that draws pictures that share a label."""

    activation = "tanh"

    def __init__(
        self, bits: int, classes: int, *, margin: float | None = None, lambda_: float = 0.01, norm: bool = True
    ) -> None:
        super().__init__(bits, classes)
        self.margin = bits / 2 if margin is None else margin
        self.lambda_ = lambda_
        self.norm = norm
        self.weights = nn.Parameter(torch.ones(bits))

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """[m + ‖v_a − v_p‖² − ‖v_a − v_n‖²]₊ averaged over triplets, plus λ·tr(VᵀLV)/n²."""
        w = self.weights
        if self.norm:
            w = w / w.square().mean().sqrt()
        distance = squared_distances(w * (u + 1) / 2)
        hinge = (self.margin + differences(distance)).clamp_min(0)
        laplacian = (label_overlap(labels) * distance).mean() / 2
        return anchor_mean(hinge, ranked_triplets(labels)) + self.lambda_ * laplacian


METHODS = {"drsch": DRSCH}
