"""Tie-aware AP and NDCG of rankings by distance, made differentiable as TALR does (see `talr`).

Items are counted in groups around evenly spaced distances, an item that lies between two in both,
by shares. Soft counts are not integers: sums over ranks are interpolated between integers, and the
slope of hits within a group, (c⁺ − 1)/(c − 1), is [c⁺ − 1]₊/max(c − 1, 1). Both are exact at
integers, so that for binary codes and a group for each distance these are the metrics themselves.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

SMALLEST = 1e-3  # fewer (soft) items than this are none: their mean would be rounding errors


def default_bins(bits: int) -> int:
    """Return TALR's number of bins: one for every distance of short codes, half as many of long.

    >>> default_bins(16), default_bins(48)
    (16, 24)
    """
    return bits // 2 if bits >= 32 else bits


def histograms(distance: Tensor, bits: int, bins: int, *weights: Tensor) -> tuple[Tensor, ...]:
    """Sum each of the weights (n, m) of items around each bin's distance: (n, bins + 1).

    Args:
        distance: of items from queries (n, m).
        bits: the largest distance.
        bins: intervals between 0 and that.
        weights: of items, (n, m) each.

    >>> distance = torch.tensor([[0.0, 1.0, 3.0]])
    >>> histograms(distance, 4, 2, torch.tensor([[1.0, 1.0, 10.0]]))
    (tensor([[1.5000, 5.5000, 5.0000]]),)

    """
    place = distance * (bins / bits)
    below = place.detach().floor().clamp(0, bins - 1)
    share, group = place - below, _indices(below)
    parts = [part for weight in weights for part in (weight * (1 - share), weight * share)]
    sums = _sum_by_group(torch.stack(parts, dim=1), group, bins)
    low, high = pad(sums[:, ::2], (0, 1)), pad(sums[:, 1::2], (1, 0))
    return tuple((low + high).unbind(dim=1))


def _sum_by_group(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """Add up the values (n, k, m) of items by group (n, m): (n, k, groups).

    A GPU multiplies by the matrix of who is in which group. That adds up in one order, where
    `scatter_add` takes any, so that a seed gives one model.
    """
    if not values.is_cuda:
        sums = values.new_zeros(*values.shape[:2], groups)
        return sums.scatter_add(2, group.unsqueeze(1).expand_as(values), values)
    return values @ members(group, groups).to(values.dtype)


def members(group: Tensor, groups: int) -> Tensor:
    """Return who is in which group, as a matrix for each query (n, m, groups).

    >>> members(torch.tensor([[0, 2]]), 3).int()
    tensor([[[1, 0, 0],
             [0, 0, 1]]], dtype=torch.int32)
    """
    return group.unsqueeze(2) == torch.arange(groups, device=group.device)


def average_precision(size: Tensor, hits: Tensor, relevant: Tensor) -> Tensor:
    """AP of each query (n,).

    Args:
        size: items in each group (n, groups).
        hits: relevant items in each group (n, groups).
        relevant: weight of each item as a hit (n, m).

    """
    before, hits_before = _before(size), _before(hits)
    slope = (hits - 1).clamp_min(0) / (size - 1).clamp_min(1)
    reciprocal = mean_over_ranks(1 / _ranks(relevant), before, size)
    precision = slope + (hits_before + 1 - slope * (before + 1)) * reciprocal
    return (hits * precision).sum(dim=1) / relevant.sum(dim=1).clamp_min(SMALLEST)


def ndcg(size: Tensor, gains: Tensor, gain: Tensor, best: Tensor | None = None) -> Tensor:
    """NDCG of each query (n,).

    Args:
        size: items in each group (n, groups).
        gains: sum of gains in each group (n, groups).
        gain: of each item (n, m).
        best: what `best_dcg` returns for the gains, where it is known already.

    """
    dcg = (gains * mean_over_ranks(_discounts(gain), _before(size), size)).sum(dim=1)
    best = best_dcg(gain) if best is None else best
    return dcg / best.clamp_min(SMALLEST)


def best_dcg(gain: Tensor) -> Tensor:
    """DCG (n,) of the best rankings there are of items with these gains (n, m)."""
    return gain.sort(dim=1, descending=True).values @ _discounts(gain)


def mean_over_ranks(values: Tensor, before: Tensor, size: Tensor) -> Tensor:
    """Average a value of each rank over the ranks of groups.

    Args:
        values: of ranks 1, 2, …
        before: items in front of a group.
        size: items in the group.

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
    whole = _indices(count.detach().floor().clamp(0, len(values) - 1))
    return (values.cumsum(0) - values)[whole] + (count - whole) * values[whole]


def _indices(places: Tensor) -> Tensor:
    """Return places as integers; what is not a number stays so in the loss, and is no index."""
    return places.nan_to_num(0).long()


def _ranks(items: Tensor) -> Tensor:
    return torch.arange(1, items.shape[1] + 1, dtype=items.dtype, device=items.device)


def _discounts(items: Tensor) -> Tensor:
    return 1 / torch.log2(1 + _ranks(items))


def _before(counts: Tensor) -> Tensor:
    return counts.cumsum(dim=1) - counts
