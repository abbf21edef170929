"""The compiled part of `_logits.py`."""

import numpy as np
import numpy.typing as npt

from softhash._kernels import summing_kernel


@summing_kernel
def multiply(
    x: npt.NDArray[np.float64], weight: npt.NDArray[np.float32], out: npt.NDArray[np.float64]
) -> None:
    """Compute x·Wᵀ in double precision.

    Args:
        x: (n, d), contiguous.
        weight: (k, d), contiguous.
        out: what is computed, (n, k).

    """
    for row in range(len(x)):
        for k in range(len(weight)):
            total = 0.0
            for i in range(x.shape[1]):
                total += x[row, i] * weight[k, i]
            out[row, k] = total
