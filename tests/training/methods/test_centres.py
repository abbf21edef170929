"""Class centres: orthogonality where there is a Hadamard matrix, distance where there is none."""

import numpy as np
import pytest
import torch
from scipy.linalg import hadamard as scipy_hadamard

from softhash.training.methods._centres import class_centres, hadamard, has_hadamard

POWERS_OF_TWO = [1, 2, 4, 8, 16, 32, 64, 128, 256]
LENGTHS_OF_PAPERS = [12, 16, 24, 32, 36, 48, 64, 72, 96, 128, 192, 256]


@pytest.mark.parametrize("size", POWERS_OF_TWO)
def test_hadamard_matrix_of_a_power_of_two_is_that_of_scipy(size):
    assert np.array_equal(hadamard(size).numpy(), scipy_hadamard(size))


@pytest.mark.parametrize("size", [size for size in range(257) if has_hadamard(size)])
def test_hadamard_matrix_has_signs_and_orthogonal_rows(size):
    matrix = hadamard(size).numpy().astype(int)
    assert matrix.shape == (size, size)
    assert (np.abs(matrix) == 1).all()
    assert np.array_equal(matrix @ matrix.T, size * np.eye(size, dtype=int))


def test_sizes_with_a_matrix_are_those_of_the_constructions():
    """Sylvester's and Paley's sizes from lists of primes, closed under doubling."""
    primes = [q for q in range(3, 257) if not any(q % i == 0 for i in range(2, q))]
    sizes = {1, 2}
    sizes |= {q + 1 for q in primes if q % 4 == 3}
    sizes |= {2 * (q + 1) for q in primes if q % 4 == 1}
    while len(more := sizes | {2 * size for size in sizes if size <= 128}) > len(sizes):
        sizes = more
    assert {size for size in range(-4, 257) if has_hadamard(size)} == {s for s in sizes if s <= 256}
    assert set(LENGTHS_OF_PAPERS) <= sizes


@pytest.mark.parametrize("q", [11, 23, 47])
def test_rows_of_the_first_construction_are_legendre_symbols(q):
    matrix = hadamard(q + 1).int().tolist()
    squares = {x * x % q for x in range(1, q)}
    for i in range(q):
        for j in range(q):
            difference = (j - i) % q
            symbol = 1 if difference == 0 or difference in squares else -1
            assert matrix[i + 1][j + 1] == symbol


@pytest.mark.parametrize("size", [-4, 0, 3, 6, 52, 100])
def test_size_without_a_matrix_raises(size):
    assert not has_hadamard(size)
    with pytest.raises(ValueError, match=f"no Hadamard matrix of size {size} here"):
        hadamard(size)


def smallest_distance(centres):
    codes = [tuple(row) for row in centres.int().tolist()]
    return min(
        sum(a != b for a, b in zip(one, other, strict=True))
        for i, one in enumerate(codes)
        for other in codes[:i]
    )


@pytest.mark.parametrize(
    ("bits", "classes"),
    [(16, 6), (16, 16), (64, 20), (16, 32), (32, 40), (12, 24), (36, 72)]
    + [(bits, 20) for bits in (12, 24, 36, 48)],
)
def test_centres_from_a_hadamard_matrix_are_half_the_bits_apart(bits, classes):
    torch.manual_seed(0)
    centres = class_centres(bits, classes)
    assert centres.shape == (classes, bits)
    assert set(centres.unique().tolist()) == {-1.0, 1.0}
    assert smallest_distance(centres) == bits // 2


@pytest.mark.parametrize(
    ("bits", "classes", "least"), [(12, 25, 3), (13, 20, 4), (50, 20, 19), (8, 20, 2)]
)
def test_other_centres_are_chosen_for_distance(bits, classes, least):
    """Much farther apart than the first coins thrown, which at 12 bits often coincide nearly."""
    for seed in range(3):
        torch.manual_seed(seed)
        centres = class_centres(bits, classes)
        assert centres.shape == (classes, bits)
        assert smallest_distance(centres) >= least


@pytest.mark.parametrize("bits", [12, 24, 36, 48, 64])
def test_no_bit_is_the_same_for_all_classes(bits):
    for seed in range(5):
        torch.manual_seed(seed)
        assert (class_centres(bits, 20).mean(0).abs() < 1).all()


@pytest.mark.parametrize("bits", [13, 48])
def test_centres_depend_on_the_seed_alone(bits):
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(class_centres(bits, 20))
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
