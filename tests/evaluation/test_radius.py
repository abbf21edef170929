"""Items within a Hamming radius, against a loop over queries and items."""

import numpy as np
import pytest

from softhash import UsageError, evaluate_codes, pack
from softhash.evaluation import measure
from softhash.evaluation.evaluate import evaluate_outputs

RNG = np.random.default_rng(3)
LABELS = (RNG.random((160, 5)) < 0.3).astype(np.uint8)
OUTPUTS = LABELS @ RNG.normal(size=(5, 12)) + RNG.normal(size=(160, 12))
CODES = pack(OUTPUTS)
SIDES = CODES[:40], CODES[40:], LABELS[:40], LABELS[40:]
RADII = (0, 2, 4, 30)


def by_loop(radius):
    """Mean precision, recall and share of empty balls, one query and one item at a time."""
    values = []
    for code, label in zip(CODES[:40], LABELS[:40], strict=True):
        if not label.any():
            continue
        ball, hits, relevant = 0, 0, 0
        for other, tags in zip(CODES[40:], LABELS[40:], strict=True):
            distance = sum(int(byte).bit_count() for byte in code ^ other)
            shares = bool((label & tags).any())
            relevant += shares
            ball += distance <= radius
            hits += shares and distance <= radius
        empty = ball == 0
        values.append((0 if empty else hits / ball, hits / relevant if relevant else 0, empty))
    return np.mean(values, axis=0)


@pytest.mark.parametrize("ties", list(measure.TIES))
def test_balls_are_those_of_a_loop_under_every_tie_rule(ties, monkeypatch):
    monkeypatch.setattr(measure, "WORKING_BYTES", 1)  # a query at a time
    report = evaluate_codes(*SIDES, bits=12, at=10, ties=ties, radii=RADII)
    for radius in RADII:
        names = [f"{name}@r{radius}" for name in ("precision", "recall", "empty")]
        assert [report.metrics[name] for name in names] == pytest.approx(by_loop(radius))
    assert 0 < report.metrics["empty@r0"] < 1  # the fixture has both kinds
    assert report.metrics["recall@r30"] == 1  # everything is within more than the bits
    assert report.contract["radii"] == list(RADII)
    assert "precision 0" in report.contract["empty_ball"]
    assert np.isnan(report.per_query["precision@r2"]).sum() == (~LABELS[:40].any(axis=1)).sum()
    assert 0 < report.standard_errors["recall@r2"] < 0.2


def test_radii_change_nothing_else():
    plain = evaluate_codes(*SIDES, bits=12, at=10)
    report = evaluate_codes(*SIDES, bits=12, at=10, radii=(2,))
    assert not {name for name in plain.contract if "radi" in name or "ball" in name}
    assert plain.metrics == {n: v for n, v in report.metrics.items() if "@r" not in n}
    assert "within" not in str(plain)
    line = next(line for line in str(report).splitlines() if "within distance 2" in line)
    assert f"precision {report.metrics['precision@r2']:.4f}" in line
    assert f"empty for {report.metrics['empty@r2']:.1%} of queries" in line


def test_outputs_pass_radii_on():
    asked = {"at": 10, "radii": (2,), "describe": True}
    report = evaluate_outputs(OUTPUTS[:40], *SIDES[1:], rescore="bits", **asked)
    assert report.metrics["recall@r2"] == pytest.approx(by_loop(2)[1])
    assert report.codes["items"] == 120
    assert "recall@r2" not in report.rescored  # a ball has no order to rescore


@pytest.mark.parametrize("wrong", [-1, "2", 1.5])
def test_what_is_not_a_distance_is_refused(wrong):
    with pytest.raises(UsageError, match=f"radius '{wrong}'"):
        evaluate_codes(*SIDES, bits=12, radii=(2, wrong))
