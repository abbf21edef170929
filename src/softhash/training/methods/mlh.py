"""MLH: Norouzi, Fleet, Minimal Loss Hashing for Compact Binary Codes, 2011.

b = sign(Wx + c). A pair whose codes differ in m bits costs max(m − ρ + 1, 0)/√λ if it is similar,
√λ·max(ρ − m + 1, 0) if not, both divided by q. The bound on it that is minimised, for a pair x, z:

    max over codes g, h of [cost(‖g − h‖) + g·(Wx) + h·(Wz)]  −  [b(x)·(Wx) + b(z)·(Wz)]

The first maximum, the loss-augmented inference, is exact: sort the bits by what letting them differ
gains, and try the first m of them, m = 0…q. The step is a perceptron's: W moves by what b(x)xᵀ +
b(z)zᵀ exceed g xᵀ + h zᵀ, with momentum and weight decay. Codes are ±1, as in the authors' code.

Settings of the authors' code: random W of deviation 0.1, batches of 100 pairs drawn at random,
momentum 0.9, first rate 0.1 that falls to 0 in a line, biases learnt (its other form has none).
The authors choose the rest by validation, and so was done here on a part of VOC2012's train set:
λ = 2, weight decay 0.005, 5,000 steps. The authors make 20,000 to 50,000; 20,000 with a decay of
0.001 to 0.005 were no better over 12, 24 and 48 bits together, though 0.02 at 48 bits. ρ is 0.35 q.
Features are centred and scaled to norms of mean 1, from memory of the paper.

Multi-label: a pair is similar where any label is shared, as in the IDHN paper's comparison.

Checked: the inference against all 4^q pairs of codes; the bound is never below the loss; the step
is the bound's gradient by finite differences.
"""

import torch
from torch import Tensor

from softhash.model.heads import Head
from softhash.training.methods._directions import centred, normal, set_output, signs
from softhash.training.methods.method import Line, Shallow

FIRST_STD = 0.1
PAIRS = 100
MOMENTUM = 0.9


class MLH(Shallow):
    """A hinge on the Hamming distance of pairs, bounded by structured prediction."""

    name, title, order = "mlh", "MLH", 510
    line = Line("#8c8c8c", ":", "h")

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        rho: float | None = None,
        lambda_: float = 2.0,
        rate: float = 0.1,
        decay: float = 5e-3,
        steps: int = 5000,
    ) -> None:
        super().__init__(bits, classes)
        self.rho = 0.35 * bits if rho is None else rho
        self.lambda_ = lambda_
        self.rate = rate
        self.decay = decay
        self.steps = steps

    @torch.no_grad()
    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Descend on random pairs."""
        x = centred(head, features).float()
        norm = x.norm(dim=1).mean()
        head.scale.fill_(norm if norm > 0 else 1.0)
        x = torch.cat([x / head.scale, torch.ones_like(x[:, :1])], 1)
        w = FIRST_STD * normal(self.bits, x.shape[1], like=x)
        w[:, -1] = 0
        speed = torch.zeros_like(w)
        pairs = torch.randint(len(x), (self.steps, 2, PAIRS)).to(x.device)
        for step, (first, second) in enumerate(pairs):
            similar = (labels[first] * labels[second] > 0).any(dim=1)
            pull = descent(w, x[first], x[second], self.costs(similar)) - self.decay * _no_bias(w)
            speed = MOMENTUM * speed + self.rate * (1 - step / self.steps) * pull
            w = w + speed
        set_output(head, w[:, :-1], w[:, -1])

    def costs(self, similar: Tensor) -> Tensor:
        """Cost of m = 0…q differing bits for each pair (n, q + 1)."""
        m = torch.arange(self.bits + 1, device=similar.device)
        near = (m - self.rho + 1).clamp_min(0) / self.lambda_**0.5
        far = (self.rho - m + 1).clamp_min(0) * self.lambda_**0.5
        return torch.where(similar[:, None], near, far) / self.bits


def descent(w: Tensor, x: Tensor, z: Tensor, costs: Tensor) -> Tensor:
    """Minus the gradient of the pairs' mean bound with regard to w.

    Args:
        w: weights (bits, d).
        x: the first of each pair (n, d).
        z: the second of each pair (n, d).
        costs: of 0…q differing bits for each pair (n, q + 1).

    """
    at_x, at_z = x @ w.T, z @ w.T
    g, h = worst_codes(at_x, at_z, costs)
    return ((signs(at_x) - g).T @ x + (signs(at_z) - h).T @ z) / len(x)


def worst_codes(v: Tensor, w: Tensor, costs: Tensor) -> tuple[Tensor, Tensor]:
    """Codes g, h ∈ {±1}^q that maximise costs[m] + g·v + h·w, m bits of g and h different.

    Args:
        v: outputs for the first of each pair (n, q).
        w: outputs for the second of each pair (n, q).
        costs: of m = 0…q differing bits (n, q + 1).

    >>> one = torch.ones(1, 2)
    >>> worst_codes(one, one, torch.tensor([[0.0, 0.0, 9.0]]))[0].tolist()
    [[-1.0, -1.0]]

    """
    gain, order = ((v - w).abs() - (v + w).abs()).sort(dim=1, descending=True, stable=True)
    gains = torch.cat([torch.zeros_like(gain[:, :1]), gain.cumsum(dim=1)], 1)
    different = (gains + costs).argmax(dim=1)
    differs = order.argsort(dim=1) < different[:, None]
    g = signs(torch.where(differs, v - w, v + w))
    return g, torch.where(differs, -g, g)


def _no_bias(w: Tensor) -> Tensor:
    """Leave out the biases, which do not decay."""
    return torch.cat([w[:, :-1], torch.zeros_like(w[:, -1:])], 1)
