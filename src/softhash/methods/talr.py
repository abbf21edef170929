"""TALR draft."""

import torch
from torch import Tensor

from softhash.functional import shared_labels
from softhash.methods._base import Method

SMALLEST = 1e-3  # of a group of ties


class TALR(Method):
    """Tie-aware listwise."""

    activation = "tanh"

    def __init__(self, bits: int, classes: int, *, bins: int | None = None) -> None:
        super().__init__(bits, classes)
        self.bins = (bits // 2 if bits >= 32 else bits) if bins is None else bins

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        shared = shared_labels(labels).to(u.dtype).fill_diagonal_(0)
        judged = (shared > 0).any(dim=1)
        score = self.scores(u, shared)
        return ((1 - score) * judged).sum() / judged.sum().clamp(min=1)

    def histogram(self, u: Tensor, weights: Tensor) -> Tensor:
        width = self.bits / self.bins
        centres = torch.linspace(0, self.bits, self.bins + 1, dtype=u.dtype, device=u.device)
        distance = (self.bits - u @ u.T) / 2
        pulse = (1 - (distance[:, :, None] - centres).abs() / width).clamp_min(0)
        return (weights[:, None, :] @ pulse)[:, 0]

    def scores(self, u, shared):
        raise NotImplementedError


class TALRAP(TALR):
    """AP."""

    def scores(self, u, shared):
        relevant = (shared > 0).to(u.dtype)
        others = 1 - torch.eye(len(u), dtype=u.dtype, device=u.device)
        c, hits = self.histogram(u, others), self.histogram(u, relevant)
        before, hits_before = c.cumsum(1) - c, hits.cumsum(1) - hits
        ranks = torch.arange(1, len(u) + 1, dtype=u.dtype, device=u.device)
        mean = mean_over_ranks(1 / ranks, before, c)
        slope = (hits - 1).clamp_min(0) / (c - 1).clamp_min(1)
        value = hits * (slope + (hits_before + 1 - slope * (before + 1)) * mean)
        return value.sum(1) / relevant.sum(1).clamp(min=1)


class TALRNDCG(TALR):
    """NDCG."""

    def scores(self, u, shared):
        gain = torch.exp2(shared) - 1
        others = 1 - torch.eye(len(u), dtype=u.dtype, device=u.device)
        c, gains = self.histogram(u, others), self.histogram(u, gain)
        ranks = torch.arange(1, len(u) + 1, dtype=u.dtype, device=u.device)
        discounts = 1 / torch.log2(1 + ranks)
        dcg = (gains * mean_over_ranks(discounts, c.cumsum(1) - c, c)).sum(1)
        best = (gain.sort(dim=1, descending=True).values * discounts).sum(1)
        return dcg / best.clamp(min=1)


def mean_over_ranks(values, before, size):
    """Average."""
    span = running_sum(values, before + size) - running_sum(values, before)
    return span / size.clamp_min(SMALLEST)


def running_sum(values, x):
    whole = x.detach().floor().clamp(0, len(values) - 1).long()
    sums = values.cumsum(0) - values
    return sums[whole] + (x - whole) * values[whole]


METHODS = {"talr-ap": TALRAP, "talr-ndcg": TALRNDCG}
