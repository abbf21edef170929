"""MAP and NDCG of scores with ties, against enumeration, scikit-learn and plain definitions."""

import numpy as np
import pytest
from enumeration import all_orders, by_definition, rankings
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from softhash import InputError, UsageError, tie_aware_map, tie_aware_ndcg

BOTH = [("map", tie_aware_map), ("ndcg", tie_aware_ndcg)]


@settings(max_examples=150)
@given(items=rankings, scale=st.sampled_from([1.0, -0.25, -7.0]), data=st.data())
def test_scores_average_over_all_orders_of_ties(items, scale, data):
    n = data.draw(st.integers(1, len(items)))
    scores = [(1 - distance) * abs(scale) + min(scale, 0) for distance, _ in items]
    every = [by_definition(gains, n) for gains in all_orders(items)]
    for name, metric in BOTH:
        expected = sum(values[name] for values in every) / len(every)
        assert metric(scores, [gain for _, gain in items], n) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [1, 10, 200, None, 999])
def test_rows_are_averaged_and_scores_of_any_sign_rank_alike(n):
    rng = np.random.default_rng(2)
    scores, gains = rng.normal(size=(4, 200)), rng.integers(0, 4, (4, 200))
    cut = min(n or 200, 200)
    for name, metric in BOTH:
        ranked = (gain[np.argsort(-row)].tolist() for row, gain in zip(scores, gains, strict=True))
        expected = np.mean([by_definition(row, cut)[name] for row in ranked])
        assert metric(scores, gains, n) == pytest.approx(expected)
        assert metric(scores - 100, gains, n) == pytest.approx(expected)


def test_scores_agree_with_scikit_learn():
    rng = np.random.default_rng(4)
    gains, tied = rng.integers(0, 3, 300), rng.integers(-3, 3, 300)
    scores = rng.permutation(300) - 150.0
    assert tie_aware_map(scores, gains) == pytest.approx(average_precision_score(gains > 0, scores))
    for k in (5, 300):
        expected = ndcg_score([2.0**gains - 1], [tied], k=k)
        assert tie_aware_ndcg(tied, gains, k) == pytest.approx(expected)


def test_the_range_of_scores_does_not_matter():
    gains = [1, 0, 1, 0]
    whole = tie_aware_map([2**60, 2**60 + 1, 2**60, 0], gains)  # as floats, three would be tied
    assert whole == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert tie_aware_map([np.inf, 1, -np.inf, -np.inf], gains) == pytest.approx(
        ((1 + 2 / 3) / 2 + (1 + 2 / 4) / 2) / 2
    )
    assert tie_aware_map([True, False, False, False], np.array(gains, bool)) < 1


@pytest.mark.parametrize("metric", [tie_aware_map, tie_aware_ndcg])
def test_a_query_with_nothing_relevant_counts_as_zero(metric):
    assert metric([3.0, 2.0], [0, 0]) == 0
    assert metric([[3.0, 2.0], [3.0, 2.0]], [[0, 0], [1, 0]]) == 0.5


@pytest.mark.parametrize("metric", [tie_aware_map, tie_aware_ndcg])
def test_wrong_arrays_are_named(metric):
    with pytest.raises(InputError, match="NaN"):
        metric([0.0, np.nan], [0, 1])
    for gains in ([0, -1], [0, 0.5], [0, np.nan], [0, 1001]):
        with pytest.raises(InputError, match="whole numbers from 0"):
            metric([0.0, 1.0], gains)
    for scores, gains in (([0, 1], [1]), ([], []), ([[[1]]], [[[1]]]), (1.0, 1)):
        with pytest.raises(InputError, match="shape"):
            metric(scores, gains)
    with pytest.raises(UsageError, match="cut-off 0"):
        metric([0, 1], [0, 1], 0)


def test_the_largest_gain_is_finite():
    assert tie_aware_ndcg([1, 0], [1000, 0]) == pytest.approx(1.0)
