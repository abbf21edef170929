"""Rescoring by features kept as int8: a quarter of their size, and nearly their order.

A row of features x is kept as integers and a scale, x ≈ scale · row, where scale = max |x| / 127.
The first `POOL` items by (Hamming distance, id) are ranked by (1 − cosine, Hamming distance, id),
where the cosine is that of the query's features with an item's row.

Sums are exact, whatever their order and the machine: the query's features are rounded to multiples
of a 2^-24th of the largest, so that all products and sums are integers a float64 holds. So equal
rows are at equal distances, as the rule for ties needs it.
"""

import numpy as np
import numpy.typing as npt

from softhash.errors import InputError

POOL = 200  # how many of the nearest are ranked again
STEPS = 127  # of an int8 on either side of 0
GRID = 1 << 24  # the query's; with up to 2^22 features, sums stay below 2^53

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int8]


def quantise(features: npt.ArrayLike) -> tuple[Rows, npt.NDArray[np.float32]]:
    """Round features (n, d) to int8 rows (n, d) and a scale for each (n,).

    >>> rows, scales = quantise([[1.0, -0.25, 0.0], [0.0, 0.0, 0.0]])
    >>> rows.tolist(), (scales[0] * rows[0]).round(2).tolist()
    ([[127, -32, 0], [0, 0, 0]], [1.0, -0.25, 0.0])
    """
    values = np.asarray(features, np.float32)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise InputError(
            f"features of shape {values.shape} hold NaN or infinity, or are not (n, d)",
            "give one row of finite numbers per item",
        )
    scales = np.abs(values).max(axis=1, initial=0) / np.float32(STEPS)
    divisors = np.where(scales > 0, scales, 1)[:, np.newaxis]
    return np.rint(values / divisors).clip(-STEPS, STEPS).astype(np.int8), scales


def cosine_distances(query: npt.ArrayLike, rows: Rows) -> Floats:
    """Compute 1 − cosine of the features (d,) of a query with rows (n, d); 1 where one is all 0.

    >>> cosine_distances([2.0, 0.0], np.array([[5, 0], [0, 3], [-7, 0], [0, 0]], np.int8))
    array([0., 1., 2., 1.])
    """
    values = np.asarray(query, np.float64)
    if values.shape != rows.shape[1:]:
        raise InputError(
            f"a query's features have the shape {values.shape}",
            f"those of the items have {rows.shape[1:]}: are they of another model?",
        )
    if not np.isfinite(values).all():
        raise InputError("features to rank by hold NaN or infinity", "did training diverge?")
    largest = np.abs(values).max(initial=0)
    on_grid = np.rint(values / largest * GRID) if largest > 0 else values
    exact = rows.astype(np.float64)
    norms = np.sqrt(np.einsum("nd,nd->n", exact, exact) * (on_grid @ on_grid))
    distances: Floats = 1 - (exact @ on_grid) / np.where(norms > 0, norms, 1)
    return distances
