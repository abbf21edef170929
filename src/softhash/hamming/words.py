"""Packed codes as 64-bit words, and the two machine instructions the kernels are made of."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types, uint64
from numba.extending import intrinsic

from softhash._kernels import Scalar, Width, kernel
from softhash.codes import Codes

Words = npt.NDArray[np.uint64]


def word_count(row_bytes: int) -> int:
    """Count the 64-bit words that hold so many bytes."""
    return (row_bytes + 7) // 8


def is_in_words(codes: Codes) -> bool:
    """Whether the rows are whole, aligned words already, so that kernels can read them in place."""
    return codes.shape[1] % 8 == 0 and codes.flags.c_contiguous and codes.ctypes.data % 8 == 0


def as_words(codes: Codes) -> Words:
    """Turn codes (n, bytes) into words (n, ⌈bytes/8⌉); copies only where rows are not whole words.

    The padding is 0 on both sides of every comparison, so it never changes a distance.
    """
    if is_in_words(codes):
        return np.asarray(codes).view(np.uint64)
    n, row_bytes = codes.shape
    words = np.empty((n, word_count(row_bytes)), np.uint64)
    _pad(np.ascontiguousarray(codes).reshape(-1), words.reshape(-1), (0,) * row_bytes)
    return words


@kernel
def _pad(codes: Codes, words: Words, row: Width) -> None:
    """Fill flat words from flat rows of bytes; ``row`` is a tuple as long as a row."""
    row_bytes, row_words = len(row), (len(row) + 7) // 8
    for i in range(words.size // row_words):
        for word in range(row_words):
            value = uint64(0)
            for byte in range(min(8, row_bytes - 8 * word)):
                place = uint64(row_bytes) * uint64(i) + uint64(8 * word + byte)
                value |= uint64(codes[place]) << uint64(8 * byte)
            words[uint64(row_words) * uint64(i) + uint64(word)] = value


def pack_mask(mask: npt.NDArray[np.bool_]) -> Words:
    """Pack a mask of items into one bit per item, the lowest place first.

    >>> pack_mask(np.array([True, False, True]))
    array([5], dtype=uint64)
    """
    packed = np.zeros(8 * word_count((len(mask) + 7) // 8), np.uint8)
    packed[: (len(mask) + 7) // 8] = np.packbits(mask, bitorder="little")
    return packed.view(np.uint64)


@intrinsic  # type: ignore[untyped-decorator]
def _popcount(typing_context: Any, word: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _lowest_bit(typing_context: Any, word: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zero_is_poison = context.get_constant(types.boolean, False)
        return builder.cttz(arguments[0], zero_is_poison)

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(typing_context: Any, array: Any, place: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
        call = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(call, [pointer, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


popcount: Callable[[Scalar], Scalar] = _popcount  # how many bits of a 64-bit word are 1
lowest_bit: Callable[[Scalar], Scalar] = _lowest_bit  # place of the lowest 1; 64 when there is none
prefetch: Callable[[Scalar, Scalar], None] = _prefetch  # ask memory for a value of an array


@kernel
def count_live(live: Words) -> Scalar:
    """Count the bits of a mask that are set."""
    total = uint64(0)
    for group in range(live.size):
        total += popcount(live[group])
    return np.int64(total)
