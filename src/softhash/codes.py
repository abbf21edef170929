"""Binary codes: one row of packed bytes per picture, bit 1 where the real-valued output is above 0.

Codes are not a class: they are a ``uint8`` array of shape (n, ⌈bits/8⌉), the first bit in the
highest place of the first byte, unused places of the last byte 0.
"""

import numpy as np
import numpy.typing as npt

from softhash.errors import InputError, UsageError

MAX_BITS = 1024
DEFAULT_BITS = 256  # 32 bytes: the best first screens, and the first bits are good codes too

Codes = npt.NDArray[np.uint8]


def check_bits(bits: int) -> int:
    """Return ``bits`` when codes of that length exist, otherwise raise."""
    if not 1 <= bits <= MAX_BITS:
        raise UsageError(f"codes have 1 to {MAX_BITS} bits, not {bits}")
    return bits


def row_bytes(bits: int) -> int:
    """Return how many bytes one packed code takes.

    >>> [row_bytes(bits) for bits in (1, 12, 48, 64)]
    [1, 2, 6, 8]
    """
    return (check_bits(bits) + 7) // 8


def pack(u: npt.ArrayLike) -> Codes:
    """Pack real-valued outputs ``u`` (n, bits) into codes: bit = 1 where u > 0.

    >>> pack([[0.3, -0.2, 0.0, 0.9], [-1, 1, 1, -1]])
    array([[144],
           [ 96]], dtype=uint8)
    """
    values = np.asarray(u)
    if values.ndim != 2:
        raise InputError(f"outputs to pack have shape (n, bits), not {values.shape}")
    check_bits(values.shape[1])
    if np.issubdtype(values.dtype, np.inexact) and np.isnan(values).any():
        row = int(np.isnan(values).any(axis=1).argmax())
        raise InputError(f"outputs to pack hold NaN, first in row {row}", "did training diverge?")
    return np.packbits(values > 0, axis=1)


def unpack(codes: Codes, bits: int) -> npt.NDArray[np.uint8]:
    """Unpack codes into an array of 0 and 1 of shape (n, bits).

    >>> unpack(pack([[0.3, -0.2, 0.0, 0.9]]), bits=4)
    array([[1, 0, 0, 1]], dtype=uint8)
    """
    check_packed(codes, bits)
    return np.unpackbits(codes, axis=1, count=bits)


def check_packed(codes: Codes, bits: int, name: str = "codes") -> Codes:
    """Return ``codes`` when they are packed codes of so many bits, otherwise raise.

    Args:
        codes: the array to check.
        bits: length of the codes.
        name: what errors call them.

    """
    if codes.ndim != 2 or codes.dtype != np.uint8:
        raise InputError(
            f"{name} are a {codes.dtype} array of shape {codes.shape}",
            f"packed codes are uint8 of shape (n, {row_bytes(bits)})",
        )
    if codes.shape[1] != row_bytes(bits):
        fits = f"{8 * codes.shape[1] - 7} to {8 * codes.shape[1]}"
        raise InputError(
            f"{name} have {codes.shape[1]} bytes per row, but {bits} bits need {row_bytes(bits)}",
            f"they fit {fits} bits",
        )
    unused = -bits % 8
    if unused and len(codes) and (codes[:, -1] & ((1 << unused) - 1)).any():
        raise InputError(
            f"{name} have bits set after bit {bits}",
            "were they made with more bits, or packed with the lowest place first?",
        )
    return codes


def check_first_bits(bits: int, whole: int) -> int:
    """Return ``bits`` when codes of ``whole`` bits have so many, otherwise raise."""
    if check_bits(bits) > whole:
        raise UsageError(
            f"the codes have {whole} bits, and the first {bits} are asked for",
            f"give {whole} or fewer, or train a model of {bits} bits",
        )
    return bits


def first_bits(codes: Codes, bits: int) -> Codes:
    """Shorten packed codes (n, bytes) to the first bits of each.

    >>> first_bits(np.array([[0b10110111, 0b11111111]], np.uint8), bits=4)
    array([[176]], dtype=uint8)
    """
    check_first_bits(bits, 8 * codes.shape[1])
    short = codes[:, : row_bytes(bits)].copy()
    short[:, -1] &= 0xFF << (-bits % 8) & 0xFF
    return short


def code_bytes(code: bytes | str | Codes | None, bits: int) -> bytes:
    r"""Read a code given as bytes, as hexadecimal or as an array.

    >>> code_bytes("f0a", 12), code_bytes("F0A0", 12)
    (b'\xf0\xa0', b'\xf0\xa0')
    """
    if isinstance(code, str):
        digits = -(-bits // 4)
        text = code.strip().removeprefix("0x")
        try:
            data = bytes.fromhex(text.ljust(2 * row_bytes(bits), "0"))
        except ValueError:
            raise InputError(
                f"code '{code}' is not hexadecimal",
                f"{bits} bits are {digits} digits of 0-9 and a-f",
            ) from None
        if len(text) not in (digits, 2 * row_bytes(bits)):
            raise InputError(
                f"code '{code}' has {len(text)} digits", f"{bits} bits are {digits} of them"
            )
    else:
        data = np.asarray(code).tobytes() if isinstance(code, np.ndarray) else bytes(code or b"")
    row = np.frombuffer(data, np.uint8)[np.newaxis]
    return check_packed(row, bits, "the code").tobytes()
