"""``softhash index --keep-features``: kept, remembered, filled in, let go."""

import json

import pytest

from softhash.cli._app import app
from softhash.data import scenes
from softhash.errors import UsageError

CPU = ("--device", "cpu")


@pytest.fixture
def folder(tmp_path):
    scenes.write(tmp_path / "photos", count=8, size=48, workers=1)
    return tmp_path / "photos"


@pytest.fixture
def softhash(capsys):
    """Run a command in this process, and return what it printed, on stdout and on stderr."""

    def softhash(*arguments):
        capsys.readouterr()
        app([*map(str, arguments)], standalone_mode=False)
        return capsys.readouterr()

    return softhash


def test_features_are_kept_remembered_filled_in_and_let_go(softhash, folder, tiny_model, tmp_path):
    location = tmp_path / "index"
    index = ("index", folder, "-o", location, *CPU)
    search = ("search", folder / "scene-00003.png", "-i", location, "--json")
    features = ("--rescore", "features")
    softhash(*index, "-m", tiny_model)
    later = softhash(*index, "--keep-features", "--json")
    assert "computing the features of 8 items, of 8" in later.err
    assert json.loads(later.out)["features"] == {"kept": 8, "computed": 8, "missing": 0}
    hits = json.loads(softhash(*search, *features).out)["hits"]
    assert hits[0]["file_name"] == "scene-00003.png"
    assert hits[0]["rescored"] == pytest.approx(0, abs=1e-4)

    (kept,) = location.glob("features-*.bin")
    kept.write_bytes(kept.read_bytes()[:100])  # as after a crash
    again = softhash(*index)  # which remembers
    assert "computing the features of 5 items, of 8" in again.err
    assert json.loads(softhash(*search, *features).out)["hits"] == hits

    (folder / "scene-00005.png").unlink()
    kept.write_bytes(b"")
    left = softhash(*index, "--keep-missing", "--json")
    assert json.loads(left.out)["features"] == {"kept": 7, "computed": 7, "missing": 1}
    assert "1 item has no features" in left.err
    assert json.loads(softhash("index", "--verify", "-o", location, "--json").out)["problems"] == []

    assert "no longer kept" in softhash("index", "-o", location, "--drop-features").err
    assert not kept.exists()
    assert "features" not in json.loads(softhash(*index, "--keep-missing", "--json").out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["photos", "-o", "milvus://nowhere:1/x", "--keep-features"], "cannot keep features"),
        (["-o", "index", "--codes", "c.npy", "--names", "n.txt", "--keep-features"], "--codes"),
        (["-o", "index", "--keep-features"], "name the pictures to index"),
    ],
)
def test_what_cannot_keep_features_says_so(softhash, arguments, message):
    with pytest.raises(UsageError, match=message):
        softhash("index", *arguments)
