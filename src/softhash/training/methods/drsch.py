"""DRSCH, which the IDHN paper writes DSRCH: triplet hinge on weighted bits, with a Laplacian.

Zhang, Lin, Zhang, Zuo, Zhang, "Bit-Scalable Deep Hashing with Regularized Similarity Learning for
Image Retrieval and Person Re-Identification", 2015.

C = mean over triplets of [m + ‖v_a − v_p‖² − ‖v_a − v_n‖²]₊ + λ · tr(VᵀLV)/n², with v = w·σ, σ in
(0, 1) and a learned weight w for each bit; L = D − S, so that tr(VᵀLV) = ½ Σ S_ij ‖v_i − v_j‖².

Settings: the authors' code has m = 5 at 64 bits, so m = 5q/64, and weights that start at 1. Its
Laplacian is all but switched off (0.001, against a sum over 400,000 triplets), and its diagonal has
the wrong sign; L = D − S here, and λ = 0.01 of the mean over pairs (0.1 did worse on a validation
part of VOC2012's train set, and so did m = q/2).

What differs: S_ij is 1 where two pictures share a label, otherwise 0 (the authors have 1 and 0.001,
by class). A positive shares more labels with the anchor than the negative does, and all triplets of
a batch are taken. The weights are there to drop bits and to rank by weighted Hamming distance; here
every method ranks by plain Hamming distance, so they only shape what is learned. σ = (u + 1)/2.

Checked against float64 numpy loops, and gradients by finite differences, those of w included.
"""

import torch
from torch import Tensor, nn

from softhash.training.methods._triplets import hinge, triplet_mean
from softhash.training.methods.losses import label_overlap, squared_distances
from softhash.training.methods.method import Line, Method


class DRSCH(Method):
    """Triplet hinge on weighted bits, with a Laplacian that draws pictures together."""

    name, title, order = "drsch", "DRSCH", 330
    line = Line("#0072b2", ":", "^")
    activation = "tanh"

    def __init__(
        self, bits: int, classes: int, *, margin: float | None = None, lambda_: float = 0.01
    ) -> None:
        super().__init__(bits, classes)
        self.margin = 5 * bits / 64 if margin is None else margin
        self.lambda_ = lambda_
        self.weights = nn.Parameter(torch.ones(bits))

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """C = hinge + λ · tr(VᵀLV)/n²."""
        distance = squared_distances(self.weights * (u + 1) / 2)
        ranking = triplet_mean(hinge(self.margin), distance, labels)
        laplacian = (label_overlap(labels) * distance).mean() / 2
        return ranking + self.lambda_ * laplacian
