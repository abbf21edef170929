"""Weighted ranking at no cost in storage: a query's real-valued outputs against stored bits.

The Hamming distance counts every bit that differs alike. The outputs u of a query, whose signs are
its code, also show how sure each bit is: the asymmetric distance weighs a bit that differs by how
far u is from changing its sign,

    d(u, b) = Σ |u_i| · [bit of u_i ≠ b_i] = (‖u‖₁ − u·b±) / 2,  b± = ±1.

A search ranks by (Hamming distance, id) first. The `POOL` nearest are then ranked by (asymmetric
distance, Hamming distance, id), and what comes after them keeps its place: so pages continue each
other, and a radius cuts off what it always does.
"""

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes, check_packed, pack
from softhash.errors import InputError

POOL = 5000  # how many of the nearest are ranked again

Floats = npt.NDArray[np.float64]

_PATTERNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)


def asymmetric_distances(u: npt.ArrayLike, codes: Codes) -> Floats:
    """Compute the distances of outputs u, (bits,) or (q, bits), to packed codes: (n,) or (q, n).

    Equal codes are at distances that are equal to the last bit.

    >>> codes = pack([[1, 1, 1], [-1, 1, 1], [-1, -1, -1]])
    >>> asymmetric_distances([0.5, 0.25, -2.0], codes)
    array([2.  , 2.5 , 0.75])
    """
    values = np.asarray(u, np.float64)
    if values.ndim == 2:
        each = [asymmetric_distances(one, codes) for one in values]
        return np.array(each, np.float64).reshape(len(values), len(codes))
    if values.ndim != 1:
        raise InputError(f"outputs have the shape {values.shape}", "give (bits,) or (q, bits)")
    if not np.isfinite(values).all():
        raise InputError("outputs to rank by hold NaN or infinity", "did training diverge?")
    check_packed(codes, len(values))
    own = pack(values[np.newaxis])[0]
    weights = np.zeros((len(own), 8))
    weights.reshape(-1)[: len(values)] = np.abs(values)
    # Summed once for each byte that can differ: faster than bit by bit, and in one order for all.
    sums = weights @ _PATTERNS.T
    found = np.zeros(len(codes))
    for of_byte, differing in zip(sums, (codes ^ own).T, strict=True):
        found += of_byte[differing]
    return found
