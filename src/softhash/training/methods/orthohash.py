"""OrthoHash: One Loss for All: Deep Hashing with a Single Cosine Similarity based Objective.

Hoe, Ng, Zhang, Chan, Song and Xiang, NeurIPS 2021. Every class has a binary code, orthogonal to the
others (exactly where a Hadamard matrix fits, nearly elsewhere). Outputs, normalised over the batch,
are turned towards it:

    L = −mean Σ y·log softmax(s·(cos(v, c) − m·y)),   y = labels / number of labels
    v = γ·(u − mean u)/√(var u + ε) + β

One loss does the rest: a large cosine with a binary code leaves little to quantise, and the
normalisation balances the bits. γ and β are learned. After training, mean and variance over the
train set go into the weights of the head, so that its own outputs are v.

`batch_norm` switches the normalisation off. On three draws of 4,000 pictures of VOC2012 (frozen
features, half of each to fit, two seeds) its effect is within chance. MAP is 0.733 with it and
0.732 without at 12 bits, 0.783 and 0.780 at 48; the draws differ in sign.

The multi-label form, soft labels of equal shares, is the paper's (it calls it label smoothing) and
the default of the authors' published code; the same code's sigmoid form was 0.07 worse in MAP on a
validation part of VOC2012. s = 8 and m = 0.2 are the code's too.

Differs: where codes are not exactly orthogonal they are chosen for distance instead of taking the
first coins.

Checked against an independent float64 version by loops; gradients by finite differences.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn, where
from torch.nn import functional as F  # noqa: N812

from softhash.model.heads import Head
from softhash.training.methods._centres import class_centres
from softhash.training.methods.method import Line, Method

EPSILON = 1e-5  # added to variances, as PyTorch's BatchNorm1d does
SHORTEST = 1e-3  # norm of v to divide by: in a batch of one picture, v is β, which starts at 0
ROWS_AT_ONCE = 1024


class OrthoHash(Method):
    """Turns outputs towards the orthogonal codes of their classes, by one cosine loss."""

    name, title, order = "orthohash", "OrthoHash", 410
    line = Line("#56b4e9", ":", "p")
    activation = "identity"  # which is why the normalisation can go into the weights
    centres: Tensor

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        scale: float = 8.0,
        margin: float = 0.2,
        batch_norm: bool = True,
    ) -> None:
        super().__init__(bits, classes)
        self.scale = scale
        self.margin = margin
        self.batch_norm = batch_norm
        self.register_buffer("centres", class_centres(bits, classes))
        if batch_norm:
            self.gamma = nn.Parameter(torch.ones(bits))
            self.beta = nn.Parameter(torch.zeros(bits))

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Cross-entropy of shares, by cosines; without a label, every class has an equal share."""
        y = labels.to(u.dtype)
        cosine = self.directions(u) @ F.normalize(self.centres.to(u.dtype), dim=1).T
        counts = y.sum(1, keepdim=True)
        share = where(counts > 0, y / counts.clamp(min=1), 1 / self.classes)
        logits = self.scale * (cosine - self.margin * y)
        return -(share * F.log_softmax(logits, dim=1)).sum(1).mean()

    def directions(self, u: Tensor) -> Tensor:
        """Return v of a batch at unit length, (n, bits)."""
        if not self.batch_norm:
            return F.normalize(u, dim=1)
        slope, mean = self.slope_and_mean(u)
        return F.normalize((u - mean) * slope + self.beta.to(u.dtype), dim=1, eps=SHORTEST)

    def slope_and_mean(self, u: Tensor) -> tuple[Tensor, Tensor]:
        """Return γ/√(var u + ε) and mean u over the rows of u (n, bits), (bits,) each."""
        variance, mean = torch.var_mean(u, dim=0, correction=0)
        return self.gamma.to(u.dtype) * torch.rsqrt(variance + EPSILON), mean

    @torch.no_grad()
    def finish(self, head: Head, features: Callable[[], Tensor]) -> None:
        """Put the normalisation over the train set into the weights: then the head returns v."""
        if not self.batch_norm:
            return
        u = torch.cat([head(part) for part in torch.split(features(), ROWS_AT_ONCE)])
        slope, mean = (values.to(u.dtype) for values in self.slope_and_mean(u.double()))
        head.output.weight.mul_(slope[:, None])
        head.output.bias.sub_(mean).mul_(slope).add_(self.beta)
        if head.skip is not None:
            head.skip.weight.mul_(slope[:, None])
