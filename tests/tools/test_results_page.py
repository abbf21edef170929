"""The tool that writes the page of a collection from its rows."""

import json
import runpy
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from softhash.training.recipe import Recipe

TOOL = Path(__file__).parents[2] / "tools" / "results_page.py"
CUTS = (20, 100, 5000)
CURVES = {name: [1.0, 2.0] for name in ("n", "acg", "ndcg", "precision", "recall")}


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOL.parents[1]))
    return runpy.run_path(str(TOOL), run_name="tool")


def row(value, variant="", *, bits=32, method="softhash", seed=0, split="ab12", **data):
    metrics = {f"{m}@{cut}": value for m in ("map", "wap", "acg", "ndcg") for cut in CUTS}
    counts = {"queries": 9, "database": 90, "classes": 7, "bits": bits}
    return {
        "variant": variant,
        "recipe": Recipe(method=method, bits=bits, seed=seed, hidden=len(variant)).as_dict(),
        "metrics": metrics,
        "contract": {**counts, "split": split * 16, "distance": "cosine of float features"},
        "data": {
            "name": "photos", "format": "table", "pictures": 120, "protocol": "given", "seed": 0,
            "labels_per_picture": 2.5, "train": 21, **data,
        },
        "curves": CURVES,
        "seconds": {"train": 3.25},
        "versions": {"commit": "abc123", "device": "a GPU"},
    }  # fmt: skip


def write_rows(folder, rows, name="first-screen.jsonl"):
    (folder / name).write_text("".join(json.dumps(one) + "\n" for one in rows))


def made_rows():
    codes = [row(0.5 + b / 100 + s / 1000, bits=b, seed=s) for b in (16, 32) for s in (0, 1)]
    return [*codes, row(0.6, "before"), row(0.75, bits=48, method="float")]


def test_a_page_has_every_number_from_its_rows(tool, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(tool["write_page"].__globals__, "keep_report", lambda *given: None)
    write_rows(tmp_path, made_rows())
    ablation = [row(0.8), row(0.7, "both paths")]
    write_rows(tmp_path, ablation, "first-screen-ablation.jsonl")
    assert tool["main"]([str(tmp_path), "--title", "Photos"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "README.md")
    page = (tmp_path / "README.md").read_text()
    for wanted in (
        "# Photos\n", "9 queries, 21 to train, 90 database", "2.5 per picture", "abc123",
        "| softhash | **0.8205** ± 0.0007 |", "| softhash (before) | <u>0.6000</u> |",
        "| float features | 0.7500 | 0.7500 |", "| softhash (both paths) | <u>0.7000</u> |",
        "| softhash | 3.2 s |", "--protocol given", "![NDCG@20 against bits](first-screen/",
    ):  # fmt: skip
        assert wanted in page
    prose = [line for line in page.splitlines() if not line.startswith(("|", "![", "softhash "))]
    assert max(map(len, prose)) <= 100


def test_rows_that_do_not_make_a_page_end_in_one_line(tool, tmp_path):
    assert "does not exist" in tool["main"]([str(tmp_path), "--title", "x"])
    write_rows(tmp_path, [row(0.5), row(0.5, split="cd34")])
    assert "2 splits or modes" in tool["main"]([str(tmp_path), "--title", "x"])
    old = row(0.5)
    del old["data"]["labels_per_picture"]
    write_rows(tmp_path, [old])
    assert "an older version" in tool["main"]([str(tmp_path), "--title", "x"])


@pytest.mark.slow
def test_tables_and_figures_are_written_beside_the_page(tool, tmp_path):
    write_rows(tmp_path, made_rows())
    tool["write_page"](tmp_path, "Photos", "first-screen.md")
    page = (tmp_path / "first-screen.md").read_text()
    names = {path.name for path in (tmp_path / "first-screen").iterdir()}
    drawn = {f"photos-frozen-{n}.png" for n in ("map-bits", "ndcg-bits", "wap", "curves")}
    assert {"tables.md", "tables.tex"} | drawn <= names
    assert "report.html" not in names
    assert all(f"(first-screen/{name})" in page for name in sorted(drawn)[1:3])
