"""DPSH: pairs with the whole train set.

Li, Wang, Kang, "Feature Learning based Deep Supervised Hashing with Pairwise Labels", 2016.

C = mean over pairs of [log(1 + e^θ) − s̄·θ] + η · mean (b − u)², with θ = uᵢ·uⱼ/2, b = sign(u) and a
linear output. Each picture of a batch is paired with every picture of the train set: outputs are
remembered, those of the batch are renewed, and the others have no gradient. The paper's sum has
every pair in both orders, (i, j) and (j, i). A batch has both of its own pairs, and one of those
with other pictures, which therefore count twice. A picture that was not seen yet is remembered as
0, and moves nothing.

Settings: the paper sums over all pairs and over pictures with η = 10 to 100. Divided by n², as our
mean is, with 5,000 pictures and 48 bits, they are η·48/5000 ≈ 0.1 to 1 of the mean over both. On
halves of VOC2012's train set, MAP for 12 and 48 bits, three seeds; it is 0.3:

| η | 0.1 | 0.3 | 0.6 | 1 |
|---|---|---|---|---|
| 12 bits | 0.559 | 0.593 | 0.528 | 0.531 |
| 48 bits | 0.673 | 0.680 | 0.684 | 0.692 |

Checked against float64 numpy loops, and gradients by finite differences; with the whole train set
as the batch, loss and gradient are those of the batch alone.
"""

import torch
from torch import Tensor

from softhash.training.methods.losses import pair_cross_entropy
from softhash.training.methods.method import Line, Method


class DPSH(Method):
    """Cross-entropy of pairs with the whole train set, whose outputs are remembered."""

    name, title, order = "dpsh", "DPSH", 250
    line = Line("#009e73", "--", "X")
    activation = "identity"
    outputs: Tensor
    known: Tensor

    def __init__(self, bits: int, classes: int, *, eta: float = 0.3) -> None:
        super().__init__(bits, classes)
        self.eta = eta

    def start(self, labels: Tensor) -> None:
        """Make room for the outputs of all pictures, and keep their labels."""
        self.register_buffer("outputs", torch.zeros(len(labels), self.bits, device=labels.device))
        self.register_buffer("known", labels.float(), persistent=False)

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """C = L + ηQ."""
        return self.pair_loss(u, labels, index) + self.eta * (u.sign() - u).square().mean()

    def pair_loss(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Average log(1 + e^θ) − s̄·θ over pairs of the batch and the train set; remember u."""
        everybody = self.outputs.index_copy(0, index, u)
        orders = u.new_full((len(everybody),), 2).index_fill(0, index, 1)
        with torch.no_grad():
            self.outputs.index_copy_(0, index, u)
        similar = (labels.to(u.dtype) @ self.known.T > 0).to(u.dtype)
        return (orders * pair_cross_entropy(u @ everybody.T / 2, similar)).mean()
