"""Class centres: orthogonality where there is a Hadamard matrix, distance where there is none."""

import numpy as np
import pytest
import torch
from scipy.linalg import hadamard as scipy_hadamard

from softhash.training.methods._centres import class_centres, hadamard


@pytest.mark.parametrize("size", [1, 2, 16, 128])
def test_hadamard_matrix_is_that_of_scipy(size):
    assert np.array_equal(hadamard(size).numpy(), scipy_hadamard(size))


def smallest_distance(centres):
    codes = [tuple(row) for row in centres.int().tolist()]
    return min(
        sum(a != b for a, b in zip(one, other, strict=True))
        for i, one in enumerate(codes)
        for other in codes[:i]
    )


@pytest.mark.parametrize(("bits", "classes"), [(16, 6), (16, 16), (64, 20), (16, 32), (32, 40)])
def test_centres_of_a_power_of_two_are_half_the_bits_apart(bits, classes):
    torch.manual_seed(0)
    centres = class_centres(bits, classes)
    assert centres.shape == (classes, bits)
    assert set(centres.unique().tolist()) == {-1.0, 1.0}
    assert smallest_distance(centres) == bits // 2


@pytest.mark.parametrize(
    ("bits", "classes", "least"), [(12, 20, 4), (24, 20, 8), (48, 20, 18), (8, 20, 2)]
)
def test_other_centres_are_chosen_for_distance(bits, classes, least):
    """Much farther apart than the first coins thrown, which at 12 bits often coincide nearly."""
    for seed in range(3):
        torch.manual_seed(seed)
        centres = class_centres(bits, classes)
        assert centres.shape == (classes, bits)
        assert smallest_distance(centres) >= least


def test_no_bit_is_the_same_for_all_classes():
    for seed in range(5):
        torch.manual_seed(seed)
        assert (class_centres(64, 20).mean(0).abs() < 1).all()


def test_centres_depend_on_the_seed_alone():
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(class_centres(48, 20))
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
