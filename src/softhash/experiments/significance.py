"""Whether the best method of a column leads: a paired bootstrap over queries and over seeds.

In every replicate the queries are drawn with replacement, the same draw for all methods, and the
seeds of each method with replacement, for each method alone. A method is level with the best one
where the 95 % interval of their difference contains 0. Nothing corrects for the choice of the best
among many, so a lead is called rarely by chance, and a line behind the best more often.

Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13: percentile intervals.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from softhash.errors import InputError
from softhash.evaluation.rankings import Floats

REPLICATES = 10_000
SEED = 20_201  # of the generator: the same rows give the same numbers
TAIL = 0.025  # of replicates on each side of an interval
EPSILON = 1e-12  # rounding; differences this small are none
WORKING_BYTES = 1 << 25  # for draws of queries at a time; counting them takes three such arrays

Columns = Sequence[Mapping[str, Floats]]


@dataclass(frozen=True)
class Comparison:
    """A method beside the best one of its column.

    Attributes:
        best: the method with the highest mean.
        difference: mean of this method less that of the best; 0 for the best itself.
        low: lower end of the 95 % interval of the difference.
        high: upper end.
        p: share of replicates in which this method is not below the best.
        seeds: of this method.
        queries: that both were measured on.
        replicates: of the bootstrap.

    """

    best: str
    difference: float
    low: float
    high: float
    p: float
    seeds: int
    queries: int
    replicates: int

    @property
    def level(self) -> bool:
        """Whether the interval contains 0, so that the best does not lead."""
        return self.low <= EPSILON and self.high >= -EPSILON


def compare_methods(
    values: Mapping[str, Floats], *, replicates: int = REPLICATES
) -> dict[str, Comparison]:
    """Compare every method of one column with the best of them.

    Args:
        values: for each method (seeds, queries); numbers of seeds may differ.
        replicates: how many.

    Raises:
        InputError: methods were measured on different numbers of queries.

    >>> queries = np.linspace(0.0, 1.0, 50)[None]
    >>> found = compare_methods({"a": queries, "b": queries - 0.1, "c": queries[:, ::-1]})
    >>> found["b"].level, round(found["b"].high, 3), found["c"].level
    (False, -0.1, True)

    """
    return compare_columns([values], replicates=replicates)[0]


def compare_columns(
    columns: Columns, *, replicates: int = REPLICATES
) -> list[dict[str, Comparison]]:
    """Compare as `compare_methods` does in several columns, with the same draws of queries.

    Args:
        columns: for each column and method (seeds, queries); none is empty.
        replicates: how many.

    Raises:
        InputError: methods were measured on different numbers of queries.

    """
    blocks = [block for column in columns for block in column.values()]
    counts = sorted({block.shape[1] for block in blocks})
    if len(counts) > 1:
        raise InputError(
            f"methods were measured on {counts[0]:,} and on {counts[-1]:,} queries",
            "compare rows of one split",
        )
    table = np.concatenate(blocks).T  # (queries, seeds of all methods of all columns)
    drawn, generator = resampled_means(table, replicates), np.random.default_rng([SEED, 1])
    found, start = [], 0
    for column in columns:
        means = {}
        for name, block in column.items():
            means[name] = _over_seeds(drawn[:, start : start + len(block)], generator)
            start += len(block)
        found.append(_beside_best(column, means))
    return found


def resampled_means(table: Floats, replicates: int) -> Floats:
    """Average columns over queries that are drawn with replacement, the same for all columns.

    Args:
        table: (queries, columns).
        replicates: how many.

    Returns:
        (replicates, columns).

    """
    parts = [counts @ table for counts in draw_queries(len(table), replicates)]
    means: Floats = np.concatenate(parts) / len(table)
    return means


def draw_queries(queries: int, replicates: int) -> Iterator[Floats]:
    """Count how often each query is drawn, some replicates at a time: multinomial counts.

    Args:
        queries: how many there are, and how many are drawn.
        replicates: how many.

    Yields:
        (some replicates, queries), each row of which sums to the number of queries.

    """
    generator = np.random.default_rng([SEED, 0])
    at_once = max(1, WORKING_BYTES // (8 * queries))
    for start in range(0, replicates, at_once):
        rows = min(at_once, replicates - start)
        drawn = generator.integers(queries, size=(rows, queries))
        drawn += queries * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * queries)
        yield counts.reshape(rows, queries).astype(np.float64)


def _over_seeds(means: Floats, generator: np.random.Generator) -> Floats:
    """Average over seeds drawn with replacement; a single seed is taken as it is."""
    replicates, seeds = means.shape
    if seeds == 1:
        return means[:, 0]
    drawn = generator.integers(seeds, size=(replicates, seeds))
    averaged: Floats = np.take_along_axis(means, drawn, axis=1).mean(axis=1)
    return averaged


def _beside_best(
    values: Mapping[str, Floats], means: Mapping[str, Floats]
) -> dict[str, Comparison]:
    """Compare the means of each method in every replicate with those of the best."""
    observed = {name: float(block.mean()) for name, block in values.items()}
    best = max(observed, key=lambda name: observed[name])
    found = {}
    for name, block in values.items():
        differences = means[name] - means[best]
        low, high = np.quantile(differences, [TAIL, 1 - TAIL])
        found[name] = Comparison(
            best,
            observed[name] - observed[best],
            float(low),
            float(high),
            float((differences >= -EPSILON).mean()),
            len(block),
            block.shape[1],
            len(differences),
        )
    return found
