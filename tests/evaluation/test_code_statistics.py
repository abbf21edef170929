"""What codes are like, against loops over bits and scipy's correlation."""

from itertools import combinations

import numpy as np
import pytest
import scipy.stats

from softhash import InputError, describe_codes, evaluate_codes, pack
from softhash.evaluation import code_statistics

RNG = np.random.default_rng(5)
BITS = RNG.random((150, 11)) < RNG.random(11)
BITS[:, 4] = BITS[:, 2] ^ (RNG.random(150) < 0.1)  # a pair that is nearly the same
BITS[100:] = BITS[:50]
CODES = pack(BITS)


def test_statistics_are_those_of_a_loop_over_bits(monkeypatch):
    monkeypatch.setattr(code_statistics, "ROWS_AT_ONCE", 40)
    found = describe_codes(CODES, bits=11)
    rows = [tuple(row) for row in BITS.tolist()]
    balance = [2 * min(sum(bit), 150 - sum(bit)) / 150 for bit in zip(*rows, strict=True)]
    pairs = combinations(BITS.T.astype(float), 2)
    correlations = [abs(scipy.stats.pearsonr(one, other).statistic) for one, other in pairs]
    assert found["items"] == 150
    assert found["distinct"] == len(set(rows)) <= 100
    assert found["balance"] == pytest.approx(np.mean(balance))
    assert found["worst_balance"] == pytest.approx(min(balance))
    assert found["correlation"] == pytest.approx(np.mean(correlations))


def test_a_constant_bit_has_no_balance_and_correlates_with_nothing():
    codes = pack([[1, 1, -1], [1, -1, 1], [1, 1, -1], [1, -1, 1]])
    found = describe_codes(codes, bits=3)
    assert (found["distinct"], found["worst_balance"]) == (2, 0.0)
    assert found["balance"] == pytest.approx(2 / 3)
    assert found["correlation"] == pytest.approx(1 / 3)  # the two others are opposites
    assert describe_codes(codes[:, :1] & 0x80, bits=1)["correlation"] == 0


def test_a_report_describes_its_database_codes_when_asked():
    labels = (RNG.random((150, 3)) < 0.5).astype(np.uint8)
    sides = CODES[:30], CODES[30:], labels[:30], labels[30:]
    plain = evaluate_codes(*sides, bits=11, at=5)
    assert not plain.codes
    assert "codes" not in plain.as_dict()
    report = evaluate_codes(*sides, bits=11, at=5, describe=True)
    assert report.as_dict()["codes"] == describe_codes(CODES[30:], bits=11)
    distinct = len({bytes(code) for code in CODES[30:]})
    assert f"{distinct} of 120 codes distinct" in str(report)


def test_codes_of_another_length_are_refused():
    with pytest.raises(InputError, match="64 bits need 8"):
        describe_codes(CODES, bits=64)
