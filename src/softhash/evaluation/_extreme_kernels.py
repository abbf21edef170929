"""The best and the worst order of tied items, walked along counts of items; compiled.

Inside a group that is wholly counted, gains in descending order are the best for every metric, and
in ascending order the worst. Of the group that a cut-off splits, average precision depends on how
many hits make the cut, for it is divided by their number: every number is tried.
"""

import numpy as np
import numpy.typing as npt

from softhash._kernels import kernel

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@kernel
def extreme_sums(counts: Integers, n: int, best: bool, discounts: Floats) -> Floats:
    """Sum over the first n of each query, gains in order inside each group: relevant, gain, DCG.

    ``discounts`` has the summed discounts of the first 0, 1, 2, … ranks.
    """
    queries, groups, levels = counts.shape
    sums = np.zeros((queries, 3))
    for query in range(queries):
        place = 0
        for group in range(groups):
            for step in range(levels):
                gain = levels - 1 - step if best else step
                count = min(counts[query, group, gain], n - place)
                if gain > 0 and count > 0:
                    sums[query, 0] += count
                    sums[query, 1] += gain * count
                    discount = discounts[place + count] - discounts[place]
                    sums[query, 2] += (2.0**gain - 1) * discount
                place += count
    return sums


@kernel
def extreme_averages(
    counts: Integers, n: int, best: bool, weighted: bool, harmonic: Floats
) -> Floats:
    """Average (gain so far)/rank at the relevant items of the first n; unweighted, gains are 1."""
    queries, groups, _ = counts.shape
    averages = np.zeros(queries)
    for query in range(queries):
        place, hits, gained, summed = 0, 0, 0, 0.0
        for group in range(groups):
            levels = counts[query, group]
            size = levels.sum()
            if place + size >= n:
                averages[query] = _extreme_average(
                    levels, n - place, best, weighted, hits, gained, summed, place, harmonic
                )
                break
            found = size - levels[0]
            start = place if best else place + levels[0]
            summed += _sum_at_hits(levels, found, best, weighted, gained, start, harmonic)
            hits += found
            for gain in range(1, len(levels)):
                gained += levels[gain] * (gain if weighted else 1)
            place += size
    return averages


@kernel
def _extreme_average(
    levels: Integers,
    kept: int,
    best: bool,
    weighted: bool,
    hits: int,
    gained: int,
    summed: float,
    place: int,
    harmonic: Floats,
) -> float:
    """Return the extreme average over all numbers of hits that ``kept`` items may have."""
    misses = levels[0]
    low, high = max(0, kept - misses), min(levels.sum() - misses, kept)
    extreme = -1.0
    for found in range(low, high + 1):
        start = place if best else place + kept - found
        total = summed + _sum_at_hits(levels, found, best, weighted, gained, start, harmonic)
        average = total / max(1, hits + found)
        if extreme < 0 or (average > extreme) == best:
            extreme = average
    return extreme


@kernel
def _sum_at_hits(
    levels: Integers,
    found: int,
    best: bool,
    weighted: bool,
    gained: int,
    place: int,
    harmonic: Floats,
) -> float:
    """Sum (gain so far)/rank at ``found`` hits in a row, those of the largest or smallest gains.

    A run of c hits of gain g behind ``place`` items adds Σ (G + g·j)/(place + j), j = 1 … c, which
    is g·c + (G − g·place) · Σ 1/(place + j).
    """
    total = 0.0
    for step in range(1, len(levels)):
        level = len(levels) - step if best else step
        count = min(levels[level], found)
        if count > 0:
            gain = level if weighted else 1
            reciprocals = harmonic[place + count] - harmonic[place]
            total += gain * count + (gained - gain * place) * reciprocals
            gained += gain * count
            place += count
            found -= count
    return total
