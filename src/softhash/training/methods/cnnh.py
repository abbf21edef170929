"""CNNH: Xia, Pan, Lai, Liu, Yan, "Supervised Hashing via Image Representation Learning", 2014.

Stage 1, before training: codes H of the train set that lower ‖S − HHᵀ/q‖², S = +1 where a label is
shared and −1 elsewhere. Stage 2: the network regresses them, C = mean (u − h)², u = tanh z.

What differs: the paper relaxes H to [−1, 1], follows a quadratic model of one entry at a time, and
takes signs at the end; here entries are signs throughout and each takes the exactly better one, so
that the objective of the codes themselves never rises. On VOC2012's 4,000 pictures and 48 bits it
ends at 0.4227 per pair in a few seconds; the relaxation, over five sweeps, at 0.4241, and a
spectral start at 0.4227. `sweeps` bounds the passes over all entries; about a dozen were needed.
The paper's variant that also predicts classes (CNNH+) is not here.

Checked by enumeration on small sets: the objective never rises, and no single change of sign lowers
it in the end; the loss against numpy, and gradients by finite differences.
"""

import torch
from torch import Tensor

from softhash.training.methods.method import Line, Method


class CNNH(Method):
    """Codes of the train set first, by factorising its similarity; then regression of them."""

    name, title, order = "cnnh", "CNNH", 310
    line = Line("#7a4b9d", "--", "s")
    activation = "tanh"
    codes: Tensor

    def __init__(self, bits: int, classes: int, *, sweeps: int = 20) -> None:
        super().__init__(bits, classes)
        self.sweeps = sweeps

    def start(self, labels: Tensor) -> None:
        """Find the codes of the train set, on the processor: a step looks at one number alone."""
        from softhash.training.methods._factorisation import (
            factorise,  # compiles, so not before it is used
        )

        signs = 2 * torch.randint(2, (len(labels), self.bits)) - 1
        codes = factorise(labels.cpu().numpy(), signs.numpy(), self.sweeps)
        self.register_buffer("codes", torch.from_numpy(codes).float().to(labels.device))

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """C = mean (u − h)²."""
        return (u - self.codes[index]).square().mean()
