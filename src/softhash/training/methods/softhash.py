"""softhash: our own method, and the default.

The loss is the metric itself. Pictures of the batch and learned *class anchors* form one list, and
each of them is a query that ranks all others by distance; an anchor counts as a picture with that
one label. With tie-aware AP and NDCG, made differentiable as in TALR (`_listwise`),

    L = 1 − mean over queries of (1 − g)·AP + g·NDCG,  u = tanh(·), anchors = tanh(a).

AP does not see how many labels are shared, NDCG does.
Anchors are there because a batch is a poor sample of a collection: it has one picture or none of
most classes.

Long codes are nested, so that one model serves for every length: where there are shorter `lengths`,
each query ranks twice, by all q bits and by the first k alone. The lengths take turns: query i has
the one at i mod their number, which costs a fraction of asking every query for each, and the codes
are as good. Half of the score is that of the whole code.

A hidden layer that is trained on labels forgets what they do not say. A linear path beside it
(`skip_dropout`, see `softhash.model.heads`) keeps that, and with it the order of the first hits.

Labels are soft: what is ranked by are expected numbers of shared labels, ỹ·ỹ, of

    ỹ = (1 − ε)·y + ε·ŷ,

where ŷ are leave-one-out predictions from the features of all other pictures
(`_label_estimates`). A label that the picture's features do not support weighs less, and a missing
one that they support weighs something. The relevance of an item is min(1, ỹ·ỹ), its gain
2^(ỹ·ỹ) − 1; for ε = 0 these are the metrics' own.

A query without any relevant item does not count. All anchors together weigh at most half as much as
the pictures, as items and as queries, so that many classes do not crowd out the batch.

Settings (g = 0.5, ε = 0.5, bins as TALR's, lengths) and `defaults` were chosen on parts of the
train sets of VOC2012, IAPR TC-12 and COCO that were held out as queries; dropout, batch size and
epochs on VOC2012's alone. docs/why/method.md explains each part and what it brings. Checked against
float64 loops; gradients by finite differences.
"""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from softhash.training.methods._label_estimates import label_estimates
from softhash.training.methods._listwise import (
    average_precision,
    best_dcg,
    default_bins,
    histograms,
    ndcg,
)
from softhash.training.methods.method import Defaults, Line, Method

ANCHOR_STD = 0.5  # before tanh: anchors start between the corners of the cube, well apart
EPSILON = 1e-6
MIN_SHARED = 1e-3  # expected shared labels below which an item is not relevant
NESTED = (16, 32, 48, 64, 128)  # shorter lengths of codes that are longer than the last but one
MAX_ANCHOR_SHARE = 0.5  # weight of all anchors together, relative to the pictures of the batch


class SoftHash(Method):
    """AP and NDCG of rankings of the batch and of learned class anchors, maximised directly."""

    name, title, order = "softhash", "softhash", 0
    line = Line("#000000", "-", "*", bold=True)
    defaults: ClassVar[Defaults] = {
        "frozen": {"dropout": 0.7, "skip_dropout": 0.6, "batch_size": 256, "epochs": 80},
        "finetune": {
            "dropout": 0.7,
            "skip_dropout": 0.6,
            "epochs": 40,
            "augment": True,
            "teacher_zoom": 1.27,
            "average": 0.998,
        },
    }
    activation = "tanh"
    soft_labels: Tensor | None

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        ndcg_weight: float = 0.5,
        lengths: Sequence[int] | None = None,
        anchors: bool = True,
        label_smoothing: float = 0.5,
        bins: int | None = None,
    ) -> None:
        super().__init__(bits, classes)
        self.ndcg_weight = ndcg_weight
        self.anchors = anchors
        self.label_smoothing = label_smoothing
        if lengths is None:  # whoever asks for a short code wants that one
            lengths = NESTED if bits > NESTED[-2] else ()
        if any(type(k) is not int or k < 1 for k in lengths):
            raise ValueError(f"lengths is {lengths}; give numbers of bits")
        self.lengths = (*sorted({k for k in lengths if k < bits}), bits)
        self.bins = bins
        if bins is not None and not 1 <= bins <= bits:
            raise ValueError(f"bins is {bins}; give 1 to {bits}, as many as there are bits")
        for name in ("ndcg_weight", "label_smoothing"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}; give a share from 0 to 1")
        places = torch.randn(classes if anchors else 0, bits) * ANCHOR_STD
        self.places = nn.Parameter(places, requires_grad=anchors)
        self.register_buffer("soft_labels", None, persistent=False)

    def study(self, features: Tensor, labels: Tensor) -> None:
        """Compute the soft labels ỹ of the train set."""
        if self.label_smoothing:
            estimates = label_estimates(features, labels)
            self.soft_labels = torch.lerp(labels.float(), estimates, self.label_smoothing)

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """L, of a list of pictures and anchors that rank each other."""
        y = (labels if self.soft_labels is None else self.soft_labels[index]).to(u.dtype)
        own = torch.eye(self.classes, dtype=u.dtype, device=u.device)[: len(self.places)]
        v, y = torch.cat([u, torch.tanh(self.places.to(u.dtype))]), torch.cat([y, own])
        weight = torch.cat([u.new_ones(len(u)), self._anchor_weights(u)])
        shared = (y @ y.T).fill_diagonal_(0)
        judged = (shared > MIN_SHARED).any(dim=1) * weight
        missed = (1 - self.scores(v, shared, weight)) * judged
        return missed.sum() / judged.sum().clamp(min=EPSILON)

    def _anchor_weights(self, u: Tensor) -> Tensor:
        """Return the weight of each anchor, as an item and as a query."""
        count = len(self.places)
        return u.new_full((count,), min(1.0, MAX_ANCHOR_SHARE * len(u) / max(count, 1)))

    def scores(self, v: Tensor, shared: Tensor, weight: Tensor) -> Tensor:
        """(1 − g)·AP + g·NDCG of each query's rankings of the others, by all bits and by fewer.

        Args:
            v: outputs of pictures and anchors (n, bits).
            shared: expected numbers of shared labels (n, n).
            weight: of each of them as an item (n,).

        """
        g, others = self.ndcg_weight, (1 - torch.eye(len(v), dtype=v.dtype, device=v.device))
        items = others * weight
        relevance, gain = shared.clamp(max=1) * weight, (torch.exp2(shared) - 1) * weight
        best = best_dcg(gain)

        def score(length: int, queries: slice) -> Tensor:
            first, bins = v[:, :length], min(length, self.bins or default_bins(length))
            distance = (length - first[queries] @ first.T) / 2
            hit, won = relevance[queries], gain[queries]
            size, hits, gains = histograms(distance, length, bins, items[queries], hit, won)
            precision = average_precision(size, hits, hit)
            return (1 - g) * precision + g * ndcg(size, gains, won, best[queries])

        *shorter, whole = self.lengths
        by_all = score(whole, slice(None))
        if not shorter:
            return by_all
        turns = [slice(turn, None, len(shorter)) for turn in range(len(shorter))]
        by_fewer = [score(length, turn) for length, turn in zip(shorter, turns, strict=True)]
        place = torch.arange(len(v), device=v.device)
        order = torch.cat([place[turn] for turn in turns]).argsort()
        return (by_all + torch.cat(by_fewer)[order]) / 2
