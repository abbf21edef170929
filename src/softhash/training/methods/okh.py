"""OKH: Huang, Yang, Zheng, Online Hashing, 2013; its longer form is of 2017.

Pairs of pictures arrive one after the other, and each corrects b = sign(Wᵀk(x)) at once; k are
KSH's kernel features and a constant. A pair whose codes h_1, h_2 differ in D bits costs

    R = max(0, D − αq) where it is similar, max(0, βq − D) where it is not.

If R > 0, codes g without cost are found: R bits that differ are made equal, or the other way round,
those for which the smaller of |f_1|, |f_2| is smallest, f = Wᵀk, by a change on that side. No other
codes without cost have a larger Σ g·f. W moves as little as it can (passive-aggressive), by the
minimum of ½‖W − W_t‖² + Cξ with ℓ(W) ≤ ξ:

    ℓ = Σ h·Wᵀk − Σ g·Wᵀk + √R,   W ← W + τD,   D = Σ k(g − h)ᵀ,   τ = min(C, ℓ/‖D‖²)

The equations are from memory of the longer form. 300 anchors, C = 0.1 and random unit columns as
the start are those of public code for OKH, whose own step is not readable. α = 0 and β = 0.5 were
chosen on a validation part of VOC2012's train set: β of 0.2 and 0.3 was worse, α = 0.1 better at 48
bits and far worse at 12, and so was C = 0.01.

What differs: a stream has no end, a train set has. Here 10,000 pairs arrive: random orders of the
train set, two by two, each pair seen once. More pairs help. k is less its mean, as KSH's is.

Multi-label: a pair is similar where any label is shared, as in the IDHN paper's comparison.

Checked: the codes against all 4^q pairs of codes, the step against scipy's solution of the
minimum, the cost by its definition.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import normalize, pad

from softhash.model.heads import Head
from softhash.training.methods._anchors import KernelMethod, place_anchors
from softhash.training.methods._directions import normal, set_output, signs
from softhash.training.methods.method import Line


class OKH(KernelMethod):
    """Kernel codes learnt online: each pair in turn corrects them by as little as it can."""

    name, title, order = "okh", "OKH", 535
    line = Line("#d55e00", ":", "P")

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        anchors: int = 300,
        alpha: float = 0.0,
        beta: float = 0.5,
        c: float = 0.1,
        pairs: int = 10_000,
    ) -> None:
        super().__init__(bits, classes)
        self.anchors = anchors
        self.alpha = alpha
        self.beta = beta
        self.c = c
        self.pairs = pairs

    @torch.no_grad()
    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Place the anchors; then learn from pair after pair, on the processor: steps are small."""
        used = place_anchors(head, features)
        k = pad(head.lifted(features)[:, :used].double().cpu(), (0, 1), value=1.0)
        w = normalize(normal(used + 1, self.bits, like=k), dim=0)
        pairs = stream(len(k), self.pairs)
        first, second = labels.cpu()[pairs].unbind(1)
        similar = (first * second).any(dim=1).tolist()
        for pair, shares in zip(pairs, similar, strict=True):
            w += self.step(w, k[pair], shares)
        set_output(head, pad(w[:-1].T, (0, self.anchors - used)), w[-1])

    def step(self, w: Tensor, k: Tensor, similar: bool) -> Tensor:
        """Compute τD, what a pair adds to W (m, bits); 0 where it costs nothing.

        Args:
            w: W (m, bits).
            k: kernel features of the two pictures (2, m).
            similar: whether they share a label.

        """
        f = k @ w
        h = signs(f)
        cost = self.cost(int((h[0] != h[1]).sum()), similar)
        if not cost:
            return torch.zeros_like(w)
        g = costless_codes(f, similar, cost)
        direction = k.T @ (g - h)
        loss = ((h - g) * f).sum() + math.sqrt(cost)
        tau = min(self.c, float(loss / direction.square().sum()))
        return tau * direction

    def cost(self, distance: int, similar: bool) -> int:
        """R of a pair whose codes differ in so many bits, in whole bits."""
        if similar:
            return max(0, distance - math.floor(self.alpha * self.bits))
        return max(0, math.ceil(self.beta * self.bits) - distance)


def stream(items: int, pairs: int) -> Tensor:
    """Draw pairs of positions (at most `pairs`, 2): random orders of all items, two by two."""
    if items < 2:
        return torch.zeros(0, 2, dtype=torch.long)
    orders = [torch.randperm(items)[: items // 2 * 2] for _ in range(0, pairs, items // 2)]
    return torch.cat([torch.zeros(0, dtype=torch.long), *orders]).view(-1, 2)[:pairs]


def costless_codes(f: Tensor, similar: bool, cost: int) -> Tensor:
    """Find the codes g (2, bits) that cost nothing and have the largest Σ g·f.

    Args:
        f: outputs for the two pictures (2, bits).
        similar: whether they share a label.
        cost: R of their codes, the number of bits to change.

    >>> costless_codes(torch.tensor([[3.0, 1.0], [-2.0, -4.0]]), similar=True, cost=1)
    tensor([[ 1., -1.],
            [-1., -1.]])

    """
    g = signs(f)
    least, side = f.abs().min(dim=0)
    changeable = (g[0] != g[1]) == similar
    changed = torch.where(changeable, least, torch.inf).argsort(stable=True)[:cost]
    g[side[changed], changed] *= -1
    return g
