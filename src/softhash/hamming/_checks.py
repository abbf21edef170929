"""What search and counts check first, and how the mask and the threads are read."""

from typing import Any, TypeAlias

import numpy as np

from softhash.devices import usable_cores
from softhash.errors import InputError, UsageError
from softhash.hamming.words import Words, pack_mask

Array: TypeAlias = Any  # a numpy array, or a torch tensor on a CUDA device

_NO_MASK = np.empty(0, np.uint64)


def on_gpu(*arrays: Array) -> bool:
    """Return whether any of the arrays is a CUDA tensor."""
    return any(getattr(array, "is_cuda", False) for array in arrays)


def count_threads(threads: int | None) -> int:
    """Return how many threads to use: as many as asked for, or one for each usable core."""
    if threads is not None and threads < 1:
        raise UsageError(f"threads is {threads}", "it takes at least 1")
    return threads or usable_cores()


def check_k(k: int) -> None:
    """Raise unless at least one neighbour is asked for."""
    if k < 1:
        raise UsageError(f"k is {k}", "ask for at least 1 neighbour")


def check_radius(radius: int) -> None:
    """Raise for a negative radius."""
    if radius < 0:
        raise UsageError(f"the radius is {radius}", "a Hamming distance is 0 or more")


def packed_mask(mask: Array | None, n: int) -> Words:
    """Return a mask of n items as words; no words where all items count."""
    if mask is None:
        return _NO_MASK
    if mask.dtype == np.uint64 and mask.shape == ((n + 63) // 64,):
        return mask  # type: ignore[no-any-return]
    if mask.dtype != np.bool_ or mask.shape != (n,):
        raise InputError(
            f"the mask is {mask.dtype} of shape {mask.shape}",
            f"it must be bool of shape ({n},), or come from pack_mask",
        )
    return pack_mask(mask)


def check_pair(queries: Array, codes: Array) -> None:
    """Raise unless both are packed codes of one length, and there are some of each."""
    for name, array in (("queries", queries), ("codes", codes)):
        if array.ndim != 2 or "uint8" not in str(array.dtype):
            raise InputError(
                f"{name} are {array.dtype} of shape {tuple(array.shape)}",
                "packed codes are uint8 of shape (n, bytes)",
            )
    if queries.shape[1] != codes.shape[1]:
        raise InputError(
            f"queries have {queries.shape[1]} bytes per row and codes {codes.shape[1]}",
            "were they made with different numbers of bits?",
        )
    if not len(queries) or not len(codes):
        raise InputError(f"{len(queries)} queries and {len(codes)} codes: there is nothing to rank")
