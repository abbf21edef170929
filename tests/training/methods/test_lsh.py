"""LSH: bits of two pictures differ with probability θ/π."""

import numpy as np
import pytest
import torch

from softhash.model.heads import Head
from softhash.training.methods import create

BITS, TIMES = 1000, 20


@pytest.mark.parametrize("angle", [0.1, 1.0, np.pi / 2, 2.5, 3.1])
def test_bits_collide_with_the_probability_of_the_angle(angle):
    """The four points ±a, ±b have the mean `centre`, from which a and b are seen at the angle."""
    a, b = np.array([2.0, 0.0]), np.array([np.cos(angle), np.sin(angle)]) * 5
    centre = np.array([30.0, -7.0])
    features = torch.tensor(np.stack([a, b, -a, -b]) + centre, dtype=torch.float32)
    method = create("lsh", BITS, 1)
    head = Head(2, BITS, **method.head_options(0, 0.0))
    torch.manual_seed(0)
    equal = []
    for _ in range(TIMES):
        method.fit_head(head, features, torch.zeros(4, 1))
        on = head(features) > 0
        equal.append((on[0] == on[1]).float().mean().item())
    expected = 1 - angle / np.pi
    spread = np.sqrt(expected * (1 - expected) / (BITS * TIMES))
    assert abs(np.mean(equal) - expected) < 4 * spread
