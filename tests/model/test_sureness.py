"""How probable it is that a hit shares a label with the query."""

import itertools
import math

import numpy as np
import pytest

from softhash.model.sureness import Sureness, expected_overlap


def test_the_overlap_is_that_of_independent_labels():
    query, item = {"sea": 0.5, "dog": 0.9, "sky": 0.1}, {"dog": 0.3, "sea": 0.8, "car": 1.0}
    names = sorted({*query, *item})
    expected = 0.0
    for has in itertools.product((0, 1), repeat=2 * len(names)):  # every way it can have come out
        one, other = has[: len(names)], has[len(names) :]
        p = math.prod(
            side.get(name, 0) if flag else 1 - side.get(name, 0)
            for side, flags in ((query, one), (item, other))
            for name, flag in zip(names, flags, strict=True)
        )
        expected += p * any(a and b for a, b in zip(one, other, strict=True))
    assert expected_overlap(query, item) == pytest.approx(expected)
    assert expected_overlap(query, {}) == 0
    assert expected_overlap({"sea": 1.0}, {"sea": 1.0}) == 1


def test_the_probability_is_the_logistic_of_the_terms():
    weights = [1.0, -6.0, 0.5, 2.0]
    odds = 1 - 6 * 0.3 + 0.5 * math.log(0.2 / 0.8) + 2 * 0.9
    found = Sureness(np.array(weights)).probability(0.3, 0.2, 0.9)
    assert found == pytest.approx(1 / (1 + math.exp(-odds)))


@pytest.mark.parametrize("overlap", [0.0, 1.0])
def test_certain_labels_leave_it_between_0_and_1(overlap):
    assert 0 < Sureness(np.array([0.0, -1.0, 1.0, 0.0])).probability(0.5, overlap, 1.0) < 1
