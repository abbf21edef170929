"""All orders of tied items, and the metrics of one order as the paper prints them."""

from itertools import permutations, product
from math import log2

import numpy as np
from hypothesis import strategies as st

# Items as (distance, gain).
rankings = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=7)


def by_definition(gains, n):
    """The paper's equations, for one ranking, as they are printed."""
    top = gains[:n]
    relevant = [i for i, gain in enumerate(top, 1) if gain > 0]
    best = sorted(gains, reverse=True)[:n]

    def dcg(ranked):
        return sum((2**gain - 1) / log2(1 + i) for i, gain in enumerate(ranked, 1))

    def mean(values):
        return sum(values) / len(values) if values else 0.0

    return {
        "map": mean([sum(gain > 0 for gain in top[:i]) / i for i in relevant]),
        "wap": mean([sum(top[:i]) / i for i in relevant]),
        "acg": sum(top) / n,
        "ndcg": dcg(top) / dcg(best) if dcg(best) else 0.0,
        "precision": len(relevant) / n,
        "recall": len(relevant) / max(1, sum(gain > 0 for gain in gains)),
    }


def all_orders(items):
    """Yield the gains of every ranking in which only items at equal distance trade places."""
    groups = [[g for d, g in items if d == distance] for distance in sorted({d for d, _ in items})]
    for parts in product(*(permutations(group) for group in groups)):
        yield [gain for part in parts for gain in part]


def counts_of(items, distances=4, levels=5):
    counts = np.zeros((1, distances, levels), int)
    for distance, gain in items:
        counts[0, distance, gain] += 1
    return counts
