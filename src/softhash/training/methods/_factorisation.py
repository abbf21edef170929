"""Signs H whose products follow a similarity: ‖S − HHᵀ/q‖² by exact coordinate descent."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from softhash._kernels import kernel

Signs = NDArray[np.int64]


def factorise(labels: NDArray[Any], start: Signs, sweeps: int) -> Signs:
    """Lower ‖S − HHᵀ/q‖² until nothing changes, or for so many sweeps.

    S is +1 where labels share one, otherwise −1. Pictures with the same labels have the same row of
    S, which is therefore held once for each set of labels that occurs.

    Args:
        labels: (n, classes), multi-hot.
        start: H to start from (n, q), of ±1.
        sweeps: at most.

    """
    sets, member = np.unique(labels != 0, axis=0, return_inverse=True)
    similarity = np.where(sets.astype(np.int64) @ sets.T.astype(np.int64) > 0, 1, -1)
    codes = start.astype(np.int64)
    for _ in range(sweeps):
        if not _sweep(codes, similarity, member.reshape(-1)):
            break
    return codes


@kernel
def _sweep(codes: Signs, similarity: Signs, member: NDArray[np.int64]) -> int:
    """Let each entry of H, column by column, take its better sign; count those that changed.

    With signs, the diagonal of HHᵀ is constant, and the objective is linear in one entry h_ij: it
    is lowest at the sign of Σ over l ≠ i of h_lj·(q·s_il − Σ over k ≠ j of h_ik·h_lk). `wanted` and
    `between` are what that sum needs of all other rows, kept up to date.
    """
    n, bits = codes.shape
    changed = 0
    for j in range(bits):
        wanted = np.zeros(len(similarity), np.int64)  # Σ_l s·h_lj, for each set of labels
        between = np.zeros(bits, np.int64)  # Σ_l h_lk·h_lj, for each k
        for row in range(n):
            wanted += similarity[member[row]] * codes[row, j]
            between += codes[row] * codes[row, j]
        for i in range(n):
            own, kind = codes[i, j], member[i]
            slope = bits * (wanted[kind] - similarity[kind, kind] * own) + (bits - 1) * own
            for k in range(bits):
                if k != j:
                    slope -= codes[i, k] * between[k]
            if slope * own < 0:
                codes[i, j] = -own
                wanted -= 2 * own * similarity[kind]
                between -= 2 * own * codes[i]
                changed += 1
    return changed
