"""Codes of classes, ±1 and far from each other, for the methods that pull pictures to centres."""

import torch
from torch import Tensor

CANDIDATES = 2000  # drawn for each class; the one farthest from those chosen before is taken


def class_centres(bits: int, classes: int) -> Tensor:
    """Draw a code for each class, (classes, bits) of ±1, by torch's generator.

    Rows of a Hadamard matrix and their negatives where there are enough of them: any two differ in
    bits/2 places or more. Otherwise fair coins, each class taking the best of many throws.

    >>> _ = torch.manual_seed(0)
    >>> centres = class_centres(bits=16, classes=6)
    >>> (centres @ centres.T).equal(16 * torch.eye(6))
    True
    """
    power_of_two = bits & (bits - 1) == 0
    if power_of_two and classes <= 2 * bits:
        return _hadamard_rows(bits, classes)
    return _spread(bits, classes)


def hadamard(size: int) -> Tensor:
    """Build Sylvester's Hadamard matrix, H Hᵀ = size·I, for a power of two.

    >>> hadamard(2)
    tensor([[ 1.,  1.],
            [ 1., -1.]])
    """
    matrix = torch.ones(1, 1)
    while len(matrix) < size:
        top = torch.cat([matrix, matrix], 1)
        matrix = torch.cat([top, torch.cat([matrix, -matrix], 1)])
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
