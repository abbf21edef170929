"""``bench`` with a tiny backbone, called in this process so that the backbone can be put there."""

import shutil
import sys

import pytest
import typer
from command import run

from softhash.cli.bench import bench
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.experiments.results import read_results

pytestmark = pytest.mark.usefixtures("tiny_backbone")

RECIPE = """
backbone = "tiny"
hidden = 0
epochs = 1
[grid]
method = ["idhn", "idhn-fine-ce"]
bits = [8]
seed = [0, 1]
"""


@pytest.fixture
def run_bench(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "r.toml").write_text(RECIPE)
    scenes.write(tmp_path / "scenes", count=60, size=48, workers=1)

    def run(**options):
        data = str(tmp_path / "scenes")
        bench(tmp_path / "r.toml", data, tmp_path / "out", device="cpu", **options)
        return read_results(tmp_path / "out")

    return run


def test_a_grid_is_run_reported_and_resumed(run_bench, capsys):
    assert len(run_bench(only="idhn")) == 2
    printed = capsys.readouterr().err
    assert "1 of 2  idhn" in printed
    assert "left" in printed.split("\n")[printed.count("\n") - 2]
    rows = run_bench(resume=True, sheets=0)
    assert [row["recipe"]["method"] for row in rows] == ["idhn"] * 2 + ["idhn-fine-ce"] * 2
    assert [len(row["hits"]) for row in rows] == [2, 2, 0, 0]
    assert "idhn-fine-ce" in capsys.readouterr().err
    assert run_bench() == rows
    assert " of 4" not in capsys.readouterr().err


def test_rescored_searches_are_measured_where_that_is_asked_for(run_bench):
    plain = run_bench(only="idhn")
    assert not any("metrics_rescored" in row for row in plain)
    rows = run_bench(only="idhn", rescore=True)  # those that lack it are run again
    for row, before in zip(rows, plain, strict=True):
        assert row["metrics"] == before["metrics"]
        assert row["metrics_rescored"].keys() == row["metrics"].keys()
        assert row["metrics_rescored"] != row["metrics"]
        everything = "precision@all"
        assert row["metrics_rescored"][everything] == pytest.approx(row["metrics"][everything])
        by_features = row["metrics_rescored_by_features"]
        assert by_features.keys() == row["metrics"].keys()
        assert by_features[everything] == pytest.approx(row["metrics"][everything])
        assert by_features["ndcg@20"] not in (
            row["metrics"]["ndcg@20"],
            row["metrics_rescored"]["ndcg@20"],
        )
    assert run_bench(only="idhn", rescore=True) == rows
    quantised = run_bench(only="dqn", rescore=True)[-1]
    assert "metrics_rescored" not in quantised
    assert run_bench(only="dqn", rescore=True)[-1] == quantised


def test_pictures_without_labels_can_be_left_out(run_bench, tmp_path, capsys):
    images = ImageSet.read(tmp_path / "scenes")
    shutil.copy(images.path(0), tmp_path / "scenes" / "unlabelled.png")
    with (tmp_path / "scenes" / "metadata.csv").open("a") as table:
        table.write("unlabelled.png,\n")
    rows = run_bench(labelled=True, only="idhn", seeds=1)
    assert rows[0]["data"]["pictures"] == 60
    assert "1 pictures without labels are left out" in capsys.readouterr().err


def test_notes_of_the_collection_and_of_the_split_are_printed(run_bench, tmp_path, capsys):
    images = ImageSet.read(tmp_path / "scenes")
    with (tmp_path / "scenes" / "metadata.csv").open("a") as table:
        table.write(f"{images.file_names[0]},cat\n")
    run_bench(only="lsh", seeds=1)
    printed = capsys.readouterr().err
    assert "note: 1 files have rows that differ" in printed
    assert "note: 60 pictures with labels are fewer" in printed


def test_a_grid_runs_on_saved_features_without_pictures_and_without_the_backbone(
    run_bench, tmp_path, monkeypatch, capsys
):
    (plain,) = run_bench(only="lsh,float", seeds=1)[:1]
    file = tmp_path / "features.npz"
    bench(tmp_path / "r.toml", str(tmp_path / "scenes"), save_features=file, device="cpu")
    assert "has the features of split" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "softhash.model.backbones", None)
    shutil.rmtree(tmp_path / "scenes")
    monkeypatch.setenv("SOFTHASH_COMMIT", "abc123")
    options = {"output": tmp_path / "there", "features": file, "device": "cpu"}
    bench(tmp_path / "r.toml", only="softhash,lsh,float", seeds=1, **options)
    rows = {row["recipe"]["method"]: row for row in read_results(tmp_path / "there")}
    assert rows.keys() == {"softhash", "lsh", "float"}
    for row in rows.values():
        assert row["versions"]["commit"] == "abc123"
        assert row["contract"]["split"] == plain["contract"]["split"]
        assert row["data"] == plain["data"]
    assert rows["lsh"]["metrics"]["map@all"] == pytest.approx(plain["metrics"]["map@all"], abs=0.02)
    assert rows["float"]["contract"]["distance"] == "cosine of float features"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give either --data, or --features"),
        ({"data": "x", "features": "y"}, "give either --data, or --features"),
        ({"features": "y", "save_features": "z"}, "--save-features needs --data"),
        ({"data": "x"}, "give --output"),
    ],
)
def test_options_of_bench_that_do_not_go_together_are_a_usage_error(options, message, tmp_path):
    with pytest.raises(typer.BadParameter, match=message):
        bench(tmp_path / "r.toml", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"part": "4/3"}, "--part is '4/3'; give one as 1/3"),
        ({"part": "0/3"}, "--part is '0/3'"),
        ({"part": "a"}, "--part is 'a'"),
        ({"curves": "x"}, "--curves has 'x'; give whole numbers"),
    ],
)
def test_a_share_or_a_length_that_cannot_be_is_refused_before_pictures_are_read(
    options, message, tmp_path
):
    (tmp_path / "r.toml").write_text('method = "lsh"\n')
    with pytest.raises(typer.BadParameter, match=message):
        bench(tmp_path / "r.toml", data="nowhere", output=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_wrong_number_of_bits_is_named(run_bench):
    with pytest.raises(Exception, match="--bits has 'x'; give whole numbers"):
        run_bench(bits="12,x")


def test_the_traceback_of_a_failed_cell_is_printed_where_details_are_asked_for(tmp_path):
    """By the real command, whose cells fail before any backbone is needed."""
    (tmp_path / "r.toml").write_text('backbone = "alexnte"\n[grid]\nbits = [8]\n')
    scenes.write(tmp_path / "scenes", count=20, size=48, workers=1)
    command = ["bench", tmp_path / "r.toml", "--data", tmp_path / "scenes", "-o", tmp_path / "out"]
    plain, verbose = run(*command), run("-v", *command)
    for done in (plain, verbose):
        assert done.returncode == 1
        assert "seed 0: unknown backbone 'alexnte'" in done.stderr
    assert "Traceback" not in plain.stderr
    assert "in prepare_inputs" in verbose.stderr
