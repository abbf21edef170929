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

Soft counts are not integers. The paper puts an integral for the sum over t, and its authors' code a
simpler form still, which they found no worse; `_listwise` describes the form used here, which is
the metric itself for binary u and one bin per distance.

Settings are the authors' for NUS-WIDE: half as many bins as bits from 32 bits on (we keep a bin for
each distance below that, as their defaults do), no annealing; they take batches of 256 pictures. At
48 bits, AP did better with 24 bins than with 48 on a validation part of VOC2012's train set.

Checked on binary codes against `evaluate_codes`, and gradients by finite differences.
"""

import torch
from torch import Tensor

from softhash.training.methods._listwise import average_precision, default_bins, histograms, ndcg
from softhash.training.methods.losses import shared_labels
from softhash.training.methods.method import Line, Method


class TALR(Method):
    """What the two objectives share: who is ranked at what distance."""

    activation = "tanh"

    def __init__(self, bits: int, classes: int, *, bins: int | None = None) -> None:
        super().__init__(bits, classes)
        self.bins = default_bins(bits) if bins is None else bins
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

    def histograms(self, u: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
        """Count the other items of each group, and sum their weights (n, n): (n, bins + 1) each."""
        others = 1 - torch.eye(len(u), dtype=u.dtype, device=u.device)
        return histograms((self.bits - u @ u.T) / 2, self.bits, self.bins, others, weight)


class TieAwareAP(TALR):
    """Tie-aware average precision of the batch, as a differentiable function of distances."""

    name, title, order = "talr-ap", "TALR-AP", 340
    line = Line("#009e73", ":", "v")

    def scores(self, u: Tensor, shared: Tensor) -> Tensor:
        """AP of each query; what is relevant shares a label."""
        relevant = (shared > 0).to(u.dtype)
        size, hits = self.histograms(u, relevant)
        return average_precision(size, hits, relevant)


class TieAwareNDCG(TALR):
    """Tie-aware NDCG of the batch, its gain the labels shared, as a function of distances."""

    name, title, order = "talr-ndcg", "TALR-NDCG", 350
    line = Line("#cc79a7", ":", "<")

    def scores(self, u: Tensor, shared: Tensor) -> Tensor:
        """NDCG of each query; the gain of an item is 2^r − 1."""
        gain = torch.exp2(shared) - 1
        size, gains = self.histograms(u, gain)
        return ndcg(size, gains, gain)
