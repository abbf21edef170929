"""DHN: Zhu, Long, Wang, Cao, "Deep Hashing Network for Efficient Similarity Retrieval", 2016.

C = mean over pairs of [log(1 + e^{αP}) − s̄·αP] + λ · mean log cosh(|u| − 1), with u = tanh z and
s̄ = 1 where a label is shared, which is the paper's own multi-label form.

Settings: α = 10/q is that of the code which the same group published next (HashNet), so that αP
lies within ±10 for any number of bits; the paper writes α = 1, which saturates on long codes. The
paper chooses λ by validation; on a part of VOC2012's train set it hardly matters between 0.01 and
1 (MAP 0.742 to 0.746), and 0.1 is the default. Sums are means here, so λ does not depend on the
size of a batch.

Checked against float64 numpy loops, and gradients by finite differences.
"""

from torch import Tensor

from softhash.training.methods.losses import (
    label_overlap,
    pair_cross_entropy,
    quantisation_log_cosh,
)
from softhash.training.methods.method import Line, Method


class DHN(Method):
    """Cross-entropy of pairs that share a label or not, and a smooth quantisation error."""

    name, title, order = "dhn", "DHN", 210
    line = Line("#8a6d3b", "-", "<")
    activation = "tanh"

    def __init__(
        self, bits: int, classes: int, *, alpha: float | None = None, lambda_: float = 0.1
    ) -> None:
        super().__init__(bits, classes)
        self.alpha = 10 / bits if alpha is None else alpha
        self.lambda_ = lambda_

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """C = L + λQ."""
        pairs = pair_cross_entropy(self.alpha * (u @ u.T), label_overlap(labels))
        return pairs.mean() + self.lambda_ * quantisation_log_cosh(u)
