"""All items within a Hamming radius of a query: a ball has no order, and so no ties.

For a radius r a report gets, with means over the queries,

- `precision@rR`: the share of the ball that is relevant, 0 where the ball is empty;
- `recall@rR`: the share of all relevant items that is in the ball, 0 where there are none;
- `empty@rR`: the share of queries whose ball is empty.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from softhash.errors import UsageError
from softhash.evaluation.rankings import Floats

EMPTY_BALL = "a query with nothing within the radius has precision 0 there"


def within_radii(counts: Any, radii: Sequence[int]) -> dict[str, Floats]:
    """Measure the balls of each query, one value per query.

    Args:
        counts: (queries, distances, levels), how many items at each distance have gain 0, 1, 2, …,
            as an array or a tensor.
        radii: Hamming distances.

    >>> counts = np.array([[[0, 0], [1, 3], [5, 1]]])  # nothing at distance 0, four items at 1
    >>> {name: float(value[0]) for name, value in within_radii(counts, [1]).items()}
    {'precision@r1': 0.75, 'recall@r1': 0.75, 'empty@r1': 0.0}

    """
    if not radii:
        return {}
    found: dict[str, Floats] = {}
    totals = _sum_distances(counts)
    for radius in dict.fromkeys(radii):
        ball = _sum_distances(counts[:, : radius + 1])
        items, hits = ball.sum(axis=1), ball[:, 1:].sum(axis=1)
        found[f"precision@r{radius}"] = hits / np.maximum(items, 1.0)
        found[f"recall@r{radius}"] = hits / np.maximum(totals[:, 1:].sum(axis=1), 1.0)
        found[f"empty@r{radius}"] = (items == 0).astype(np.float64)
    return found


def check_radii(radii: Sequence[int]) -> None:
    """Refuse what is not a Hamming distance."""
    for radius in radii:
        if not isinstance(radius, int | np.integer) or radius < 0:
            raise UsageError(f"radius '{radius}' is not a Hamming distance", "give such as 2")


def radius_contract(radii: Sequence[int]) -> Mapping[str, Any]:
    """Return what a contract says about radii; nothing where there are none."""
    if not radii:
        return {}
    return {"radii": [int(radius) for radius in dict.fromkeys(radii)], "empty_ball": EMPTY_BALL}


def _sum_distances(counts: Any) -> Floats:
    """Sum counts over the distances: (queries, levels)."""
    sums = counts.sum(1)
    return np.asarray(sums.cpu().numpy() if hasattr(sums, "cpu") else sums, np.float64)
