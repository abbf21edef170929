"""All triplets of a batch, for the methods that learn from (anchor, i, j).

Picture i shares more labels with the anchor than j does; with one label per picture, these are the
usual positive and negative. All triplets are formed, by masks over (n, n, n): no sampling, so no
seed and the least noise, and shapes that depend on nothing but the batch, as a captured step needs.

A processor takes a few anchors at a time, as many as its cache holds, and their gradient with them:
a batch of 256 would have 64 MB per tensor. A GPU takes all at once.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from softhash.training.methods.losses import shared_labels

TRIPLETS = 1 << 18  # that a processor takes at a time, 1 MB per tensor; twice or half is no faster

Loss = Callable[[Tensor], Tensor]  # of each difference of scores


def hinge(margin: float) -> Loss:
    """Return [margin + x]₊ as a function of x.

    >>> hinge(1)(torch.tensor([-3.0, 0.5]))
    tensor([0.0000, 1.5000])
    """
    return lambda x: (margin + x).clamp_min(0)


def differences(values: Tensor) -> Tensor:
    """Take, for every anchor, the value of each second item from that of each first: (n, n, n).

    >>> differences(torch.tensor([[1.0, 5.0]]))
    tensor([[[ 0., -4.],
             [ 4.,  0.]]])
    """
    return values[:, :, None] - values[:, None, :]


def triplet_mean(loss: Loss, scores: Tensor, labels: Tensor, gains: Tensor | None = None) -> Tensor:
    """Average loss(s_ai − s_aj), first over the triplets of an anchor, then over anchors.

    Every anchor that has triplets counts the same, as every query does in MAP; without triplets
    the mean is 0.

    Args:
        loss: of a difference of scores.
        scores: s, of every two pictures.
        labels: of the batch.
        gains: g; triplets count as much as g_ai − g_aj, which is at least 1. All the same if none.

    >>> labels = torch.tensor([[1, 0], [1, 0], [0, 1]])  # of the triplets (0, 1, 2) and (1, 0, 2)
    >>> triplet_mean(torch.relu, torch.tensor([[0.0, 3, 1], [9, 0, 1], [1, 1, 0]]), labels)
    tensor(5.)

    """
    sums, totals = triplet_sums(loss, scores, labels, gains)
    return (sums / totals.clamp(min=1)).sum() / (totals > 0).sum().clamp(min=1)


def triplet_sums(
    loss: Loss, scores: Tensor, labels: Tensor, gains: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Sum loss(s_ai − s_aj) over the triplets of every anchor, and what they weigh: (n,) each.

    Takes what `triplet_mean` does.
    """
    ranks = shared_labels(labels).fill_diagonal_(torch.nan)  # more than nothing, and less than none
    known = (ranks,) if gains is None else (ranks, gains)
    if scores.is_cuda or scores.numel() * len(scores) <= TRIPLETS:
        return _sums(loss, scores, *known)
    sums, totals = _FewAnchors.apply(loss, scores, *known)  # type: ignore[no-untyped-call]
    return sums, totals


def _sums(
    loss: Loss, scores: Tensor, ranks: Tensor, gains: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    weights = ranks[:, :, None] > ranks[:, None, :]
    if gains is not None:
        weights = differences(gains) * weights
    return (loss(differences(scores)) * weights).sum(dim=(1, 2)), weights.sum(dim=(1, 2))


class _FewAnchors(torch.autograd.Function):
    """`_sums` of a few anchors at a time, with their gradient: nothing of (n, n, n) is kept."""

    @staticmethod
    def forward(ctx: Any, loss: Loss, scores: Tensor, *known: Tensor) -> tuple[Tensor, Tensor]:
        some = max(1, TRIPLETS // len(scores) ** 2)
        parts = []
        for rows, *others in zip(*(torch.split(of, some) for of in (scores, *known)), strict=True):
            with torch.enable_grad():
                own = rows.detach().requires_grad_()
                sums, totals = _sums(loss, own, *others)
                (slope,) = torch.autograd.grad(sums.sum(), own)
            parts.append((sums.detach(), totals, slope))
        sums, totals, slopes = (torch.cat(of) for of in zip(*parts, strict=True))
        ctx.save_for_backward(slopes)
        ctx.mark_non_differentiable(totals)
        return sums, totals

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (slopes,) = ctx.saved_tensors
        return None, gradients[0][:, None] * slopes, *(None for _ in ctx.needs_input_grad[2:])
