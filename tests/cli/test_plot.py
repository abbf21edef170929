"""``plot`` as a person runs it, on rows that were really measured."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from command import run

pytest.importorskip("matplotlib")

from softhash.experiments.per_query import QUERY_METRICS, save_per_query
from softhash.experiments.results import read_results

ROWS = Path(__file__).parents[2] / "docs" / "results" / "voc2012"


def test_published_rows_become_the_published_tables(tmp_path):
    rows, figures = tmp_path / "rows", tmp_path / "figures"
    rows.mkdir()
    for name in ("idhn-variants.jsonl", "idhn-settings.jsonl"):
        shutil.copy(ROWS / name, rows)
    done = run("plot", rows, "-o", figures, "--ties", "stable", "--format", "png")
    assert done.returncode == 0, done.stderr
    written = done.stdout.split()
    assert str(figures / "report.html") in written
    assert str(figures / "voc2012-frozen-settings.png") in written
    assert all(Path(name).is_file() for name in written)
    tables = (figures / "tables.md").read_text()
    assert "**0.8349** ± 0.0009 [0.7064†]" in tables  # as docs/results/voc2012/appendix.md
    assert "| 20/q | **0.8103** ± 0.0015 [0.6682†]" in tables
    assert "figures of curves are left out" in done.stderr
    assert "differences not tested" in tables
    assert "commit unknown" in tables


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["--at", "77"],
            2,
            "the rows have no map@77; they were measured at 20, 100, 1000, 5000, all",
        ),
        (["--ties", "stabel"], 2, "unknown tie rule 'stabel'; did you mean 'stable'"),
        (["--only", "nosuch"], 2, "unknown method of these results 'nosuch'"),
        (["--format", "gif"], 2, "unknown format of figures 'gif'"),
    ],
)
def test_wrong_use_is_named(arguments, code, message, tmp_path):
    done = run("plot", ROWS / "first-screen.jsonl", "-o", tmp_path, *arguments)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert not (tmp_path / "report.html").exists()


def test_results_that_are_not_there_are_named(tmp_path):
    done = run("plot", tmp_path / "nowhere", "-o", tmp_path)
    assert done.returncode == 1
    assert "nowhere does not exist; give what `softhash bench -o` wrote" in done.stderr


@pytest.mark.slow
def test_rows_of_several_commits_need_a_word(tmp_path):
    rows = [json.loads(line) for line in (ROWS / "idhn-variants.jsonl").read_text().splitlines()]
    rows[0]["versions"]["commit"] = "ab12-dirty"
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    figures = tmp_path / "figures"
    done = run("plot", tmp_path / "rows.jsonl", "-o", figures, "--format", "svg")
    assert done.returncode == 2
    assert "2 commits: ab12-dirty (1), unknown (59); run the rest again" in done.stderr
    assert not figures.exists()
    done = run("plot", tmp_path / "rows.jsonl", "-o", figures, "--format", "svg", "--mixed-commits")
    assert done.returncode == 0, done.stderr
    assert "; rows of 2 commits" in (figures / "tables.md").read_text()


@pytest.mark.slow
def test_values_of_single_queries_are_tested_and_what_was_found_is_kept(tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    lines = (ROWS / "first-screen.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    chosen = [
        line
        for line, row in zip(lines, rows, strict=True)
        if row["recipe"]["method"] in ("itq", "idhn") and row["recipe"]["bits"] == 48
    ]
    (results / "results.jsonl").write_text("\n".join(chosen) + "\n")
    spread = np.linspace(-0.02, 0.02, 101)
    for row in read_results(results):
        values = {name: row["metrics"][name] + spread for name in QUERY_METRICS}
        save_per_query(results / "per-query", row, values)
    found = results / "significance.json"
    done = run("plot", results, "-o", tmp_path / "a", "--format", "svg", "--only", "itq")
    assert done.returncode == 0, done.stderr
    assert not found.exists()  # a part of the rows is not what the file is for
    done = run("plot", results, "-o", tmp_path / "a", "--format", "svg", "--force")
    assert done.returncode == 0, done.stderr
    tested = json.loads(found.read_text())
    assert {(one["method"], one["best"], one["level"]) for one in tested} == {
        ("IDHN", "IDHN", True), ("ITQ", "IDHN", False),
    }  # fmt: skip
    first = (tmp_path / "a" / "tables.md").read_text()
    assert first.count("in bold what leads its column") == 1 + len(QUERY_METRICS)
    # Without the values, the file is enough; another may be given.
    shutil.rmtree(results / "per-query")
    done = run("plot", results, "-o", tmp_path / "b", "--format", "svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "b" / "tables.md").read_text() == first
    other = tmp_path / "other.json"
    other.write_text(json.dumps([one | {"level": True} for one in tested]))
    done = run("plot", results, "-o", tmp_path / "c", "--format", "svg", "--significance", other)
    assert done.returncode == 0, done.stderr
    assert "≈" in (tmp_path / "c" / "tables.md").read_text()
    done = run("plot", results, "-o", tmp_path / "d", "--significance", tmp_path / "no.json")
    assert done.returncode == 1
    assert "no.json cannot be read" in done.stderr
