"""What codes are like, whatever they are used for: how many differ, and what each bit tells."""

import numpy as np

from softhash.codes import Codes, check_packed, unpack

ROWS_AT_ONCE = 1 << 16  # unpacked at a time, so that memory stays bounded


def describe_codes(codes: Codes, bits: int) -> dict[str, float]:
    """Count distinct codes, and measure how balanced and how independent the bits are.

    The balance of a bit is twice the share of its rarer value: 1 where half of the codes have it, 0
    where all are alike. The correlation is the mean absolute value of Pearson's over all pairs of
    bits; a pair with a constant bit counts as 0, and so does a single bit.

    Args:
        codes: packed codes (n, ⌈bits/8⌉), see `pack`.
        bits: length of the codes.

    Returns:
        How many codes (`items`), how many different ones (`distinct`), the mean balance of the bits
        (`balance`), that of the worst (`worst_balance`), and their `correlation`.

    >>> from softhash import pack
    >>> describe_codes(pack([[1, 1], [1, 1], [-1, -1], [1, -1]]), bits=2)
    {'items': 4, 'distinct': 3, 'balance': 0.75, 'worst_balance': 0.5, 'correlation': 0.57735...}

    """
    packed = check_packed(codes, bits)
    ones, both = _count_ones(packed, bits)
    share = ones / max(1, len(packed))
    balance = 2 * np.minimum(share, 1 - share)
    return {
        "items": len(packed),
        "distinct": len(np.unique(packed, axis=0)),
        "balance": float(balance.mean()),
        "worst_balance": float(balance.min()),
        "correlation": _mean_correlation(share, both / max(1, len(packed))),
    }


def _count_ones(codes: Codes, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Count the codes that have each bit (bits,), and each pair of bits (bits, bits)."""
    both = np.zeros((bits, bits))
    for start in range(0, len(codes), ROWS_AT_ONCE):
        part = np.asarray(unpack(codes[start : start + ROWS_AT_ONCE], bits) > 0, np.float32)
        both += part.T @ part  # whole numbers below 2^24: exact
    return np.diagonal(both).copy(), both


def _mean_correlation(share: np.ndarray, both: np.ndarray) -> float:
    """Average |correlation| over pairs of bits, given the shares of ones, single and joint."""
    deviation = np.sqrt(share * (1 - share))
    scale = np.outer(deviation, deviation)
    covariance = both - np.outer(share, share)
    correlation = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    pairs = np.triu_indices(len(share), k=1)
    return float(np.abs(correlation[pairs]).mean()) if len(pairs[0]) else 0.0
