"""DNNH draft."""

from torch import Tensor, where

from softhash.functional import squared_distances
from softhash.methods._base import Method
from softhash.methods._triplets import anchor_mean, differences, ranked_triplets


class DNNH(Method):
    """Triplet ranking hinge: the negative is a margin of bits farther away than the positive."""

    activation = "tanh"

    def __init__(
        self, bits: int, classes: int, *, margin: float = 1.0, epsilon: float = 0.5
    ) -> None:
        super().__init__(bits, classes)
        self.margin = margin
        self.epsilon = epsilon

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """[m − ‖F_a − F_n‖² + ‖F_a − F_p‖²]₊, averaged over triplets."""
        further = differences(squared_distances(self.threshold((u + 1) / 2)))
        return anchor_mean((self.margin + further).clamp_min(0), ranked_triplets(labels))

    def threshold(self, share: Tensor) -> Tensor:
        """Snap what is farther than ε from ½ to 0 or 1; what is nearer stays as it is."""
        return where((share - 0.5).abs() > self.epsilon, share.round(), share)


METHODS = {"dnnh": DNNH}
