"""``evaluate`` with radii, with the extremes of ties, and what it prints about the codes."""

import json

import numpy as np
import pytest
from command import run

import softhash

RNG = np.random.default_rng(1)


@pytest.fixture
def arrays(tmp_path):
    labels = (RNG.random((80, 5)) < 0.4).astype(np.uint8)
    labels[:, 0] |= ~labels.any(axis=1)
    codes = softhash.pack(RNG.normal(size=(80, 12)))
    named = {"query-codes": codes[:20], "database-codes": codes[20:]}
    named |= {"query-labels": labels[:20], "database-labels": labels[20:]}
    arguments = []
    for name, array in named.items():
        np.save(tmp_path / f"{name}.npy", array)
        arguments += [f"--{name}", tmp_path / f"{name}.npy"]
    return arguments, tuple(named.values())


def test_evaluate_measures_radii_and_describes_codes(arrays):
    files, (queries, database, query_labels, labels) = arrays
    asked = ["evaluate", *files, "--bits", 12, "--at", "10", "--radius", "2,3", "--device", "cpu"]
    report = json.loads(run(*asked, "--json").stdout)
    assert report["contract"]["radii"] == [2, 3]
    near = np.bitwise_count(queries[:, None] ^ database).sum(axis=2) <= 3
    hits = near & (query_labels.astype(int) @ labels.T > 0)
    precision = (hits.sum(axis=1) / np.maximum(near.sum(axis=1), 1)).mean()
    assert report["metrics"]["precision@r3"] == pytest.approx(precision)
    assert report["metrics"]["empty@r3"] == pytest.approx((~near.any(axis=1)).mean())
    assert report["codes"]["distinct"] == len(np.unique(database, axis=0))
    printed = run(*asked).stdout
    assert f"within distance 3: precision {precision:.4f}" in printed
    assert "of 60 codes distinct, bit balance" in printed


def test_evaluate_describes_the_first_bits_of_each_length(arrays):
    done = run("evaluate", *arrays[0], "--bits", "8,12", "--radius", 1, "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert "  8 bits: within distance 1" in done.stdout
    assert "  12 bits: within distance 1" in done.stdout


def test_evaluate_reports_the_extremes_of_ties(arrays):
    values = []
    for ties in ("worst", "expected", "best"):
        asked = ["--bits", 12, "--at", "10", "--ties", ties, "--json", "--device", "cpu"]
        report = json.loads(run("evaluate", *arrays[0], *asked).stdout)
        assert report["contract"]["ties"] == ties
        values.append(report["metrics"]["map@10"])
    assert values[0] < values[1] < values[2]


def test_a_radius_that_is_not_a_number_is_refused(arrays):
    done = run("evaluate", *arrays[0], "--bits", 12, "--radius", "-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'-1' is not a Hamming distance" in done.stderr
