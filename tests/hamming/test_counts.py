"""Histogram and ranked gains against a loop over all pairs."""

import numpy as np
import pytest

from softhash.errors import InputError
from softhash.hamming import _count_kernels, histogram, ranked_gains


def case(seed, bits, classes, queries=9, n=400):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 8, (queries + n, -(-bits // 8)), dtype=np.uint8)
    labels = (rng.random((queries + n, classes)) < 2 / classes).astype(np.uint8)
    return codes[:queries], codes[queries:], labels[:queries], labels[queries:]


def pairs(query_codes, codes, query_labels, labels):
    distances = np.bitwise_count(query_codes[:, None] ^ codes[None]).sum(axis=2, dtype=int)
    return distances, query_labels.astype(int) @ labels.T.astype(int)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("bits", "classes"), [(12, 3), (48, 21), (64, 65), (100, 291), (1024, 5)])
def test_histogram_counts_every_pair(bits, classes, threads, monkeypatch):
    monkeypatch.setattr(_count_kernels, "TILE", 128)
    sides = case(bits, bits, classes)
    counts = histogram(*sides, threads=threads)
    distances, shared = pairs(*sides)
    expected = np.zeros_like(counts)
    for query in range(len(counts)):
        np.add.at(expected[query], (distances[query], shared[query]), 1)
    assert np.array_equal(counts, expected)
    assert (counts.sum(axis=(1, 2)) == len(sides[1])).all()


@pytest.mark.parametrize("first", [1, 37, 400, 10_000])
@pytest.mark.parametrize(("bits", "classes"), [(12, 3), (48, 21), (100, 291)])
def test_ranked_gains_follow_a_stable_sort(bits, classes, first):
    sides = case(bits + 1, bits, classes)
    distances, shared = pairs(*sides)
    order = np.argsort(distances, axis=1, kind="stable")[:, :first]
    assert np.array_equal(
        ranked_gains(*sides, first=first, threads=2), np.take_along_axis(shared, order, axis=1)
    )


@pytest.mark.parametrize("count", [histogram, lambda *sides: ranked_gains(*sides, first=5)])
def test_labels_that_do_not_belong_to_the_codes_are_refused(count):
    """The kernels read without looking at bounds: what they are given must fit."""
    query_codes, codes, query_labels, labels = case(0, 12, 3)
    with pytest.raises(InputError, match="database codes has 400 rows and database labels 399"):
        count(query_codes, codes, query_labels, labels[1:])
    with pytest.raises(InputError, match="query codes has 9 rows and query labels 8"):
        count(query_codes, codes, query_labels[1:], labels)
    with pytest.raises(InputError, match="2 classes and database labels 3"):
        count(query_codes, codes, query_labels[:, 1:], labels)
