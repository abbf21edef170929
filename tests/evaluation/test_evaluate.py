import json

import numpy as np
import pytest
import scipy.stats

from softhash import InputError, Report, UsageError, evaluate_codes, pack
from softhash.evaluation import measure
from softhash.evaluation.metrics import METRICS

RNG = np.random.default_rng(0)
LABELS = (RNG.random((260, 6)) < 0.3).astype(np.uint8)
CODES = pack(LABELS @ RNG.normal(size=(6, 12)) + RNG.normal(size=(260, 12)))
SIDES = CODES[:60], CODES[60:], LABELS[:60], LABELS[60:]


def usual_loop(query_codes, codes, query_labels, labels, n):
    """MAP as public code computes it: a stable sort a query; queries without labels left out."""
    scores = []
    for code, label in zip(query_codes, query_labels, strict=True):
        if not label.any():
            continue
        order = np.argsort(np.bitwise_count(codes ^ code).sum(axis=1), kind="stable")[:n]
        shared = (labels.astype(int) @ label)[order]
        relevant, ranks = shared > 0, np.arange(1, len(shared) + 1)
        scores.append(
            (relevant * np.cumsum(relevant) / ranks).sum() / max(1, relevant.sum()),
        )
    return np.mean(scores)


@pytest.mark.parametrize("n", [1, 10, 200])
def test_stable_map_is_that_of_the_usual_loop(n):
    report = evaluate_codes(*SIDES, bits=12, at=n, ties="stable")
    assert report.metrics[f"map@{n}"] == pytest.approx(usual_loop(*SIDES, n))


def test_expected_is_the_mean_of_stable_over_shuffled_databases():
    report = evaluate_codes(*SIDES, bits=12, at=30)
    shuffled = []
    for seed in range(300):
        order = np.random.default_rng(seed).permutation(200)
        sides = SIDES[0], SIDES[1][order], SIDES[2], SIDES[3][order]
        shuffled.append(evaluate_codes(*sides, bits=12, at=30, ties="stable").metrics)
    for name, value in report.metrics.items():
        values = np.array([metrics[name] for metrics in shuffled])
        assert abs(value - values.mean()) < 4 * values.std() / np.sqrt(300) + 1e-12, name


def test_the_report_carries_its_contract():
    report = evaluate_codes(*SIDES, bits=12, at=(5000, "all"))
    unlabelled = int((~SIDES[2].any(axis=1)).sum())
    assert unlabelled > 0
    assert report.contract["queries"] == 60 - unlabelled
    assert report.contract["queries_without_labels"] == unlabelled
    assert report.contract["database_without_labels"] == int((~SIDES[3].any(axis=1)).sum())
    assert report.contract["at"] == {"5000": 200, "all": 200}
    assert set(report.metrics) == {f"{name}@{cut}" for name in METRICS for cut in ("5000", "all")}
    for name in METRICS:  # a cut-off beyond the database is the whole database
        assert report.metrics[f"{name}@5000"] == report.metrics[f"{name}@all"]


def test_per_query_values_average_to_the_metric_and_skip_unlabelled_queries():
    report = evaluate_codes(*SIDES, bits=12, at=10)
    values = report.per_query["map@10"]
    assert np.array_equal(np.isnan(values), ~SIDES[2].any(axis=1))
    assert np.nanmean(values) == pytest.approx(report.metrics["map@10"])


def test_errors_are_what_other_queries_would_move_a_metric_by():
    report = evaluate_codes(*SIDES, bits=12, at=10)
    known = report.per_query["ndcg@10"][SIDES[2].any(axis=1)]
    assert report.standard_errors["ndcg@10"] == pytest.approx(scipy.stats.sem(known))
    drawn = np.random.default_rng(0).choice(known, (20_000, len(known)))
    assert report.standard_errors["ndcg@10"] == pytest.approx(drawn.mean(axis=1).std(), rel=0.03)
    assert report.as_dict()["standard_errors"] == report.standard_errors


def test_a_single_query_has_no_errors():
    queries = SIDES[0][:1], SIDES[1], np.ones_like(SIDES[2][:1]), SIDES[3]
    assert "standard_errors" not in evaluate_codes(*queries, bits=12).as_dict()


@pytest.mark.parametrize("ties", ["expected", "stable"])
def test_curves_pass_through_the_metrics(ties):
    report = evaluate_codes(*SIDES, bits=12, at=50, ties=ties, curves=(10, 50, 999))
    assert report.curves["n"] == [10, 50, 200]
    for name in ("acg", "ndcg", "precision", "recall"):
        assert report.curves[name][1] == pytest.approx(report.metrics[f"{name}@50"])


@pytest.mark.parametrize("ties", ["expected", "stable"])
def test_groups_of_queries_do_not_change_the_result(ties, monkeypatch):
    whole = evaluate_codes(*SIDES, bits=12, ties=ties)
    monkeypatch.setattr(measure, "WORKING_BYTES", 1)
    assert evaluate_codes(*SIDES, bits=12, ties=ties).metrics == pytest.approx(whole.metrics)


def test_a_report_is_saved_whole_and_kept(tmp_path):
    report = evaluate_codes(*SIDES, bits=12, at=10)
    report.save(tmp_path / "report.json")
    saved = json.loads((tmp_path / "report.json").read_text())
    assert saved["metrics"] == dict(report.metrics)
    assert saved["contract"] == dict(report.contract)
    assert "curves" not in saved
    with pytest.raises(InputError, match="force=True"):
        report.save(tmp_path / "report.json")
    assert isinstance(report, Report)


def test_wrong_input_is_named():
    query_codes, codes, query_labels, labels = SIDES
    with pytest.raises(InputError, match="query codes has 60 rows and query labels 59"):
        evaluate_codes(query_codes, codes, query_labels[1:], labels, bits=12)
    with pytest.raises(InputError, match="query labels has 5 classes and database labels 6"):
        evaluate_codes(query_codes, codes, query_labels[:, 1:], labels, bits=12)
    with pytest.raises(InputError, match="none of the 60 queries has a label"):
        evaluate_codes(query_codes, codes, query_labels * 0, labels, bits=12)
    with pytest.raises(UsageError, match="did you mean 'stable'"):
        evaluate_codes(*SIDES, bits=12, ties="stabel")
    for wrong in (0, "none", -1, "1.5"):
        with pytest.raises(UsageError, match=f"cut-off '{wrong}'"):
            evaluate_codes(*SIDES, bits=12, at=wrong)
    with pytest.raises(UsageError, match="no cut-off"):
        evaluate_codes(*SIDES, bits=12, at=())
    with pytest.raises(InputError, match="2 bytes per row, but 24 bits need 3"):
        evaluate_codes(*SIDES, bits=24)
    with pytest.raises(InputError, match="nothing to rank"):
        evaluate_codes(query_codes, codes[:0], query_labels, labels[:0], bits=12)


def test_codes_of_more_bits_than_are_claimed_are_refused():
    codes = np.full((4, 2), 255, np.uint8)
    labels = np.ones((4, 1), np.uint8)
    for wrong in ((codes, codes & np.array([255, 128], np.uint8)), (codes & 128, codes)):
        with pytest.raises(InputError, match="codes have"):
            evaluate_codes(*wrong, labels, labels, bits=9)
