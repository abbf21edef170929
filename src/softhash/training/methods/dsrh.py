"""DSRH: triplet hinge, weighted by what a swap costs in NDCG.

Zhao, Huang, Wang, Tan, "Deep Semantic Ranking Based Hashing for Multi-Label Image Retrieval", 2015.

C = mean over queries of 1/(n − 1) · Σ_ij ω_ij·[½(u·u_j − u·u_i) + ρ]₊ + α/2 · ‖mean u‖², over i, j
with r_i > r_j shared labels; ½(u·u_j − u·u_i) is the difference of Hamming distances for binary u,
ω_ij = (2^r_i − 2^r_j)/Z, and Z is the DCG of the best order, so that the sum is a surrogate for
what the ranking lacks in NDCG. u = 2σ(x) − 1 is tanh(x/2).

Settings: the authors' code has ρ = 5 at 64 bits, so ρ = 5q/64, and α = 1 against a sum over the
triplets of a batch, about 0.01 of our mean over queries of 128; ρ = q/4 and α = 1 did worse on a
validation part of VOC2012's train set. Their weight decay is the recipe's.

What differs: the authors draw lists of two or three pictures, one for each level of similarity, and
repeat queries of rare classes; here the list is the rest of the batch, its length n − 1 divides the
sum, and all triplets count. Their hash layer also sees the layer before the last; ours does not.

Checked against float64 numpy loops, and gradients by finite differences.
"""

import torch
from torch import Tensor

from softhash.training.methods._triplets import hinge, triplet_sums
from softhash.training.methods.losses import shared_labels
from softhash.training.methods.method import Line, Method


class DSRH(Method):
    """Triplet hinge weighted by what a swap costs in NDCG, with a term that balances bits."""

    name, title, order = "dsrh", "DSRH", 270
    line = Line("#e69f00", "--", "d")
    activation = "tanh"

    def __init__(
        self, bits: int, classes: int, *, rho: float | None = None, alpha: float = 0.01
    ) -> None:
        super().__init__(bits, classes)
        self.rho = 5 * bits / 64 if rho is None else rho
        self.alpha = alpha

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """C = ranking + α/2 · ‖mean u‖²."""
        gains = (torch.exp2(shared_labels(labels)) - 1).fill_diagonal_(0)
        swaps, _ = triplet_sums(hinge(self.rho), -u @ u.T / 2, labels, gains)
        ranking = (swaps / best_dcg(gains).clamp(min=1)).mean() / max(len(u) - 1, 1)
        return ranking + self.alpha / 2 * u.mean(dim=0).square().sum()


def best_dcg(gains: Tensor) -> Tensor:
    """Return the DCG of the best order of each row, Z.

    >>> best_dcg(torch.tensor([[0.0, 1.0, 3.0]]))
    tensor([3.6309])
    """
    ranks = torch.arange(1, gains.shape[1] + 1, device=gains.device)
    return gains.sort(dim=1, descending=True).values @ (1 / torch.log2(1 + ranks))
