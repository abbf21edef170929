"""Codes of classes, ±1 and far from each other, for the methods that pull pictures to centres."""

from math import isqrt

import torch
from torch import Tensor

CANDIDATES = 2000  # drawn for each class; the one farthest from those chosen before is taken
DOUBLING = torch.tensor([[1.0, 1.0], [1.0, -1.0]])  # Sylvester's; Paley's second has it too
DIAGONAL = torch.tensor([[1.0, -1.0], [-1.0, -1.0]])  # where the conference matrix has zeros


def class_centres(bits: int, classes: int) -> Tensor:
    """Draw a code for each class, (classes, bits) of ±1, by torch's generator.

    Rows of a Hadamard matrix and their negatives where there are enough of them: any two differ in
    bits/2 places or more. Otherwise fair coins, each class taking the best of many throws.

    >>> _ = torch.manual_seed(0)
    >>> centres = class_centres(bits=12, classes=6)
    >>> (centres @ centres.T).equal(12 * torch.eye(6))
    True
    """
    if has_hadamard(bits) and classes <= 2 * bits:
        return _hadamard_rows(bits, classes)
    return _spread(bits, classes)


def has_hadamard(size: int) -> bool:
    """Return whether `hadamard` can build a matrix of this size.

    >>> [size for size in range(1, 100) if has_hadamard(size)]
    [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 60, 64, 68, 72, 76, 80, 84, 88, 96]
    """
    if size < 2 or size % 2:
        return size == 1
    first, second = _paley_prime(size - 1, 3), _paley_prime(size // 2 - 1, 1)
    return first or second or has_hadamard(size // 2)


def hadamard(size: int) -> Tensor:
    """Build a Hadamard matrix, H Hᵀ = size·I: Sylvester's for a power of two.

    Otherwise from the squares modulo a prime q: Paley's first construction for size = q + 1 with
    q ≡ 3 (mod 4), his second for size = 2(q + 1) with q ≡ 1 (mod 4). Failing both, the matrix of
    half the size is doubled. Prime powers are left out: 52 is the first multiple of 4 without one.

    >>> hadamard(4)
    tensor([[ 1.,  1.,  1.,  1.],
            [ 1., -1.,  1., -1.],
            [ 1.,  1., -1., -1.],
            [ 1., -1., -1.,  1.]])
    """
    if not has_hadamard(size):
        raise ValueError(f"there is no Hadamard matrix of size {size} here; see has_hadamard")
    if size == 1:
        return torch.ones(1, 1)
    half, power_of_two = size // 2, size & (size - 1) == 0
    if _paley_prime(size - 1, 3) and not power_of_two:
        return _bordered_squares(size - 1, corner=-1) + torch.eye(size)
    if _paley_prime(half - 1, 1):
        conference = _bordered_squares(half - 1, corner=1)
        return torch.kron(conference, DOUBLING) + torch.kron(torch.eye(half), DIAGONAL)
    return torch.kron(DOUBLING, hadamard(half))


def _paley_prime(q: int, remainder: int) -> bool:
    """Return whether q is a prime with that remainder modulo 4."""
    return q > 2 and q % 4 == remainder and all(q % i for i in range(2, isqrt(q) + 1))


def _bordered_squares(q: int, corner: int) -> Tensor:
    """Build the conference matrix C Cᵀ = q·I of a prime: Legendre symbols (j − i | q), bordered.

    The border's column has the sign `corner`: 1 makes C symmetric where q ≡ 1 (mod 4), −1 makes
    it skew where q ≡ 3.
    """
    numbers = torch.arange(q)
    symbols = torch.full((q,), -1.0)
    symbols[numbers * numbers % q] = 1.0
    symbols[0] = 0.0
    matrix = torch.zeros(q + 1, q + 1)
    matrix[0, 1:], matrix[1:, 0] = 1, corner
    matrix[1:, 1:] = symbols[(numbers[None, :] - numbers[:, None]) % q]
    return matrix


def _hadamard_rows(bits: int, classes: int) -> Tensor:
    """Shuffle rows and signs: otherwise a column of ones is a constant bit."""
    rows = hadamard(bits)[torch.randperm(bits)] * _coins(bits, 1)
    return torch.cat([rows, -rows])[:classes]


def _spread(bits: int, classes: int) -> Tensor:
    """Choose codes one by one, each with the largest smallest distance to those before it."""
    chosen = _coins(1, bits)
    for _ in range(classes - 1):
        candidates = _coins(CANDIDATES, bits)
        agreement = candidates @ chosen.T  # bits − 2·distance
        nearest, mean = agreement.amax(1), agreement.mean(1)
        best = (nearest + mean / (2 * bits)).argmin()  # the mean decides among equals
        chosen = torch.cat([chosen, candidates[best : best + 1]])
    return chosen


def _coins(rows: int, columns: int) -> Tensor:
    return torch.randint(2, (rows, columns)).float() * 2 - 1
