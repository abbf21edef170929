"""Rankings by real-valued distances: on Hamming distances they are those of codes."""

import numpy as np
import pytest

from softhash import InputError, UsageError, evaluate_codes, pack
from softhash.evaluation import measure
from softhash.evaluation.by_distance import evaluate_distances

RNG = np.random.default_rng(0)
LABELS = (RNG.random((260, 6)) < 0.3).astype(np.uint8)
CODES = pack(LABELS @ RNG.normal(size=(6, 12)) + RNG.normal(size=(260, 12)))
QUERY, DATABASE = LABELS[:60], LABELS[60:]
HAMMING = np.bitwise_count(CODES[:60, None] ^ CODES[None, 60:]).sum(axis=2)
GIVEN = {"bits": 12, "distance": "a float"}


@pytest.mark.parametrize("ties", ["expected", "stable"])
@pytest.mark.parametrize("at", [(1, 30, "all"), (7, 5000)])
def test_hamming_distances_as_floats_give_the_report_of_the_codes(ties, at):
    asked = {"at": at, "ties": ties, "curves": (10, 50)}
    codes = evaluate_codes(CODES[:60], CODES[60:], QUERY, DATABASE, bits=12, **asked)
    floats = evaluate_distances(0.5 + 3.25 * HAMMING, QUERY, DATABASE, **GIVEN, **asked)
    assert floats.metrics == pytest.approx(codes.metrics)
    for name, values in codes.per_query.items():
        assert floats.per_query[name] == pytest.approx(values, nan_ok=True)
    for name, values in codes.curves.items():
        assert floats.curves[name] == pytest.approx(values)
    assert codes.contract["distance"] == "Hamming"
    assert floats.contract == {**codes.contract, "distance": "a float"}


def test_distances_without_ties_rank_alike_under_both_rules():
    near = RNG.random((60, 200))
    reports = [
        evaluate_distances(near, QUERY, DATABASE, **GIVEN, at=20, ties=ties)
        for ties in ("expected", "stable")
    ]
    assert reports[0].metrics == pytest.approx(reports[1].metrics)
    tied = evaluate_distances(np.zeros((60, 200)), QUERY, DATABASE, **GIVEN, at=20)
    shares = [(DATABASE[:, q > 0].any(axis=1)).mean() for q in QUERY if q.any()]
    assert tied.metrics["precision@20"] == pytest.approx(np.mean(shares))  # chance


def test_groups_of_queries_do_not_change_the_result(monkeypatch):
    whole = evaluate_distances(HAMMING * 1.0, QUERY, DATABASE, **GIVEN)
    monkeypatch.setattr(measure, "WORKING_BYTES", 1)
    one_by_one = evaluate_distances(HAMMING * 1.0, QUERY, DATABASE, **GIVEN)
    assert one_by_one.metrics == pytest.approx(whole.metrics)


def test_the_report_says_what_was_ranked_by():
    asked = evaluate_distances(HAMMING * 1.0, QUERY, DATABASE, **GIVEN, at=5)
    assert str(asked).endswith("ranked by a float, not by Hamming distance")
    codes = evaluate_codes(CODES[:60], CODES[60:], QUERY, DATABASE, bits=12, at=5)
    assert "ranked by" not in str(codes)


def test_wrong_distances_are_named():
    with pytest.raises(InputError, match=r"shape \(60, 199\)"):
        evaluate_distances(HAMMING[:, 1:] * 1.0, QUERY, DATABASE, **GIVEN)
    with pytest.raises(InputError, match="5 classes and database labels 6"):
        evaluate_distances(HAMMING * 1.0, QUERY[:, 1:], DATABASE, **GIVEN)
    with pytest.raises(InputError, match="nothing to rank"):
        evaluate_distances(HAMMING[:, :0] * 1.0, QUERY, DATABASE[:0], **GIVEN)
    bad = HAMMING * 1.0
    bad[7, 3] = np.nan
    with pytest.raises(InputError, match="first for query 7"):
        evaluate_distances(bad, QUERY, DATABASE, **GIVEN)
    with pytest.raises(UsageError, match="did you mean 'stable'"):
        evaluate_distances(HAMMING * 1.0, QUERY, DATABASE, **GIVEN, ties="stabel")
