"""How far the order of tied items alone can move each metric."""

from collections.abc import Sequence

from softhash import hamming
from softhash.evaluation.evaluate import evaluate_codes
from softhash.evaluation.measure import Cut


def evaluate_range(
    query_codes: hamming.Array,
    database_codes: hamming.Array,
    query_labels: hamming.Array,
    database_labels: hamming.Array,
    *,
    bits: int,
    at: Cut | Sequence[Cut] = (5000, "all"),
    threads: int | None = None,
) -> dict[str, tuple[float, float]]:
    """Return the worst and the best value of each metric over all orders of tied items.

    Both are exact: the smallest and the largest value of each query, averaged over the queries.
    Whatever sort a program ranks these codes by, its metrics are between the two. They are those of
    `evaluate_codes` with the tie rules "worst" and "best".

    Args:
        query_codes: packed codes (q, ⌈bits/8⌉), see `pack`.
        database_codes: packed codes (n, ⌈bits/8⌉).
        query_labels: multi-hot (q, classes).
        database_labels: multi-hot (n, classes), the same classes in the same order.
        bits: length of the codes.
        at: the cut-offs, as for `evaluate_codes`.
        threads: of the processor; all usable cores by default.

    >>> import numpy as np
    >>> from softhash import pack
    >>> codes = pack([[1, 1], [1, -1], [-1, 1]])  # a query, and two items one bit away
    >>> labels = np.array([[1, 0], [1, 0], [0, 1]])
    >>> sides = codes[:1], codes[1:], labels[:1], labels[1:]
    >>> evaluate_range(*sides, bits=2, at=2)["map@2"]
    (0.5, 1.0)

    """
    sides = query_codes, database_codes, query_labels, database_labels
    worst, best = (
        evaluate_codes(*sides, bits=bits, at=at, ties=ties, threads=threads).metrics
        for ties in ("worst", "best")
    )
    return {name: (value, best[name]) for name, value in worst.items()}
