"""Indexes without -o and -i: kept in the user's data folder, and found there."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from softhash.cli._app import app
from softhash.cli._errors import message
from softhash.cli._indexes import find_index
from softhash.data import scenes
from softhash.errors import UsageError
from softhash.index import HammingIndex


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The folder of indexes of a user who has none."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data" / "softhash" / "indexes"


@pytest.fixture
def photos(tmp_path):
    """A folder of three pictures whose name has a space."""
    scenes.write(tmp_path / "my photos", count=3, size=32, workers=1)
    return tmp_path / "my photos"


def _run(*arguments):
    done = CliRunner().invoke(app, list(map(str, arguments)))
    if isinstance(done.exception, UsageError):
        return message(done.exception)
    assert done.exit_code == 0, done.exception
    return done.stdout


def _index(folder, model):
    """Index a folder, and return what is said of it."""
    arguments = ["index", str(folder), "-m", str(model), "--device", "cpu"]
    return CliRunner().invoke(app, arguments, catch_exceptions=False).stderr


def test_an_index_without_a_place_is_kept_under_its_folders_name_and_found(
    kept, photos, tiny_model
):
    said = _index(photos, tiny_model)
    assert [path.name for path in kept.iterdir()] == ["my photos"]
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    assert f"the index is kept in {kept / 'my photos'}; `softhash search`" in said
    _index(photos / "metadata.csv", tiny_model)  # the same pictures, by their table
    assert [path.name for path in kept.iterdir()] == ["my photos"]
    for named in ([], ["-i", "my photos"], ["-i", kept / "my photos"]):
        found = json.loads(_run("search", "--id", 0, *named, "--json"))
        assert found["settings"]["index"] == str(kept / "my photos")
        assert found["settings"]["items"] == 3


def test_two_folders_of_one_name_have_an_index_each(kept, photos, tiny_model, tmp_path):
    other = tmp_path / "elsewhere" / "my photos"
    shutil.copytree(photos, other)
    for folder in (photos, other, photos):
        _index(folder, tiny_model)
    listed = json.loads(_run("list", "indexes", "--json"))
    assert {name: one["pictures"] for name, one in listed.items()} == {
        "my photos": str(photos), "my photos-2": str(other),
    }  # fmt: skip
    assert {(one["items"], one["bits"]) for one in listed.values()} == {(3, 12)}
    assert f"3 items, 12 bits, of {other}: {kept / 'my photos-2'}" in _run("list", "indexes")


def test_where_several_are_kept_the_error_lists_them(kept):
    for name in ("a", "b"):
        HammingIndex.create(kept / name, bits=8).close()
    assert _run("search", "--id", 0) == (
        "2 indexes are kept, and none was named: a, b; give one of them, as -i a; "
        "`softhash list indexes` has more"
    )
    assert "give one of them, as a;" in _run("serve")
    assert "give one of them, as -o a;" in _run("index", "--verify")


@pytest.mark.usefixtures("kept")
def test_where_none_is_kept_the_error_says_how_to_make_one():
    expected = "no index was named, and none is kept; make one with softhash index FOLDER, or give "
    assert _run("search", "--id", 0) == f"{expected}-i INDEX"
    assert _run("serve") == f"{expected}INDEX"
    assert _run("list", "indexes", "--json") == "{}\n"


def test_an_index_at_a_path_wins_over_a_kept_one_of_its_name(kept, tmp_path):
    HammingIndex.create(kept / "a", bits=8).close()
    assert find_index("a") == str(kept / "a")
    assert find_index("b") == "b"  # which opening it will report
    HammingIndex.create(tmp_path / "a", bits=8).close()
    assert find_index("a") == "a"


def test_codes_without_a_place_are_wrong_use(kept, tmp_path):
    (tmp_path / "names.txt").write_text("a.jpg\n")
    assert _run("index", "--names", "names.txt") == (
        "an index of codes needs a name; give -o INDEX"
    )
    assert not kept.exists()
