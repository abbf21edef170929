"""Logits of a linear classifier, for one picture as for many.

For a few pictures, the library of linear algebra behind numpy is not asked: it converts all weights
each time, and its threads wait for more work in loops, some milliseconds long. On a server these
take the cores from the next forward pass.
"""

import numpy as np
from numpy.typing import NDArray

FEW = 32  # rows up to which the library would not be faster


def logits(
    x: NDArray[np.floating], weight: NDArray[np.floating], bias: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Return x Wᵀ + b in double precision.

    Args:
        x: features (n, d).
        weight: (classes, d).
        bias: (classes,).

    """
    rows = np.ascontiguousarray(x, np.float64)
    if len(rows) > FEW or weight.dtype != np.float32 or not weight.flags.c_contiguous:
        found: NDArray[np.float64] = rows @ weight.T + bias
        return found
    from softhash.model._logit_kernels import multiply

    product = np.empty((len(rows), len(weight)))
    multiply(rows, weight, product)
    return product + bias
