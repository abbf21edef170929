"""Cosines of features with int8 rows, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from softhash.errors import InputError
from softhash.hamming.cosine import GRID, cosine_distances, quantise
from softhash.hamming.rescoring import reranked


def by_hand(query, row):
    """Sum without any rounding but the query's own to its grid."""
    largest = max(abs(float(x)) for x in query)
    x = [round(float(value) / largest * GRID) for value in query]
    dot = sum(a * int(b) for a, b in zip(x, row, strict=True))
    norms = Fraction(sum(a * a for a in x)) * sum(int(b) ** 2 for b in row)
    return 1 - dot / float(norms) ** 0.5 if norms else 1.0


def test_rows_are_the_nearest_multiples_of_their_scale():
    features = np.random.default_rng(0).normal(size=(50, 33)).astype(np.float32)
    features[7] = 0
    rows, scales = quantise(features)
    assert rows.dtype == np.int8
    assert (np.abs(rows[np.arange(50) != 7]).max(axis=1) == 127).all()
    error = np.abs(scales[:, None] * rows - features)
    assert (error <= scales[:, None] * 0.5001).all()
    assert not rows[7].any()


def test_distances_are_those_of_exact_sums():
    rng = np.random.default_rng(1)
    rows, query = rng.integers(-127, 128, (20, 64)).astype(np.int8), rng.normal(size=64)
    rows[3] = 0
    expected = [by_hand(query, row) for row in rows]
    assert cosine_distances(query, rows) == pytest.approx(expected, rel=1e-14, abs=1e-14)
    assert (cosine_distances(np.zeros(64), rows) == 1).all()


def test_equal_rows_are_at_equal_distances_wherever_they_stand():
    rng = np.random.default_rng(2)
    few = rng.integers(-127, 128, (5, 1280)).astype(np.int8)
    which = rng.integers(0, 5, 997)
    query = rng.normal(size=1280).astype(np.float32)
    found = cosine_distances(query, few[which])
    alone = [cosine_distances(query, row[np.newaxis])[0] for row in few]
    assert found.tolist() == [alone[i] for i in which]


def test_int8_keeps_nearly_the_order_of_floats():
    rng = np.random.default_rng(3)
    features = np.maximum(rng.normal(size=(300, 1280)), 0).astype(np.float32)
    query = features[0] + 0.5 * rng.normal(size=1280)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    exact = 1 - unit @ query / np.linalg.norm(query)
    assert cosine_distances(query, quantise(features)[0]) == pytest.approx(exact, abs=1e-3)


def test_items_without_a_distance_keep_their_place_and_others_rank_around_them():
    distances = np.array([0.5, np.nan, 0.25, 0.5, np.nan, 0.0])
    order, found = reranked(distances)
    assert order.tolist() == [5, 1, 2, 0, 4, 3]
    np.testing.assert_array_equal(found, distances[order])


@pytest.mark.parametrize(
    ("query", "what"), [(np.ones(3), "another model"), (np.full(4, np.nan), "NaN or infinity")]
)
def test_features_that_cannot_be_compared_are_refused(query, what):
    with pytest.raises(InputError, match=what):
        cosine_distances(query, np.ones((2, 4), np.int8))
    with pytest.raises(InputError, match="NaN or infinity"):
        quantise([[1.0, np.inf]])
