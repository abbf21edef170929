"""BRE: Kulis, Darrell, Learning to Hash with Binary Reconstructive Embeddings, 2009.

b_p = sign(Σ_s W_ps k_s(x)), k the similarities to anchors. Over chosen pairs, Hamming distances
are to reconstruct given ones: minimise Σ (d_ij − ‖b_i − b_j‖²/4q)². One weight at a time is set to
its best value, exactly: each picture's bit flips at one threshold of that weight, so the objective
is constant between neighbouring thresholds, and one pass over them in order finds the best.

Supervised form of the paper, in multi-label terms: d is 0 where any label is shared, otherwise 1.
Pairs: for each of 1,000 pictures, 25 others that share a label and 25 that share none, drawn
by chance. Every bit has weights on 50 anchors, as in the paper, here drawn out of 300 that all bits
share; the first weights are random. The kernel is that of KSH: Gaussian, less its means.

From memory of the paper: number of pictures and pairs, and that it goes over all weights of a bit
in a random order, a few times (`sweeps`).

Checked: the objective against a loop over pairs; the line search against a dense scan of values;
no step raises the objective.
"""

import torch
from torch import Tensor

from softhash.model.heads import Head
from softhash.training.methods._anchors import KernelMethod, place_anchors
from softhash.training.methods._directions import drawn, normal, set_output, signs
from softhash.training.methods.losses import label_overlap
from softhash.training.methods.method import Line

ROUNDING = 1e-9  # a gain, or an interval between thresholds, that is none
TINY = 1e-30  # instead of a similarity of 0, whose threshold would be nowhere


class BRE(KernelMethod):
    """Kernel codes whose Hamming distances reconstruct given ones, weight by weight."""

    name, title, order = "bre", "BRE", 520
    line = Line("#0072b2", "-.", "d")

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        anchors: int = 300,
        anchors_per_bit: int = 50,
        labelled: int = 1000,
        pairs: int = 25,
        sweeps: int = 3,
    ) -> None:
        super().__init__(bits, classes)
        self.anchors = anchors
        self.anchors_per_bit = anchors_per_bit
        self.labelled = labelled
        self.pairs = pairs
        self.sweeps = sweeps

    @torch.no_grad()
    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Place the anchors, then go over all weights a few times."""
        used = place_anchors(head, features)
        chosen = drawn(self.labelled, len(features), features)
        k = head.lifted(features[chosen]).double()
        fit = Embedding(k, *draw_pairs(labels[chosen], self.pairs), self.bits)
        mine = [drawn(self.anchors_per_bit, used, k) for _ in range(self.bits)]
        for bit, anchors in enumerate(mine):
            fit.weight[bit, anchors] = normal(1, len(anchors), like=k)[0]
        fit.refresh()
        for _ in range(self.sweeps):
            for bit in torch.randperm(self.bits).tolist():
                for position in torch.randperm(len(mine[bit])).tolist():
                    fit.improve(bit, int(mine[bit][position]))
        set_output(head, fit.weight)


def draw_pairs(labels: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Draw for each picture at most so many that share a label, and as many that share none.

    Return positions (2, pairs), and the distance of each pair, 0 or 1.
    """
    shared = label_overlap(labels)
    chance = torch.rand(shared.shape).to(shared.device)
    pairs, distances = [], []
    for distance, wanted in ((0.0, shared > 0), (1.0, shared == 0)):
        wanted = wanted.fill_diagonal_(False)
        nearest = torch.where(wanted, chance, 2.0).topk(min(count, len(shared)), largest=False)
        rows, columns = (nearest.values <= 1).nonzero(as_tuple=True)
        pairs.append(torch.stack([rows, nearest.indices[rows, columns]]))
        distances.append(torch.full_like(rows, distance, dtype=torch.float64))
    return torch.cat(pairs, 1), torch.cat(distances)


class Embedding:
    """Weights (bits, m) on kernel features k (n, m), and what they make of the pairs."""

    def __init__(self, k: Tensor, pairs: Tensor, distances: Tensor, bits: int) -> None:
        self.k = k
        self.first, self.second = pairs
        self.distances = distances
        self.weight = k.new_zeros(bits, k.shape[1])
        self.refresh()

    def refresh(self) -> None:
        """Compute outputs (n, bits) and the gaps of the pairs from the weights."""
        self.outputs = self.k @ self.weight.T
        b = signs(self.outputs)
        apart = (b[self.first] != b[self.second]).double().mean(dim=1)
        self.gaps = self.distances - apart

    def objective(self) -> Tensor:
        """Σ (d_ij − ‖b_i − b_j‖²/4q)² over the pairs."""
        return self.gaps.square().sum()

    def improve(self, bit: int, anchor: int) -> None:
        """Set one weight to the best value there is, if that is better than the present one."""
        column, outputs = self.k[:, anchor], self.outputs[:, bit]
        rest = outputs - self.weight[bit, anchor] * column
        others = self.gaps + self._apart(outputs)
        value = self._best(column, rest, others)
        outputs = rest + value * column
        gaps = others - self._apart(outputs)
        if gaps.square().sum() < self.objective() - ROUNDING:
            self.weight[bit, anchor] = value
            self.outputs[:, bit] = outputs
            self.gaps = gaps

    def _apart(self, outputs: Tensor) -> Tensor:
        """Compute what a bit with these outputs (n,) adds to the pairs' distances."""
        on = outputs > 0
        return (on[self.first] != on[self.second]).double() / len(self.weight)

    def _best(self, column: Tensor, rest: Tensor, others: Tensor) -> Tensor:
        """Find the best weight of a column (n,), given the rest (n,) of the bit's output.

        The weight rises from −∞. Each picture flips at a threshold, and a pair's bits are the other
        way round (apart or not) while one of its pictures has flipped and the other has not.
        """
        thresholds, order = (-rest / torch.where(column == 0, TINY, column)).sort(stable=True)
        place = order.argsort()
        one, two = place[self.first], place[self.second]
        start = self._apart(-column)
        flipped = 1 / len(self.weight) - start
        change = (others - flipped).square() - (others - start).square()
        rise = torch.bincount(torch.minimum(one, two), change, len(column))
        fall = torch.bincount(torch.maximum(one, two), change, len(column))
        heights = torch.cat([change.new_zeros(1), (rise - fall).cumsum(0)])
        edges = torch.cat([thresholds[:1] - 1, thresholds, thresholds[-1:] + 1])
        heights[edges.diff() < ROUNDING] = torch.inf
        best = heights.argmin()
        return (edges[best] + edges[best + 1]) / 2
