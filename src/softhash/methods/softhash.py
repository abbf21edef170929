"""softhash: our own method, and the default.

What the comparison of the others taught (docs/method.md tells it at length): a loss that is the
metric itself beats losses on pairs; what AP is blind to, how many labels are shared, NDCG sees; and
a batch is a poor sample of a collection, since it has one picture or none of most classes.

So each class has an anchor, a code that is learned with the network. Pictures of the batch and
anchors make up one list, and each of them is a query that ranks all others by distance; an anchor
counts as a picture with that one label. With AP and NDCG tie-aware, as TALR has them (`_listwise`),

    L = 1 − mean over queries of (1 − g)·AP + g·NDCG,  u = tanh(·), anchors = tanh(a).

Labels are believed by half. What is ranked are expected numbers of shared labels, y̆·y̆, of

    y̆ = (1 − d)·y + d·ŷ,

where ŷ is what all other pictures of the train set, by their features, make one expect
(`_foretelling`). A label that nothing in a picture speaks for is not worth twisting a code for, and
one that is missing from a picture full of signs of it was perhaps forgotten. An item is relevant by
min(1, y̆·y̆), and its gain 2^(y̆·y̆) − 1; for d = 0 these are what the metrics have.

A query with nothing relevant in its list does not count. With many classes anchors would crowd out
the pictures, so together they weigh at most half as much as these: each counts as so much of an
item, and of a query.

Settings (g = 0.5, d = 0.5, bins as TALR's) and those of training (`softhash.recipe`; fine-tuned, a
teacher is one of them, `softhash.teaching`) were chosen on validation parts of VOC2012's train set,
the half, and batches of 256 for frozen features, also on drawn `scenes` and made-up features of the
labels of IAPR TC-12 (291 classes) and COCO (80). Checked against float64 loops, and gradients by
finite differences.
"""

import torch
from torch import Tensor, nn

from softhash.methods._base import Method
from softhash.methods._foretelling import foretell
from softhash.methods._listwise import average_precision, histograms, ndcg

ANCHOR_STD = 0.5  # before tanh: anchors start between the corners of the cube, well apart
SOME = 1e-6  # queries to divide by, where there are none
LITTLE = 1e-3  # fewer expected shared labels than this are none
MOST = 0.5  # of the pictures' weight, that all anchors have together


class SoftHash(Method):
    """AP and NDCG of rankings of the batch and of learned class anchors, maximised as they are."""

    activation = "tanh"
    believed: Tensor | None

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        grades: float = 0.5,
        anchors: bool = True,
        doubt: float = 0.5,
        bins: int | None = None,
    ) -> None:
        super().__init__(bits, classes)
        self.grades = grades
        self.anchors = anchors
        self.doubt = doubt
        self.bins = (bits // 2 if bits >= 32 else bits) if bins is None else bins
        if not 1 <= self.bins <= bits:
            raise ValueError(f"bins is {bins}; give 1 to {bits}, as many as there are bits")
        if not 0 <= grades <= 1:
            raise ValueError(f"grades is {grades}; give the share of NDCG, 0 to 1")
        if not 0 <= doubt <= 1:
            raise ValueError(f"doubt is {doubt}; give the share of what is foretold, 0 to 1")
        places = torch.randn(classes if anchors else 0, bits) * ANCHOR_STD
        self.places = nn.Parameter(places, requires_grad=anchors)
        self.register_buffer("believed", None, persistent=False)

    def study(self, features: Tensor, labels: Tensor) -> None:
        """Find out which labels to believe."""
        if self.doubt:
            self.believed = torch.lerp(labels.float(), foretell(features, labels), self.doubt)

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """L, of a list of pictures and anchors that rank each other."""
        y = (labels if self.believed is None else self.believed[index]).to(u.dtype)
        own = torch.eye(self.classes, dtype=u.dtype, device=u.device)[: len(self.places)]
        v, y = torch.cat([u, torch.tanh(self.places.to(u.dtype))]), torch.cat([y, own])
        weight = torch.cat([u.new_ones(len(u)), self._weights(u)])
        shared = (y @ y.T).fill_diagonal_(0)
        judged = (shared > LITTLE).any(dim=1) * weight
        return ((1 - self.scores(v, shared, weight)) * judged).sum() / judged.sum().clamp(min=SOME)

    def _weights(self, u: Tensor) -> Tensor:
        """How much of an item each anchor is."""
        count = len(self.places)
        return u.new_full((count,), min(1.0, MOST * len(u) / max(count, 1)))

    def scores(self, v: Tensor, shared: Tensor, weight: Tensor) -> Tensor:
        """(1 − g)·AP + g·NDCG of each query's ranking of the others, which have weights (n,)."""
        others = (1 - torch.eye(len(v), dtype=v.dtype, device=v.device)) * weight
        relevant, gain = shared.clamp(max=1) * weight, (torch.exp2(shared) - 1) * weight
        distance = (self.bits - v @ v.T) / 2
        size, hits, gains = histograms(distance, self.bits, self.bins, others, relevant, gain)
        precision = average_precision(size, hits, relevant)
        return (1 - self.grades) * precision + self.grades * ndcg(size, gains, gain)


METHODS = {"softhash": SoftHash}
