"""TALR: tie-aware AP and NDCG, made differentiable and maximised as they are.

He, Cakir, Bargal, Sclaroff, "Hashing as Tie-Aware Learning to Rank", 2018.

Each picture of the batch is a query, the others are its database. With d_ij = (q − u_i·u_j)/2, a
soft histogram (triangular pulses around evenly spaced centres) counts c_d items, c⁺_d of them
relevant, at each distance; C_d and C⁺_d are running sums. In a group of c ties, c⁺ relevant, over
ranks t = C + 1 … C + c, with C and C⁺ counting what comes before::

    AP   = 1/N⁺ · Σ_d c⁺/c · Σ_t (C⁺ + 1 + (t − C − 1)·(c⁺ − 1)/(c − 1)) / t
    NDCG = 1/Z · Σ_d (Σ of 2^r − 1 in the group)/c · Σ_t 1/log₂(1 + t)

The loss is 1 − AP (relevant: shares a label), or 1 − NDCG (r: how many labels are shared), averaged
over queries that have something relevant in the batch.

Soft counts are no integers. The paper puts an integral for the sum over t, and its authors' code a
simpler form still, which they found no worse. Here sums over t are interpolated between integers
instead, and (c⁺ − 1)/(c − 1) is [c⁺ − 1]₊/max(c − 1, 1): both are exact at integers, so that for
binary u and a bin for each distance the value is the metric itself.

Settings are the authors' for NUS-WIDE: half as many bins as bits from 32 bits on (we keep a bin for
each distance below that, as their defaults do), no annealing; they take batches of 256 pictures. At
48 bits, AP did better with 24 bins than with 48 on a validation part of VOC2012's train set.

Checked on binary codes against `evaluate_codes`, and gradients by finite differences.
"""

import torch
from torch import Tensor

from softhash.functional import shared_labels
from softhash.methods._base import Method

SMALLEST = 1e-3  # a group of fewer (soft) items is left out: its mean would be rounding errors


class TALR(Method):
    """What the two objectives share: who is ranked at what distance."""

    activation = "tanh"

    def __init__(self, bits: int, classes: int, *, bins: int | None = None) -> None:
        super().__init__(bits, classes)
        self.bins = (bits // 2 if bits >= 32 else bits) if bins is None else bins
        if not 1 <= self.bins <= bits:
            raise ValueError(f"bins is {bins}; give 1 to {bits}, as many as there are bits")

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """1 − score, averaged over queries that have something relevant."""
        shared = shared_labels(labels).to(u.dtype).fill_diagonal_(0)
        judged = (shared > 0).any(dim=1)
        return ((1 - self.scores(u, shared)) * judged).sum() / judged.sum().clamp(min=1)

    def scores(self, u: Tensor, shared: Tensor) -> Tensor:
        """Rate each query's ranking of the others: (n,), 0 where nothing is relevant."""
        raise NotImplementedError

    def histograms(self, u: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        """Sum each of the weights (n, n) of items around each bin's distance: (n, bins + 1)."""
        distance = (self.bits - u @ u.T) / 2
        centres = torch.linspace(0, self.bits, self.bins + 1, dtype=u.dtype, device=u.device)
        gap = (distance[:, :, None] - centres).abs() * self.bins / self.bits
        pulses = (1 - gap).clamp_min(0)
        return (torch.stack(weights, dim=1) @ pulses).unbind(dim=1)


class TieAwareAP(TALR):
    """Tie-aware average precision of the batch, as a differentiable function of distances."""

    def scores(self, u: Tensor, shared: Tensor) -> Tensor:
        """AP of each query; what is relevant shares a label."""
        relevant = (shared > 0).to(u.dtype)
        size, hits = self.histograms(u, _others(u), relevant)
        before, hits_before = _before(size), _before(hits)
        slope = (hits - 1).clamp_min(0) / (size - 1).clamp_min(1)
        reciprocal = mean_over_ranks(1 / _ranks(u), before, size)
        precision = slope + (hits_before + 1 - slope * (before + 1)) * reciprocal
        return (hits * precision).sum(dim=1) / relevant.sum(dim=1).clamp(min=1)


class TieAwareNDCG(TALR):
    """Tie-aware NDCG of the batch, its gain the labels shared, as a function of distances."""

    def scores(self, u: Tensor, shared: Tensor) -> Tensor:
        """NDCG of each query; the gain of an item is 2^r − 1."""
        gain = torch.exp2(shared) - 1
        size, gains = self.histograms(u, _others(u), gain)
        discounts = 1 / torch.log2(1 + _ranks(u))
        dcg = (gains * mean_over_ranks(discounts, _before(size), size)).sum(dim=1)
        best = gain.sort(dim=1, descending=True).values @ discounts
        return dcg / best.clamp(min=1)


def mean_over_ranks(values: Tensor, before: Tensor, size: Tensor) -> Tensor:
    """Average a value of each rank over the ranks of groups that come after so many items.

    >>> mean_over_ranks(torch.tensor([1.0, 0.5, 0.25]), torch.tensor([1.0]), torch.tensor([2.0]))
    tensor([0.3750])
    """
    span = running_sum(values, before + size) - running_sum(values, before)
    return span / size.clamp_min(SMALLEST)


def running_sum(values: Tensor, count: Tensor) -> Tensor:
    """Sum the first `count` values, counts between integers interpolated.

    >>> running_sum(torch.tensor([1.0, 0.5, 0.25]), torch.tensor([0.0, 1.0, 1.5, 3.0]))
    tensor([0.0000, 1.0000, 1.2500, 1.7500])
    """
    whole = count.detach().floor().clamp(0, len(values) - 1).long()
    return (values.cumsum(0) - values)[whole] + (count - whole) * values[whole]


def _ranks(u: Tensor) -> Tensor:
    return torch.arange(1, len(u) + 1, dtype=u.dtype, device=u.device)


def _others(u: Tensor) -> Tensor:
    return 1 - torch.eye(len(u), dtype=u.dtype, device=u.device)


def _before(counts: Tensor) -> Tensor:
    return counts.cumsum(dim=1) - counts


METHODS = {"talr-ap": TieAwareAP, "talr-ndcg": TieAwareNDCG}
