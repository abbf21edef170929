"""The best and the worst over all orders of ties, against enumeration of all of them."""

import numpy as np
import pytest
import torch
from enumeration import all_orders, by_definition, counts_of, rankings
from hypothesis import example, given, settings
from hypothesis import strategies as st

from softhash import evaluate_codes, evaluate_range, pack
from softhash.evaluation.by_distance import evaluate_distances, evaluate_rescored
from softhash.evaluation.extremes import ExtremeRanking
from softhash.evaluation.measure import TIES
from softhash.evaluation.metrics import METRICS, average_precision
from softhash.evaluation.radius import within_radii
from softhash.evaluation.rankings import StableRanking, ideal_ranking

RNG = np.random.default_rng(0)
LABELS = (RNG.random((260, 6)) < 0.3).astype(np.uint8)
OUTPUTS = LABELS @ RNG.normal(size=(6, 12)) + RNG.normal(size=(260, 12))
CODES = pack(OUTPUTS)
SIDES = CODES[:60], CODES[60:], LABELS[:60], LABELS[60:]
# A hit first, misses, then a tie at the cut: the best order keeps its hit out.
LATE_HIT = [(0, 1), (1, 0), (1, 0), (1, 0), (2, 1), (2, 0)]


@settings(max_examples=300)
@given(items=rankings, data=st.data())
def test_extremes_are_those_over_all_orders(items, data):
    n = data.draw(st.integers(1, len(items)))
    check_by_enumeration(items, n)


@pytest.mark.parametrize("n", range(1, 7))
def test_extremes_of_average_precision_weigh_the_hits_that_make_the_cut(n):
    check_by_enumeration(LATE_HIT, n)
    check_by_enumeration([(0, 2), (0, 0), (1, 3), (1, 1), (1, 0), (1, 0)], n)


def check_by_enumeration(items, n):
    every = [by_definition(gains, n) for gains in all_orders(items)]
    counts = counts_of(items)
    ideal = ideal_ranking(counts.sum(axis=1))
    for name, metric in METRICS.items():
        values = [metrics[name] for metrics in every]
        best = metric(ExtremeRanking(counts, best=True), ideal, n)
        worst = metric(ExtremeRanking(counts, best=False), ideal, n)
        assert best == pytest.approx([max(values)], abs=1e-12), name
        assert worst == pytest.approx([min(values)], abs=1e-12), name


def test_the_best_average_precision_is_not_that_of_the_order_by_gain():
    counts = counts_of(LATE_HIT)
    best = average_precision(ExtremeRanking(counts, best=True), ideal_ranking(counts.sum(1)), 5)
    by_gain = by_definition([1, 0, 0, 0, 1, 0], 5)["map"]
    assert by_gain == pytest.approx((1 + 2 / 5) / 2)
    assert best == pytest.approx([1.0])


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
@example(seed=0)
def test_large_groups_agree_with_a_walk_over_numbers_of_hits(seed):
    """Where enumeration is out of reach: the definition, for every number of hits in the cut."""
    rng = np.random.default_rng(seed)
    items = sorted(zip(rng.binomial(4, 0.4, 60).tolist(), rng.integers(0, 4, 60), strict=True))
    counts = counts_of(items, distances=5)
    n = int(rng.integers(1, 61))
    ideal = ideal_ranking(counts.sum(axis=1))
    for best in (True, False):
        every = [by_definition(gains, n) for gains in sorted_orders(items, n, best)]
        for name, metric in METRICS.items():
            expected = (max if best else min)(metrics[name] for metrics in every)
            value = metric(ExtremeRanking(counts, best=best), ideal, n)
            assert value == pytest.approx([expected], abs=1e-12), name


def sorted_orders(items, n, best):
    """Yield rankings with gains in order inside groups, the cut group by its hits before n."""
    cut, ranked, rest = items[n - 1][0], [], []
    for distance in sorted({d for d, _ in items}):
        gains = sorted((int(g) for d, g in items if d == distance), reverse=best)
        if distance < cut:
            ranked += gains
        elif distance == cut:
            group = gains
        else:
            rest += gains
    kept = n - len(ranked)
    hits, misses = [g for g in group if g], [g for g in group if not g]
    for found in range(max(0, kept - len(misses)), min(len(hits), kept) + 1):
        few, none = hits[:found], [0] * (kept - found)
        outside = hits[found:] + misses[kept - found :]
        yield ranked + (few + none if best else none + few) + outside + rest


@pytest.mark.parametrize("at", [(1, 7, 30), (50, "all")])
def test_every_other_order_is_within_the_range(at):
    ranges = evaluate_range(*SIDES, bits=12, at=at)
    expected = evaluate_codes(*SIDES, bits=12, at=at).metrics
    assert list(ranges) == list(expected)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(200)
        sides = SIDES[0], SIDES[1][order], SIDES[2], SIDES[3][order]
        stable = evaluate_codes(*sides, bits=12, at=at, ties="stable").metrics
        for name, (worst, best) in ranges.items():
            assert worst - 1e-12 <= min(stable[name], expected[name]), name
            assert best + 1e-12 >= max(stable[name], expected[name]), name
    assert ranges[f"map@{at[0]}"][0] < ranges[f"map@{at[0]}"][1]


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_codes_and_distances_have_the_same_extremes(ties):
    asked = {"at": (7, 60, "all"), "ties": ties, "curves": (5, 50)}
    codes = evaluate_codes(*SIDES, bits=12, **asked)
    near = np.bitwise_count(CODES[:60, None] ^ CODES[None, 60:]).sum(axis=2) * 0.5
    floats = evaluate_distances(near, *SIDES[2:], bits=12, distance="a float", **asked)
    assert floats.metrics == pytest.approx(codes.metrics)
    assert floats.curves["acg"] == pytest.approx(codes.curves["acg"])
    assert codes.contract["ties"] == ties
    assert ties in TIES


def test_the_best_order_of_all_items_at_one_distance_is_the_ideal_one():
    near = np.zeros((60, 200))
    given = {"bits": 12, "distance": "none", "at": (20, "all")}
    best = evaluate_distances(near, *SIDES[2:], **given, ties="best").metrics
    some = [SIDES[3][:, label > 0].any(axis=1).any() for label in SIDES[2] if label.any()]
    for name in ("map@20", "map@all", "ndcg@20", "ndcg@all"):
        assert best[name] == pytest.approx(np.mean(some))
    worst = evaluate_distances(near, *SIDES[2:], **given, ties="worst").metrics
    relevant = [SIDES[3][:, label > 0].any(axis=1).sum() for label in SIDES[2] if label.any()]
    forced = [max(0, 20 - (200 - hits)) / max(1, hits) for hits in relevant]
    assert worst["recall@20"] == pytest.approx(np.mean(forced))


def test_rescored_searches_have_extremes_around_their_expected_values():
    asked = {"at": (5, 40, "all")}
    sides = OUTPUTS[:60].round(), CODES[60:], *SIDES[2:]
    worst, expected, stable, best = (
        evaluate_rescored(*sides, **asked, ties=ties).metrics
        for ties in ("worst", "expected", "stable", "best")
    )
    for name, value in expected.items():
        assert worst[name] - 1e-12 <= min(value, stable[name]), name
        assert best[name] + 1e-12 >= max(value, stable[name]), name
    assert worst["map@5"] < best["map@5"]


def test_a_ranking_without_ties_has_no_range():
    gains = RNG.integers(0, 4, (3, 100))
    counts = (gains[..., None] == np.arange(4)).astype(int)
    ideal = ideal_ranking(counts.sum(axis=1))
    stable = StableRanking(gains.astype(np.uint16))
    for name, metric in METRICS.items():
        for n in (1, 33, 100):
            for best in (True, False):
                value = metric(ExtremeRanking(counts, best=best), ideal, n)
                assert value == pytest.approx(metric(stable, ideal, n), abs=1e-12), name


def test_a_query_with_nothing_relevant_has_zeros_at_both_ends():
    counts = np.array([[[3, 0], [2, 0]]])
    for metric in METRICS.values():
        for best in (True, False):
            value = metric(ExtremeRanking(counts, best=best), ideal_ranking(counts.sum(1)), 4)
            assert value == [0.0]


def test_counts_may_be_a_tensor():
    counts = counts_of(LATE_HIT)
    tensor = torch.tensor(counts, dtype=torch.int32)
    for best in (True, False):
        ours, same = ExtremeRanking(tensor, best=best), ExtremeRanking(counts, best=best)
        assert ours.average_gain(5) == same.average_gain(5)
        assert ours.dcg(5) == same.dcg(5)
    assert within_radii(tensor, [1])["precision@r1"] == pytest.approx([1 / 4])
