"""The seeded order and the quota: repeatable, uniform, and never more than is needed."""

import hashlib
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from softhash.data.splits.draws import minus, seeded_order
from softhash.data.splits.quotas import class_quota

LABELS = st.integers(1, 5).flatmap(
    lambda classes: st.integers(1, 40).flatmap(
        lambda rows: arrays(np.uint8, (rows, classes), elements=st.integers(0, 1))
    )
)


def test_seeded_order_is_that_of_sha256():
    names = [f"sub/é {i}.jpg" for i in range(200)]
    expected = sorted(names, key=lambda name: hashlib.sha256(f"-7:{name}".encode()).hexdigest())
    assert [names[i] for i in seeded_order(names, -7)] == expected
    assert seeded_order([], 0).tolist() == []
    assert sorted(seeded_order(["a", "\udcff"], 0).tolist()) == [0, 1]


@given(st.permutations([f"{i}.jpg" for i in range(12)]), st.integers())
def test_seeded_order_does_not_depend_on_the_order_given(names, seed):
    plain = sorted(names)
    assert [names[i] for i in seeded_order(names, seed)] == [
        plain[i] for i in seeded_order(plain, seed)
    ]


def test_seeded_order_puts_every_name_everywhere_equally_often():
    names = [f"{i:05d}.jpg" for i in range(20)]
    counts = np.zeros((20, 20))
    for seed in range(4000):
        counts[np.arange(20), seeded_order(names, seed)] += 1
    chi_square = ((counts - 200) ** 2 / 200).sum()
    assert 361 - 4 * (2 * 361) ** 0.5 < chi_square < 361 + 4 * (2 * 361) ** 0.5  # 19 × 19 free


def test_seeded_order_draws_of_two_seeds_are_independent():
    names = [f"{i}.jpg" for i in range(100)]
    first = [set(seeded_order(names, seed)[:10].tolist()) for seed in range(1001)]
    shared = np.bincount([len(a & b) for a, b in pairwise(first)], minlength=11)
    expected = np.array([comb(10, k) * comb(90, 10 - k) / comb(100, 10) for k in range(11)]) * 1000
    assert np.abs(shared[:4] - expected[:4]).max() < 4 * 250**0.5  # four standard deviations


def quota_by_hand(labels: np.ndarray, order: list[int], count: int) -> list[int]:
    """Go through the classes, rarest first, and through the pictures; put back the superfluous."""
    taken: list[int] = []
    columns = range(labels.shape[1])
    for column in sorted(columns, key=lambda c: (sum(labels[i, c] for i in order), c)):
        for i in order:
            lacks = sum(labels[j, column] for j in taken) < count
            if lacks and labels[i, column] and i not in taken:
                taken.append(i)
    for i in sorted(taken, key=order.index, reverse=True):
        rest = [j for j in taken if j != i]
        if all(sum(labels[j, c] for j in rest) >= count for c in columns if labels[i, c]):
            taken = rest
    return sorted(taken, key=order.index)


@given(LABELS, st.integers(0, 6), st.integers(0, 99))
def test_class_quota_reaches_the_count_and_needs_every_picture(labels, count, seed):
    order = np.random.default_rng(seed).permutation(len(labels))[: len(labels) * 3 // 4 + 1]
    chosen, reached = class_quota(labels, order, count)
    assert chosen.tolist() == quota_by_hand(labels, order.tolist(), count)
    assert (reached == labels[chosen].sum(axis=0)).all()
    assert (reached >= np.minimum(count, labels[order].sum(axis=0))).all()
    for row in labels[chosen]:
        assert (row.astype(bool) & (reached - row < count)).any()


@given(LABELS, st.integers(0, 6))
def test_class_quota_counting_once_takes_own_pictures_for_each_class(labels, count):
    chosen, reached = class_quota(labels, np.arange(len(labels)), count, count_once=True)
    assert len(set(chosen.tolist())) == len(chosen) == reached.sum()
    assert (reached <= np.minimum(count, labels.sum(axis=0))).all()
    assert labels[chosen].any(axis=1).all()


@pytest.mark.parametrize("others", [[], [1], [5, 2], [9]])
def test_minus_keeps_the_order(others):
    left = minus(np.array([5, 1, 2]), np.array(others, dtype=np.int64))
    assert left.tolist() == [i for i in (5, 1, 2) if i not in others]
