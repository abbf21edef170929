"""Benchmarks run by hand, and rarely: that they start, and that one which fails costs no other."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def test_codes_of_shards_are_measured(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    from benchmarks import shards

    monkeypatch.setattr(shards, "ITEMS", 2000)
    (line,) = shards._indexing(tmp_path)
    assert line["case"] == "index of 2,000 codes, 256 bits"
    assert line["peer"] > 0
    assert line["ours"] > 0


def test_triplets_are_measured_both_ways(monkeypatch):
    from benchmarks import triplets

    monkeypatch.setattr(triplets, "METHODS", ("dtsh",))
    monkeypatch.setattr(triplets, "BATCHES", (8,))
    (line,) = triplets.rows()
    assert line["case"] == "dtsh, batch of 8: all triplets at once"
    assert line["peer"] > 0
    assert line["ours"] > 0


def test_a_benchmark_that_fails_costs_no_other(monkeypatch, capsys):
    from benchmarks import __main__, decode, search
    from benchmarks._timing import row

    def fail():
        raise RuntimeError("no disk")

    monkeypatch.setattr(decode, "rows", fail)
    monkeypatch.setattr(search, "rows", lambda: [row("search", "a case", 2.0, 1.0, "ms", None)])
    monkeypatch.setattr(sys, "argv", ["benchmarks", "decode", "search"])
    with pytest.raises(SystemExit, match="failed: decode"):
        __main__.main()
    printed = capsys.readouterr()
    assert "a case" in printed.out
    assert "no disk" in printed.err
