"""DLBHC: codes from a classifier's latent layer.

Lin, Yang, Hsiao, Chen, "Deep Learning of Binary Hash Codes for Fast Image Retrieval", 2015.

A latent layer h = σ(u) of q units comes before a classifier, and the classification error is all
that is minimised; a bit is on when h ≥ 0.5, which is u ≥ 0. There are no settings. The latent layer
lies right on the features, as in the paper, whatever hidden layer a recipe asks for: behind another
one the sigmoids saturate, and of 48 bits on VOC2012 all but four end up the same for all pictures.

The paper has one label per picture and a softmax; with several labels each class has a logistic
output of its own, and the loss is the mean binary cross-entropy over pictures and classes.

Checked against float64 numpy loops, and gradients, the classifier's too, by finite differences.
"""

from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from softhash.model.config import HeadOptions
from softhash.training.methods.method import Line, Method


class DLBHC(Method):
    """Classification through a layer of sigmoids, one per bit."""

    name, title, order = "dlbhc", "DLBHC", 240
    line = Line("#0072b2", "--", "P")
    activation = "identity"

    def __init__(self, bits: int, classes: int) -> None:
        super().__init__(bits, classes)
        self.classifier = nn.Linear(bits, classes)

    def head_options(self, hidden: int, dropout: float) -> HeadOptions:
        """Return a latent layer right on the features."""
        return super().head_options(0, dropout)

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Binary cross-entropy of the classifier on h = σ(u)."""
        scores = self.classifier(u.sigmoid())
        return F.binary_cross_entropy_with_logits(scores, labels.to(scores.dtype))
