"""Every metric, both tie rules, against enumeration of all orders, and against scikit-learn."""

from math import comb

import numpy as np
import pytest
from enumeration import all_orders, by_definition, counts_of, rankings
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from softhash.evaluation import rankings as rankings_module
from softhash.evaluation._tie_kernels import mean_reciprocal
from softhash.evaluation.metrics import METRICS, average_precision, ndcg
from softhash.evaluation.rankings import StableRanking, TiedRanking, ideal_ranking


@settings(max_examples=200)
@given(items=rankings, data=st.data())
def test_expected_is_the_mean_over_all_orders(items, data):
    n = data.draw(st.integers(1, len(items)))
    every = [by_definition(gains, n) for gains in all_orders(items)]
    counts = counts_of(items)
    for name, metric in METRICS.items():
        expected = sum(values[name] for values in every) / len(every)
        value = metric(TiedRanking(counts), ideal_ranking(counts.sum(axis=1)), n)
        assert value == pytest.approx([expected], abs=1e-12), name


@given(items=rankings, data=st.data())
def test_stable_is_the_definition_on_the_sorted_ranking(items, data):
    n = data.draw(st.integers(1, len(items)))
    gains = [gain for _, gain in sorted(items, key=lambda item: item[0])]
    ideal = ideal_ranking(counts_of(items).sum(axis=1))
    for name, metric in METRICS.items():
        value = metric(StableRanking(np.array([gains], np.uint16)), ideal, n)
        assert value == pytest.approx([by_definition(gains, n)[name]], abs=1e-12), name


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32), n=st.integers(1, 300))
def test_both_rules_agree_where_no_ties_are(seed, n):
    rng = np.random.default_rng(seed)
    gains = (rng.integers(0, 5, (3, 300)) * (rng.random((3, 300)) < 0.3)).astype(np.uint16)
    counts = (gains[..., None] == np.arange(5)).astype(int)
    ideal = ideal_ranking(counts.sum(axis=1))
    for name, metric in METRICS.items():
        tied, stable = TiedRanking(counts), StableRanking(gains)
        assert metric(tied, ideal, n) == pytest.approx(metric(stable, ideal, n), abs=1e-9), name


def test_average_precision_and_ndcg_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    gains = rng.integers(0, 4, (5, 400)).astype(np.uint16)
    scores = np.tile(-np.arange(400.0), (5, 1))
    counts = (gains[..., None] == np.arange(4)).astype(int)
    ideal = ideal_ranking(counts.sum(axis=1))
    for ranking in (TiedRanking(counts), StableRanking(gains)):
        assert average_precision(ranking, ideal, 400) == pytest.approx(
            [average_precision_score(g > 0, s) for g, s in zip(gains, scores, strict=True)]
        )
        for n in (1, 10, 100, 400):
            expected = [
                ndcg_score([2.0**g - 1], [s], k=n) for g, s in zip(gains, scores, strict=True)
            ]
            assert ndcg(ranking, ideal, n) == pytest.approx(expected)


def test_ndcg_of_ties_agrees_with_scikit_learn():
    """Scikit-learn averages DCG over ties too: the one metric it has the same rule for."""
    rng = np.random.default_rng(1)
    distances, gains = rng.integers(0, 6, 200), rng.integers(0, 4, 200)
    counts = np.zeros((1, 6, 4), int)
    np.add.at(counts[0], (distances, gains), 1)
    expected = ndcg_score([2.0**gains - 1], [-distances.astype(float)])
    assert ndcg(TiedRanking(counts), ideal_ranking(counts.sum(axis=1)), 200) == pytest.approx(
        [expected]
    )


@pytest.mark.parametrize("n", [1, 500, 4321, 10_000])
def test_large_groups_agree_with_sampled_orders(n):
    """Where enumeration is out of reach: the mean of many shuffles, within four standard errors."""
    rng = np.random.default_rng(n)
    distances = rng.binomial(12, 0.3, 10_000)
    gains = (rng.integers(1, 4, 10_000) * (rng.random(10_000) < 0.4 - 0.02 * distances)).astype(int)
    counts = np.zeros((1, 13, 4), int)
    np.add.at(counts[0], (distances, gains), 1)
    totals = counts.sum(axis=1)
    orders = [np.lexsort((rng.random(10_000), distances)) for _ in range(400)]
    shuffled = StableRanking(gains[np.array(orders)].astype(np.uint16))
    for name, metric in METRICS.items():
        values = metric(shuffled, ideal_ranking(np.repeat(totals, 400, axis=0)), n)
        error = values.std() / 20 + 1e-12
        value = metric(TiedRanking(counts), ideal_ranking(totals), n)[0]
        assert abs(value - values.mean()) < 4 * error, name


@given(size=st.integers(1, 60), data=st.data())
def test_mean_reciprocal_is_the_hypergeometric_sum(size, data):
    hits, drawn = data.draw(st.integers(0, size)), data.draw(st.integers(0, size))
    before = data.draw(st.integers(0, 20))
    chances = {
        k: comb(hits, k) * comb(size - hits, drawn - k) / comb(size, drawn)
        for k in range(max(0, drawn - size + hits), min(hits, drawn) + 1)
    }
    mean = sum(chance / (before + k) for k, chance in chances.items() if before + k)
    some = sum(chance for k, chance in chances.items() if before + k)
    arguments = (np.array([float(value)]) for value in (size, hits, drawn, before))
    found = np.empty((1, 2))
    mean_reciprocal(*arguments, found)
    assert found[0] == pytest.approx([mean, some], abs=1e-13)


def test_threads_find_what_one_finds(monkeypatch):
    counts = np.random.default_rng(0).integers(0, 4, (7, 9, 3))
    counts[:, 0, 0] += 100 - counts.sum((1, 2))  # as many items for every query
    found = []
    for queries_per_thread in (8, 2):
        monkeypatch.setattr(rankings_module, "QUERIES_PER_THREAD", queries_per_thread)
        monkeypatch.setattr(rankings_module, "usable_cores", lambda: 3)
        ranking, ideal = TiedRanking(counts), ideal_ranking(counts.sum(axis=1))
        found.append([metric(ranking, ideal, 20) for metric in METRICS.values()])
    np.testing.assert_array_equal(*found)
    assert np.unique(found[0][0]).size == 7


def test_a_query_with_nothing_relevant_scores_zero():
    counts = np.array([[[3, 0], [2, 0]]])
    for metric in METRICS.values():
        assert metric(TiedRanking(counts), ideal_ranking(counts.sum(axis=1)), 4) == [0.0]
        stable = StableRanking(np.zeros((1, 5), np.uint16))
        assert metric(stable, ideal_ranking(counts.sum(axis=1)), 4) == [0.0]
