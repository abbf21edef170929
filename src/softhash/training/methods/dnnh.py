"""DNNH: triplet ranking hinge.

Lai, Pan, Liu, Yan, "Simultaneous Feature Learning and Hash Coding with Deep Neural Networks", 2015.

C = mean over triplets of [m + ‖F_a − F_p‖² − ‖F_a − F_n‖²]₊, where F = p((u + 1)/2) lies in [0, 1]
and its squared distances are Hamming distances once it is binary. The piece-wise threshold p leaves
what is within ε of ½ and makes 0 or 1 of the rest.

Settings: m = 1, a bit, is the paper's at any length; 5q/64, as DRSCH has it, did a little better at
48 bits on a validation part of VOC2012's train set. ε = 0.5 leaves p out, as a public version of
the network does in training: with 0.3, outputs beyond the threshold have no gradient, and MAP was
lower on the same part. Fine-tuned, the head has a third of the others' rate: with theirs nearly all
outputs saturate, two of twelve runs collapsed, and MAP of the first 41 % on that part was 0.778
instead of 0.802 at 12 bits, and 0.795 instead of 0.821 at 36.

What is kept: sigmoid outputs (u is tanh(x), so (u + 1)/2 is σ(2x)), the loss, and p as an option.
What is not: "divide and encode", a slice of 50 features for each bit in place of a layer that all
bits share, for the head is the same for all methods here. The paper has one label per picture; here
a positive shares more labels with the anchor than the negative does, and all triplets of a batch
are taken.

Checked against float64 numpy loops, and gradients by finite differences. Written from summaries of
the paper and a public version of its loss, without its text or its authors' code.
"""

from typing import ClassVar

from torch import Tensor, where

from softhash.training.methods._triplets import hinge, triplet_mean
from softhash.training.methods.losses import squared_distances
from softhash.training.methods.method import Defaults, Line, Method


class DNNH(Method):
    """Triplet ranking hinge: the negative is to be a bit farther away than the positive."""

    name, title, order = "dnnh", "DNNH", 320
    line = Line("#8c8c8c", "--", "D")
    defaults: ClassVar[Defaults] = {"finetune": {"head_rate": 1e-3}}
    activation = "tanh"

    def __init__(
        self, bits: int, classes: int, *, margin: float = 1.0, epsilon: float = 0.5
    ) -> None:
        super().__init__(bits, classes)
        self.margin = margin
        self.epsilon = epsilon

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Average [m + ‖F_a − F_p‖² − ‖F_a − F_n‖²]₊ over triplets."""
        distance = squared_distances(self.threshold((u + 1) / 2))
        return triplet_mean(hinge(self.margin), distance, labels)

    def threshold(self, share: Tensor) -> Tensor:
        """Make 0 or 1 of what is farther than ε from ½."""
        return where((share - 0.5).abs() > self.epsilon, share.round(), share)
