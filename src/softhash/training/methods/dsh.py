"""DSH: Liu, Wang, Shan, Chen, "Deep Supervised Hashing for Fast Image Retrieval", 2016.

A pair costs ½‖Δ‖² where a label is shared, otherwise ½[m − ‖Δ‖²]₊, with Δ = uᵢ − uⱼ, and
α(‖|uᵢ| − 1‖₁ + ‖|uⱼ| − 1‖₁) in either case; u is linear.

Settings: m = 2q is the paper's. The paper's α = 0.01 was chosen for one label per picture. Where
many pairs are similar, and through third pictures, bits shrink to nothing with so little to hold
them: on a part of VOC2012's train set 0.01, 0.1 and 0.3 give MAP 0.692, 0.707 and 0.692, so it is
0.1.

The mean over all ordered pairs of the batch stands for the paper's sum over a batch's pairs, the
second term included: its weight against the first is the paper's. The paper has one label per
picture; here two pictures are similar when they share one.

Checked against float64 numpy loops, and gradients by finite differences.
"""

from torch import Tensor, where

from softhash.training.methods.losses import label_overlap, quantisation_l1, squared_distances
from softhash.training.methods.method import Line, Method


class DSH(Method):
    """Contrastive loss: similar pairs pulled together, others pushed a margin apart."""

    name, title, order = "dsh", "DSH", 300
    line = Line("#8a6d3b", "--", "o")
    activation = "identity"

    def __init__(
        self, bits: int, classes: int, *, margin: float | None = None, alpha: float = 0.1
    ) -> None:
        super().__init__(bits, classes)
        self.margin = 2.0 * bits if margin is None else margin
        self.alpha = alpha

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Average the pairs' costs; each picture's own part comes twice in a pair."""
        regulariser = 2 * self.bits * quantisation_l1(u)
        return self.pair_loss(squared_distances(u), labels).mean() + self.alpha * regulariser

    def pair_loss(self, distance: Tensor, labels: Tensor) -> Tensor:
        """½‖Δ‖² where a label is shared, otherwise ½[m − ‖Δ‖²]₊."""
        apart = (self.margin - distance).clamp_min(0)
        return where(label_overlap(labels) > 0, distance, apart) / 2
