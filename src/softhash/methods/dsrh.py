"""DSRH draft."""

import torch
from torch import Tensor

from softhash.functional import shared_labels
from softhash.methods._base import Method
from softhash.methods._triplets import differences, ranked_triplets


class DSRH(Method):
    """Triplet hinge weighted by what a swap costs in NDCG, with balanced bits."""

    activation = "tanh"

    def __init__(
        self, bits: int, classes: int, *, margin: float | None = None, alpha: float = 0.01
    ) -> None:
        super().__init__(bits, classes)
        self.margin = 5 * bits / 64 if margin is None else margin
        self.alpha = alpha

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Sum ω·[½(u·u_j − u·u_i) + ρ]₊ of each query, on average, plus α/2·‖mean u‖²."""
        hinge = (self.margin - differences(u @ u.T / 2)).clamp_min(0)
        ranking = (triplet_weights(labels).to(u.dtype) * hinge).sum(dim=(1, 2)).mean()
        balance = u.mean(dim=0).square().sum()
        return ranking / max(len(u) - 1, 1) + self.alpha / 2 * balance


def triplet_weights(labels: Tensor) -> Tensor:
    """ω = (2^r_i − 2^r_j)/Z of (query, i, j) where r_i > r_j, 0 elsewhere."""
    gain = torch.exp2(shared_labels(labels)) - 1
    gain = gain.fill_diagonal_(0)
    ranks = torch.arange(1, len(labels) + 1, device=labels.device)
    best = gain.sort(dim=1, descending=True).values / torch.log2(1 + ranks)
    z = best.sum(dim=1).clamp(min=1)
    return differences(gain) * ranked_triplets(labels) / z[:, None, None]


METHODS = {"dsrh": DSRH}
