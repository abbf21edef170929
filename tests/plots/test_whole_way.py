"""The whole way at a small size: a grid on drawn scenes, its rows, tables, figures and page.

Which method comes out ahead means nothing here: the backbone is tiny and knows nothing.
"""

import json
import re
import sys
from functools import partial

import pytest

pytest.importorskip("matplotlib")

from softhash.data import scenes
from softhash.data.decoding import image_size
from softhash.data.image_set import ImageSet
from softhash.errors import InputError, MissingExtraError, UsageError
from softhash.experiments.cells import RowOptions, curve_points
from softhash.experiments.grid import expand, run_grid
from softhash.experiments.per_query import FOLDER, QUERY_METRICS, save_per_query
from softhash.experiments.results import read_results
from softhash.plots.contact_sheet import frame_colour
from softhash.plots.differences import Differences, compare_rows
from softhash.plots.groups import group_rows
from softhash.plots.retrieval import Answer, find_answers, list_queries, retrieval_sheet
from softhash.plots.writing import Choice, write_report
from softhash.training.options import Options

METHODS = ["idhn", "idhn-fine-ce", "idhn-coarse-mse"]


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "scenes"
    scenes.write(folder, count=120, size=48, workers=1)
    return ImageSet.read(folder)


@pytest.fixture(scope="module")
def results(images, tmp_path_factory, _tiny_module):
    folder = tmp_path_factory.mktemp("results")
    content = {
        "backbone": "tiny", "hidden": 0, "epochs": 2,
        "grid": {"method": METHODS, "bits": [12, 16], "seed": [0, 1]},
        "methods": {"idhn-fine-ce": {"epochs": 1}},
    }  # fmt: skip
    options = Options(device="cpu", cache=folder / "cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "softhash.model.backbones", _tiny_module)
        split = images.split("random", seed=0)
        file = folder / "results.jsonl"
        kept = partial(save_per_query, folder / FOLDER)
        wanted = RowOptions(
            sheets=2, keep_per_query=lambda row, values, bits: kept(row, values, first_bits=bits)
        )
        assert run_grid(expand(content), split, file, options, wanted=wanted) == []
    return folder


def test_rows_hold_what_figures_need(results, images):
    rows = read_results(results)
    assert len(rows) == 12
    for row in rows:
        items = row["contract"]["database"]
        assert row["curves"]["n"] == curve_points(items)
        assert row["curves"]["recall"][-1] == 1.0
        # The curve's last point is the metric at the same cut.
        assert row["curves"]["acg"][-1] == pytest.approx(row["metrics"]["acg@all"], abs=1e-5)
        assert row["data"]["protocol"] == "random"
        versions = {"softhash", "commit", "torch", "numpy", "python", "device"}
        assert set(row["versions"]) == versions
        assert {"map@20", "ndcg@20", "acg@20", "precision@20"} <= row["metrics"].keys()
        assert [len(one["nearest"]) for one in row["hits"]] == [20, 20]
    split = images.split("random", seed=0)
    for one in rows[0]["hits"]:
        assert one["query"] in split.query.file_names
        assert set(one["nearest"]) <= set(split.database.file_names)
        wanted = split.query.labels[split.query.file_names.index(one["query"])]
        assert wanted.sum() > 1
    assert {row["recipe"]["epochs"] for row in rows} == {1, 2}


def test_tables_figures_and_page_are_written(results, images, tmp_path):
    warned = []
    choice = Choice(
        ("all", "100"), formats=("png", "svg", "pdf"), images=images, warn=warned.append
    )
    files = write_report(read_results(results), tmp_path / "out", choice)
    assert warned == []
    assert sorted(path.name for path in files) == sorted(
        path.name for path in (tmp_path / "out").iterdir()
    )
    names = {path.name for path in files}
    drawn = ("map-bits", "ndcg-bits", "wap", "curves", "precision-recall")
    assert {f"scenes-frozen-{n}.{s}" for n in drawn for s in ("png", "svg", "pdf")} <= names
    assert {"scenes-frozen-nearest-1.png", "scenes-frozen-nearest-2.png"} <= names
    markdown = (tmp_path / "out" / "tables.md").read_text()
    assert markdown.count("### ") == 9
    assert markdown.index("### 16 bits, 2 bytes") < markdown.index("### MAP@all")
    # A best value in each of two columns; but ACG of the whole database is the same for all.
    assert markdown.count("**") >= 2 * 2 * 6
    assert "**" not in markdown[markdown.index("### ACG@all") : markdown.index("### NDCG")]
    assert image_size(tmp_path / "out" / "scenes-frozen-curves.png")[1] > 800
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<img ") == len(drawn) + 2
    assert not re.search(r'(src|href)="(?!data:|#)', page), "the page needs nothing beside itself"
    assert "epochs 1" in page
    assert read_results(results)[0]["contract"]["split"] in page


def test_differences_of_a_real_grid_are_tested_in_every_column_that_has_values(results, tmp_path):
    rows = read_results(results)
    lines = compare_rows(rows, results / FOLDER)
    assert len(lines) == 2 * len(QUERY_METRICS) * len(METHODS)
    assert {(line["seeds"], line["queries"]) for line in lines} == {
        (2, rows[0]["contract"]["queries"])
    }
    choice = Choice((), formats=("svg",), tested=Differences(lines))
    write_report(rows, tmp_path, choice)
    tables = (tmp_path / "tables.md").read_text().split("### ")
    assert "not tested" not in tables[1]
    for table in tables[1:]:
        title = table.partition(":")[0]
        tested = title.lower() in {*(line["metric"] for line in lines), "16 bits, 2 bytes"}
        assert ("differences not tested" in table) == (not tested), title
        assert ("what leads its column" in table) == tested, title


def test_nothing_is_overwritten_unless_forced(results, tmp_path):
    rows = read_results(results)
    first = write_report(rows, tmp_path, Choice(("all",), formats=("svg",)))
    before = {path: path.read_bytes() for path in first}
    with pytest.raises(InputError, match=r"report\.html exists; to overwrite it, pass force=True"):
        write_report(rows, tmp_path, Choice(("all",)))
    again = write_report(rows, tmp_path, Choice(("all",), formats=("svg",), force=True))
    assert {path: path.read_bytes() for path in again} == before


def test_rows_without_curves_and_without_pictures_leave_figures_out_and_warn_once(
    results, tmp_path
):
    rows = [{k: v for k, v in row.items() if k != "curves"} for row in read_results(results)]
    warned = []
    files = write_report(rows, tmp_path, Choice(("all",), warn=warned.append))
    assert not [path for path in files if "curves" in path.name or "nearest" in path.name]
    assert len(warned) == 2
    assert "without curves" in warned[0]
    assert "when the collection is given" in warned[1]
    assert warned[0] in (tmp_path / "report.html").read_text()


def test_an_unknown_format_is_refused(results, tmp_path):
    with pytest.raises(UsageError, match="unknown format of figures 'gif'"):
        write_report(read_results(results), tmp_path, Choice(formats=("gif",)))


def test_without_matplotlib_nothing_is_written(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"softhash\[plot\]"):
        write_report(read_results(results), tmp_path / "out", Choice())
    assert not (tmp_path / "out").exists()


def test_frames_of_a_sheet_follow_the_labels(results, images):
    (group,) = group_rows(read_results(results))
    query = list_queries(group)[0]
    bits, answers = find_answers(group, query)
    assert bits == 16
    assert [one.label for one in answers] == ["IDHN", "IDHN-fine-ce", "IDHN-coarse-mse"]
    sheet = retrieval_sheet(images, query, answers, "title")
    assert sheet.tobytes() == retrieval_sheet(images, query, answers, "title").tobytes()
    labels = dict(zip(images.file_names, images.labels, strict=True))
    wanted = {i for i, on in enumerate(labels[query]) if on}
    frames = set()
    for row, answer in enumerate(answers):
        for column, name in enumerate(answer.nearest):
            shared = len(wanted & {i for i, on in enumerate(labels[name]) if on})
            corner = sheet.getpixel((170 + column * 88, 134 + row * 88))
            assert "#{:02x}{:02x}{:02x}".format(*corner) == frame_colour(shared, len(wanted))
            frames.add(corner)
    assert len(frames) > 1
    with pytest.raises(InputError, match=r"gone.png, which the results name, is not in"):
        retrieval_sheet(images, query, [Answer("x", ["gone.png"])], "title")


@pytest.mark.usefixtures("tiny_backbone")
def test_a_cell_whose_inputs_cannot_be_made_is_reported_and_the_rest_is_done(
    images, results, tmp_path
):
    content = {"hidden": 0, "epochs": 1, "bits": 8, "grid": {"backbone": ["absent", "tiny"]}}
    file, warned = tmp_path / "r.jsonl", []
    whole = json.dumps(read_results(results)[0])
    file.write_text(whole + "\n" + whole[:50])  # as if the last run had been cut off
    options = Options(device="cpu", cache=results / "cache", warn=warned.append)
    failed = run_grid(expand(content), images.split("random", seed=0), file, options)
    assert failed == warned
    assert "unknown backbone 'absent'" in failed[0]
    assert [row["recipe"]["backbone"] for row in read_results(file)] == ["tiny", "tiny"]
    assert read_results(file)[1]["hits"] == []
