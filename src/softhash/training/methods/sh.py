"""SH: Weiss, Torralba, Fergus, Spectral Hashing, 2008.

The data are taken to be uniform in a box along their principal axes. The eigenfunctions of the
graph Laplacian are then known: sin(π/2 + kπ(x − a)/(b − a)) on an axis with the range [a, b], with
the eigenvalue 1 − exp(−ε²/2·(kπ/(b − a))²). The q smallest but 0 become the bits; wide axes give
several, so the axes, at most min(q, d), suffice for any q.

No settings (ε changes no order). As in the authors' code, modes of several axes together are left
out: their eigenvalues are larger and their signs follow from the others. The head's cosine is
sin(π/2 + …). Centring changes nothing here, as each axis is shifted to its own start.

Checked against the order and values of a numpy version that loops over the modes, and against the
eigenvectors of the Laplacian of a grid.
"""

import math
from typing import ClassVar

import torch
from torch import Tensor

from softhash.model.heads import Head
from softhash.training.methods._directions import centred, principal, set_output
from softhash.training.methods.method import Line, Shallow

NARROWEST = 1e-9  # a range of 0 has no modes; this keeps constant features finite


class SH(Shallow):
    """Signs of the smoothest eigenfunctions of a box along the principal axes."""

    name, title, order = "sh", "SH", 550
    line = Line("#e69f00", "-.", "s")
    activation: ClassVar[str] = "cosine"
    unsupervised: ClassVar[bool] = True

    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Measure the box, and make each bit a wave along one of its axes."""
        x = centred(head, features)
        directions = principal(x, self.bits)
        along = x @ directions.T
        low, high = along.min(dim=0).values, along.max(dim=0).values
        axes, frequencies = modes(high - low, self.bits)
        weight = frequencies[:, None] * directions[axes]
        set_output(head, weight, -frequencies * low[axes])


def modes(ranges: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Axes and frequencies kπ/range of the smallest eigenvalues, in their order.

    >>> axes, frequencies = modes(torch.tensor([2.0, 1.0]), 3)
    >>> axes.tolist(), (frequencies / math.pi).tolist()
    ([0, 0, 1], [0.5, 1.0, 1.0])
    """
    steps = torch.arange(1, count + 1, device=ranges.device)
    every = (math.pi * steps / ranges.clamp_min(NARROWEST)[:, None]).flatten()
    smallest = every.argsort(stable=True)[:count]
    return smallest // count, every[smallest]
