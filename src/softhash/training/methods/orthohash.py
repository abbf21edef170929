"""OrthoHash: One Loss for All: Deep Hashing with a Single Cosine Similarity based Objective.

Hoe, Ng, Zhang, Chan, Song and Xiang, NeurIPS 2021. Every class has a binary code, orthogonal to the
others (exactly where a Hadamard matrix fits, nearly elsewhere), and outputs are turned towards it:

    L = −mean Σ y·log softmax(s·(cos(u, c) − m·y)),   y = labels / number of labels

One loss does the rest: a large cosine with a binary code leaves little to quantise. The multi-label
form, soft labels of equal shares, is the paper's (it calls it label smoothing) and the default of
the authors' published code; the same code's sigmoid form was 0.07 worse in MAP on a validation part
of VOC2012. s = 8 and m = 0.2 are the code's too.

Differs: no batch normalisation of u, whose purpose is balanced bits; on frozen, standardised
features it cost 0.014 to 0.017 of MAP on that validation part. Where codes are not exactly
orthogonal they are chosen for distance instead of taking the first coins.

Checked against an independent float64 version by loops; gradients by finite differences.
"""

from torch import Tensor, where
from torch.nn import functional as F  # noqa: N812

from softhash.training.methods._centres import class_centres
from softhash.training.methods.method import Line, Method


class OrthoHash(Method):
    """Turns outputs towards the orthogonal codes of their classes, by one cosine loss."""

    name, title, order = "orthohash", "OrthoHash", 410
    line = Line("#56b4e9", ":", "p")
    activation = "identity"
    centres: Tensor

    def __init__(self, bits: int, classes: int, *, scale: float = 8.0, margin: float = 0.2) -> None:
        super().__init__(bits, classes)
        self.scale = scale
        self.margin = margin
        self.register_buffer("centres", class_centres(bits, classes))

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Cross-entropy of shares, by cosines; without a label, every class has an equal share."""
        y = labels.to(u.dtype)
        cosine = F.normalize(u, dim=1) @ F.normalize(self.centres.to(u.dtype), dim=1).T
        counts = y.sum(1, keepdim=True)
        share = where(counts > 0, y / counts.clamp(min=1), 1 / self.classes)
        logits = self.scale * (cosine - self.margin * y)
        return -(share * F.log_softmax(logits, dim=1)).sum(1).mean()
