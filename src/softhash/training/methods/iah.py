"""IAH, a reconstruction of its semantic part: bits in groups, one group for each class.

Lai, Yan, Shu, Wei, Yan, "Instance-Aware Hashing for Multi-Label Image Retrieval", 2016; only the
beginning of its text was available, the loss is from memory. Features are organised in groups, one
for each class, and codes of pictures are learnt by weighted triplets, together with the classes:

    L = mean over anchors of Σ ω_ij·[m + ‖F − F_i‖² − ‖F − F_j‖²]₊ / Σ ω_ij + γ·BCE(p, y)

over i, j with r_i > r_j labels shared with the anchor; ω_ij = 2^r_i − 2^r_j, F = (u + 1)/2, p_c =
σ(w_c·u_c + b_c), and u_c are the bits of class c alone. A class has ⌊q/C⌋ or ⌈q/C⌉ bits; where
there are fewer bits than classes, neighbours share one.

Left out, since features are one vector per picture: the region proposals, their pooling, the fusion
across proposals, in which p weighs what a proposal adds to each group, and category-aware hashing,
where a picture has a code for each class in it. The paper's groups are layers before the code, and
each bit sees all of them; here the groups are in the code itself.

Settings: m = 1 is that of DNNH, by the same first author. γ = 0.1 was the best of 0, 0.1 and 1 on a
validation part of VOC2012's train set. All triplets of a batch count, and none is sampled.

Checked against float64 numpy loops, and gradients, the classifier's too, by finite differences.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from softhash.training.methods._triplets import hinge, triplet_mean
from softhash.training.methods.losses import shared_labels, squared_distances
from softhash.training.methods.method import Line, Method


class IAHReconstruction(Method):
    """IAH, a reconstruction: weighted triplets on codes with a group of bits for each class."""

    name, title, order = "iah", "IAH", 360
    line = Line("#d55e00", "--", "v")
    activation = "tanh"
    groups: Tensor

    def __init__(self, bits: int, classes: int, *, margin: float = 1.0, gamma: float = 0.1) -> None:
        super().__init__(bits, classes)
        self.margin = margin
        self.gamma = gamma
        self.classifier = nn.Linear(bits, classes)
        self.register_buffer("groups", class_groups(bits, classes))

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """L = weighted triplets + γ · classes."""
        distance, gains = squared_distances((u + 1) / 2), torch.exp2(shared_labels(labels))
        ranking = triplet_mean(hinge(self.margin), distance, labels, gains)
        scores = F.linear(u, self.groups * self.classifier.weight, self.classifier.bias)
        classes = F.binary_cross_entropy_with_logits(scores, labels.to(scores.dtype))
        return ranking + self.gamma * classes


def class_groups(bits: int, classes: int) -> Tensor:
    """Mark the bits of each class: (classes, bits), 1 or 0.

    >>> class_groups(bits=5, classes=2)
    tensor([[1., 1., 0., 0., 0.],
            [0., 0., 1., 1., 1.]])
    """
    first = torch.arange(classes)[:, None] * bits // classes
    last = ((torch.arange(classes)[:, None] + 1) * bits // classes - 1).maximum(first)
    bit = torch.arange(bits)
    return ((first <= bit) & (bit <= last)).float()
