"""Packed codes as 64-bit words, and the two machine instructions the kernels are made of."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

Words = npt.NDArray[np.uint64]


def word_count(row_bytes: int) -> int:
    """Count the 64-bit words that hold so many bytes."""
    return (row_bytes + 7) // 8


def as_words(codes: npt.NDArray[np.uint8]) -> Words:
    """View codes (n, bytes) as words (n, ⌈bytes/8⌉); copies only when a row is no whole word.

    The padding is 0 on both sides of every comparison, so it never changes a distance.
    """
    n, row_bytes = codes.shape
    if row_bytes % 8 == 0 and codes.flags.c_contiguous and codes.ctypes.data % 8 == 0:
        return np.asarray(codes).view(np.uint64)
    padded = np.zeros((n, 8 * word_count(row_bytes)), np.uint8)
    padded[:, :row_bytes] = codes
    return padded.view(np.uint64)


@intrinsic  # type: ignore[untyped-decorator]
def popcount(typing_context: Any, word: Any) -> Any:
    """Count the bits of a 64-bit word that are 1."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(typing_context: Any, word: Any) -> Any:
    """Find the place of the lowest 1 in a word that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zero_is_undefined = context.get_constant(types.boolean, True)
        return builder.cttz(arguments[0], zero_is_undefined)

    return types.uint64(types.uint64), generate
