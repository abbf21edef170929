"""The bootstrap against plain loops, normal theory, and data whose truth is known."""

import math
from statistics import fmean, stdev

import numpy as np
import pytest

from softhash.errors import InputError
from softhash.experiments import significance
from softhash.experiments.significance import (
    compare_columns,
    compare_methods,
    draw_queries,
    resampled_means,
)


def test_counts_are_of_draws_with_replacement():
    counts = np.concatenate(list(draw_queries(30, 2000)))
    assert counts.shape == (2000, 30)
    assert (counts.sum(axis=1) == 30).all()
    assert (counts == counts.round()).all()
    # Multinomial: mean 1, variance 1 - 1/n, covariance -1/n.
    assert counts.var() == pytest.approx(1 - 1 / 30, rel=0.03)
    covariance = np.cov(counts[:, 0], counts[:, 1])[0, 1]
    assert covariance == pytest.approx(-1 / 30, abs=0.08)


def test_parts_do_not_change_the_draws(monkeypatch):
    whole = np.concatenate(list(draw_queries(40, 100)))
    monkeypatch.setattr(significance, "WORKING_BYTES", 8 * 40 * 7)
    parts = list(draw_queries(40, 100))
    assert {len(part) for part in parts} == {7, 2}
    assert (np.concatenate(parts) == whole).all()


def test_means_equal_those_of_a_loop_over_drawn_queries():
    table = np.random.default_rng(0).random((11, 3))
    found = resampled_means(table, 5)
    for counts, means in zip(np.concatenate(list(draw_queries(11, 5))), found, strict=True):
        for column, mean in enumerate(means):
            drawn = [table[q, column] for q, n in enumerate(counts) for _ in range(int(n))]
            assert mean == pytest.approx(math.fsum(drawn) / 11, abs=1e-15)


def test_a_comparison_equals_that_of_a_loop_over_replicates():
    random = np.random.default_rng(1)
    values = {"a": random.random((3, 17)), "b": random.random((1, 17)), "c": random.random((2, 17))}
    found = compare_methods(values, replicates=40)
    counts = np.concatenate(list(draw_queries(17, 40)))
    generator = np.random.default_rng([significance.SEED, 1])
    seeds = {
        name: generator.integers(len(each), size=(40, len(each))) if len(each) > 1 else [[0]] * 40
        for name, each in values.items()
    }
    means = {name: [] for name in values}
    for b in range(40):
        for name, each in values.items():
            runs = [sum(n * v for n, v in zip(counts[b], run, strict=True)) / 17 for run in each]
            means[name].append(fmean(runs[s] for s in seeds[name][b]))
    observed = {name: fmean(each.ravel()) for name, each in values.items()}
    best = max(observed, key=observed.get)
    for name, one in found.items():
        differences = sorted(x - y for x, y in zip(means[name], means[best], strict=True))
        assert one.best == best
        assert one.difference == pytest.approx(observed[name] - observed[best], abs=1e-14)
        assert (one.low, one.high) == pytest.approx(
            (_quantile(differences, 0.025), _quantile(differences, 0.975)), abs=1e-12
        )
        assert one.p == pytest.approx(fmean(d >= -1e-12 for d in differences))
        assert one.level == (one.low <= 0 <= one.high)
        assert (one.seeds, one.queries, one.replicates) == (len(values[name]), 17, 40)


def _quantile(ordered, share):
    """Interpolate between order statistics."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    return ordered[low] + (place - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def test_the_interval_of_normal_differences_is_that_of_theory():
    random = np.random.default_rng(2)
    hard = random.normal(0.5, 0.3, 2000)  # what both methods share: a paired test is blind to it
    values = {
        "a": (hard + random.normal(0.01, 0.05, 2000))[None],
        "b": (hard + random.normal(0.0, 0.05, 2000))[None],
    }
    one = compare_methods(values)["b"]
    differences = (values["b"] - values["a"])[0].tolist()
    middle, half = fmean(differences), 1.96 * stdev(differences) / math.sqrt(2000)
    assert (one.low, one.high) == pytest.approx((middle - half, middle + half), abs=half * 0.05)
    assert not one.level
    theory = 0.5 * math.erfc(-middle / (stdev(differences) / math.sqrt(2000)) / math.sqrt(2))
    assert one.p == pytest.approx(theory, abs=0.005)


def test_seeds_widen_the_interval_as_their_variance_says():
    random = np.random.default_rng(3)
    noise = random.normal(0, 0.01, (2, 12, 1))
    values = {name: 0.5 + noise[i] + np.zeros((12, 300)) for i, name in enumerate("ab")}
    found = compare_methods(values)
    worse = next(name for name, one in found.items() if one.best != name)
    variance = sum(noise[i].var() / 12 for i in range(2))  # of a mean of 12 drawn runs, twice
    one = found[worse]
    assert (one.high - one.low) / 2 == pytest.approx(1.96 * math.sqrt(variance), rel=0.05)


def test_without_a_difference_about_one_pair_in_twenty_is_called_different():
    random = np.random.default_rng(4)
    different = 0
    for _ in range(200):
        hard = random.beta(2, 1, 250)
        values = {name: (hard + random.normal(0, 0.1, 250))[None] for name in "ab"}
        different += not all(one.level for one in compare_methods(values, replicates=600).values())
    assert 0.02 * 200 <= different <= 0.10 * 200


def test_a_constant_shift_is_always_found():
    random = np.random.default_rng(5)
    for shift in (1e-6, 0.01, 0.3):
        values = random.random((1, 200))
        one = compare_methods({"a": values, "b": values - shift}, replicates=200)["b"]
        assert not one.level
        assert one.p == 0
        assert (one.low, one.high) == pytest.approx((-shift, -shift))


def test_the_best_and_what_equals_it_are_level():
    values = np.random.default_rng(6).random((2, 50))
    found = compare_methods({"a": values - 0.2, "b": values, "c": values[::-1]}, replicates=200)
    assert {name: one.level for name, one in found.items()} == {"a": False, "b": True, "c": True}
    assert found["b"].best == "b"
    assert (found["b"].difference, found["b"].low, found["b"].high, found["b"].p) == (0, 0, 0, 1)


def test_columns_have_the_draws_that_each_has_alone():
    random = np.random.default_rng(7)
    columns = [{"a": random.random((1, 30)), "b": random.random((1, 30))} for _ in range(3)]
    alone = [compare_methods(column, replicates=50) for column in columns]
    assert compare_columns(columns, replicates=50) == alone


def test_different_numbers_of_queries_are_refused():
    with pytest.raises(InputError, match="on 9 and on 10 queries; compare rows of one split"):
        compare_methods({"a": np.zeros((1, 10)), "b": np.zeros((1, 9))})
