"""``plot`` as a person runs it, on rows that were really measured."""

import shutil
from pathlib import Path

import pytest
from command import run

pytest.importorskip("matplotlib")

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
    done = run("plot", ROWS, "-o", tmp_path, *arguments)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert not (tmp_path / "report.html").exists()


def test_results_that_are_not_there_are_named(tmp_path):
    done = run("plot", tmp_path / "nowhere", "-o", tmp_path)
    assert done.returncode == 1
    assert "nowhere does not exist; give what `softhash bench -o` wrote" in done.stderr
