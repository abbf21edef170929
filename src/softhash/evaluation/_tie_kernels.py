"""The loops under the metrics that numpy cannot express, compiled."""

import numpy as np
import numpy.typing as npt

from softhash._kernels import kernel

Floats = npt.NDArray[np.float64]

NEGLIGIBLE = 1e-18  # chances smaller than that, beside the largest, cannot change a double


@kernel
def _mean_reciprocal(size: float, hits: float, drawn: float, before: float) -> tuple[float, float]:
    """Mean of 1/(before + K), 0 where that is 1/0, and the chance that before + K is above 0.

    K is the number of hits when ``drawn`` of ``size`` items, ``hits`` of them hits, are drawn
    without putting back. The sum starts at the likeliest K and goes out both ways.
    """
    low, high = max(0.0, drawn - (size - hits)), min(hits, drawn)
    mode = min(max(np.floor((drawn + 1) * (hits + 1) / (size + 2)), low), high)
    weights, reciprocals, none = 0.0, 0.0, 0.0
    for upwards in (True, False):
        k, weight = mode, 1.0
        while weight > NEGLIGIBLE:
            if upwards or k != mode:
                weights += weight
                if before + k > 0:
                    reciprocals += weight / (before + k)
                else:
                    none = weight
            if upwards:
                if k == high:
                    break
                weight *= (hits - k) * (drawn - k) / ((k + 1) * (size - hits - drawn + k + 1))
                k += 1
            else:
                if k == low:
                    break
                weight *= k * (size - hits - drawn + k) / ((hits - k + 1) * (drawn - k + 1))
                k -= 1
    return reciprocals / weights, 1.0 - none / weights


@kernel
def mean_reciprocal(
    size: Floats, hits: Floats, drawn: npt.NDArray[np.int64], before: Floats, found: Floats
) -> None:
    """Mean of 1/(before + K) for hypergeometric K, and the chance that before + K is above 0.

    ``found`` (n, 2) is filled with both.
    """
    for i in range(len(size)):
        found[i, 0], found[i, 1] = _mean_reciprocal(size[i], hits[i], float(drawn[i]), before[i])


@kernel
def sums_before(
    size: Floats,
    hits: Floats,
    gains: Floats,
    exponential: Floats,
    harmonic: Floats,
    discounts: Floats,
    items: npt.NDArray[np.int64],
    sums: Floats,
) -> None:
    """Sum over all groups before each: items, and hits, gains, DCG, Σ precision, Σ mean gain.

    Groups are (queries, groups), as are the ``items`` that are filled; the other sums are filled
    in as (queries, 5, groups). ``harmonic`` and ``discounts`` are sums over the first 0, 1, 2, …
    ranks. The last two sums are those of (gain of the first i)/i at each relevant item i, with gain
    1 for precision. To them a group that starts after A items with gain G, and has N items of which
    R are relevant with mean gain g, adds R/N · [(G + g)·H₁ + (R − 1)/(N − 1) · g·H₂] on average,
    where H₁ = Σ 1/(A + j) and H₂ = Σ (j − 1)/(A + j) for j = 1 … N: an item is relevant with chance
    R/N, and then each of the j − 1 items of the group before it with chance (R − 1)/(N − 1).
    """
    for query in range(len(size)):
        start, found, gained, dcg, precision, mean_gain = 0, 0.0, 0.0, 0.0, 0.0, 0.0
        for group in range(size.shape[1]):
            items[query, group] = start
            sums[query, 0, group], sums[query, 1, group] = found, gained
            sums[query, 2, group], sums[query, 3, group] = dcg, precision
            sums[query, 4, group] = mean_gain
            n, r, gain = size[query, group], hits[query, group], gains[query, group]
            end = start + int(n)
            if n > 0:
                dcg += exponential[query, group] * (discounts[end] - discounts[start]) / n
            if r > 0:
                h1 = harmonic[end] - harmonic[start]
                h2 = n - (start + 1) * h1
                share, others, g = r / n, (r - 1) / max(n - 1, 1.0) * h2, gain / r
                precision += share * ((found + 1.0) * h1 + others)
                mean_gain += share * ((gained + g) * h1 + others * g)
            start, found, gained = end, found + r, gained + gain


@kernel
def first_cut(start: npt.NDArray[np.int64], size: Floats, n: int) -> npt.NDArray[np.int64]:
    """Find each query's first group not wholly within the first n; the last one where all are."""
    cut = np.empty(len(size), np.int64)
    for query in range(len(size)):
        group = 0
        while group < size.shape[1] - 1 and start[query, group] + size[query, group] <= n:
            group += 1
        cut[query] = group
    return cut


@kernel
def running_sums(gains: npt.NDArray[np.uint16], n: int, discounts: Floats) -> Floats:
    """Sum over the first n of each ranking: relevant, gain, DCG, Σ precision, Σ mean gain.

    The last two are summed at the relevant items, as average precision and its weighted form do.
    """
    sums = np.zeros((len(gains), 5))
    exponential = 2.0 ** np.arange(gains.max() + 1 if gains.size else 1) - 1
    for query in range(len(gains)):
        relevant, gained, dcg, precision, mean_gain = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(min(n, gains.shape[1])):
            gain = gains[query, i]
            if gain > 0:
                relevant += 1
                gained += gain
                dcg += exponential[gain] * discounts[i]
                precision += relevant / (i + 1)
                mean_gain += gained / (i + 1)
        sums[query] = np.array((relevant, gained, dcg, precision, mean_gain))
    return sums
