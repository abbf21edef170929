"""The two loops under the metrics that numpy cannot express, compiled."""

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
    size: Floats, hits: Floats, drawn: npt.NDArray[np.int64], before: Floats
) -> tuple[Floats, Floats]:
    """Mean of 1/(before + K) for hypergeometric K, and the chance that before + K is above 0."""
    means, some = np.empty(len(size)), np.empty(len(size))
    for i in range(len(size)):
        means[i], some[i] = _mean_reciprocal(size[i], hits[i], float(drawn[i]), before[i])
    return means, some


@kernel
def running_sums(gains: npt.NDArray[np.uint16], discounts: Floats) -> Floats:
    """Sum over each query's ranking, in order: relevant, gain, DCG, Σ precision, Σ mean gain.

    The last two are summed at the relevant items, as average precision and its weighted form do.
    """
    sums = np.zeros((len(gains), 5))
    exponential = 2.0 ** np.arange(gains.max() + 1 if gains.size else 1) - 1
    for query in range(len(gains)):
        relevant, gained, dcg, precision, mean_gain = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(gains.shape[1]):
            gain = gains[query, i]
            if gain > 0:
                relevant += 1
                gained += gain
                dcg += exponential[gain] * discounts[i]
                precision += relevant / (i + 1)
                mean_gain += gained / (i + 1)
        sums[query] = np.array((relevant, gained, dcg, precision, mean_gain))
    return sums
