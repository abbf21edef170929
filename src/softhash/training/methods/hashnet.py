"""HashNet: Cao, Long, Wang, Yu, "HashNet: Deep Learning to Hash by Continuation", 2017.

C = mean over pairs of w·[log(1 + e^{αP}) − s̄·αP], with P the products of u = tanh(βz). The weight
w = c·|S|/|S₁| of pairs that share a label and |S|/|S₀| of the others makes up for how few there are
of one kind; c is the Jaccard coefficient of the labels for similar pairs, 1 for dissimilar ones (it
would be 0, and with it their whole loss). β grows, so that tanh becomes the sign.

Settings: α = 10/q is the authors'. Their β = √(1 + 0.005·step) ends at √51 after 10,000 steps;
ours grows with the share of the run that is done, β = √(1 + 50·step/steps), so that every run ends
there, however long it is. A warm-up of the head is part of the run. The authors' code has the pair
weights but not the Jaccard coefficient, which the paper has. |S₁| and |S₀| are counted once, over
all ordered pairs of the train set: in a batch, rare kinds would have weights that jump. The head is
linear, since β is the method's, and the sign of z is that of tanh(βz).

Checked against float64 numpy loops, and gradients by finite differences.
"""

import torch
from torch import Tensor, where

from softhash.training.methods.losses import label_jaccard, pair_cross_entropy
from softhash.training.methods.method import Line, Method

COUNTED_AT_ONCE = 1024  # rows of the train set's pairs
STEPS = 10_000  # of the authors' run, where nobody says how many there will be


class HashNet(Method):
    """Weighted cross-entropy of pairs on tanh(βz), where β grows until it is the sign."""

    name, title, order = "hashnet", "HashNet", 230
    line = Line("#8c8c8c", "-", "p")
    activation = "identity"
    step: Tensor
    steps: Tensor
    weights: Tensor

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        alpha: float | None = None,
        growth: float = 50.0,
    ) -> None:
        super().__init__(bits, classes)
        self.alpha = 10 / bits if alpha is None else alpha
        self.growth = growth
        self.register_buffer("step", torch.zeros((), dtype=torch.int64))
        self.register_buffer("steps", torch.tensor(STEPS), persistent=False)
        self.register_buffer("weights", torch.ones(2))

    def plan(self, steps: int) -> None:
        """Let β reach its end with the last step."""
        self.steps.fill_(steps)

    def start(self, labels: Tensor) -> None:
        """Count similar and dissimilar pairs; weights are |S|/|S₀| and |S|/|S₁|."""
        y = labels.float()
        parts = [(part @ y.T > 0).sum() for part in torch.split(y, COUNTED_AT_ONCE)]
        similar, pairs = torch.stack(parts).sum(), len(y) ** 2
        counts = torch.stack([pairs - similar, similar]).clamp_min(1)
        self.weights.copy_(pairs / counts)

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Average w·(log(1 + e^Ω) − s̄·Ω), Ω = αP, and count the step."""
        u = torch.tanh(self.beta() * u)
        self.step += 1
        c = label_jaccard(labels)
        w = where(c > 0, c * self.weights[1], self.weights[0])
        return (w * pair_cross_entropy(self.alpha * (u @ u.T), (c > 0).to(u.dtype))).mean()

    def beta(self) -> Tensor:
        """β = √(1 + growth·step/steps)."""
        return (1 + self.growth * self.step / self.steps).sqrt()
