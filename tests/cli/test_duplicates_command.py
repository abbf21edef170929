"""``softhash duplicates``, as a person runs it."""

import json
import os
import shutil
import sys

import numpy as np
import pytest
from command import run
from PIL import Image

from softhash.cli import main
from softhash.data import scenes
from softhash.files import hash_file
from softhash.index import Entry, HammingIndex
from softhash.index.entries import file_status

ODD = "scene-00000 (1)\ncopy.jpg"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three pictures, a copy with an odd name, and a small one."""
    folder = tmp_path_factory.mktemp("duplicates") / "photos"
    scenes.write(folder, count=3, size=96, workers=1)
    for path in sorted(folder.glob("*.png")):
        Image.open(path).convert("RGB").save(path.with_suffix(".jpg"))
        path.unlink()
    for path in folder.iterdir():
        if path.suffix != ".jpg":
            path.unlink()
    names = sorted(path.name for path in folder.iterdir())
    shutil.copy2(folder / names[0], folder / ODD)
    Image.open(folder / names[1]).resize((60, 60)).save(folder / "small.jpg")
    return folder


@pytest.fixture(scope="module")
def location(folder):
    location = folder.with_name("photos.index")
    names = sorted(path.name for path in folder.iterdir())
    with HammingIndex.create(location, bits=16) as index:
        index.set_root(folder)
        entries = [Entry(n, (), *file_status(folder / n), hash_file(folder / n)) for n in names]
        index.add_codes(np.zeros((len(names), 2), np.uint8), entries)
    return location


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def softhash(monkeypatch, capfdbinary):
    """The command, run within this process; returns exit code, output and messages."""

    def softhash(*arguments):
        monkeypatch.setattr("sys.argv", ["softhash", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        return ended.value.code or 0, *capfdbinary.readouterr()

    return softhash


def test_groups_are_printed_for_people_with_odd_names_made_visible(location):
    done = run("duplicates", location)
    assert done.returncode == 0, done.stderr
    kinds = [line.split()[0] for line in done.stdout.splitlines()]
    assert kinds in (
        ["group", "largest", "identical", "group", "largest", "near"],
        ["group", "largest", "near", "group", "largest", "identical"],
    )
    assert r"(1)\ncopy.jpg" in done.stdout
    assert "nothing was deleted" in done.stderr


def test_groups_are_printed_as_json(softhash, location):
    code, output, _ = softhash("duplicates", location, "--json")
    found = json.loads(output)
    assert code == 0
    assert {group[1]["kind"] for group in found["groups"]} == {"identical", "near"}
    assert found["missing"] == found["changed"] == found["broken"] == []


def test_paths_of_all_but_the_first_come_out_for_xargs(softhash, folder, location):
    code, output, _ = softhash("duplicates", location, "--print0")
    paths = output.split(b"\0")
    assert code == 0
    assert paths.pop() == b""
    assert {os.fsdecode(path) for path in paths} == {
        str(folder.resolve() / name) for name in (ODD, "small.jpg")
    }
    assert len(list(folder.iterdir())) == 5


def test_identical_files_alone_can_be_asked_for(softhash, location):
    _, output, _ = softhash("duplicates", location, "--identical", "--json")
    [group] = json.loads(output)["groups"]
    assert [copy["file_name"] for copy in group[1:]] == [ODD]


def test_files_that_were_left_out_are_named(softhash, folder, location):
    (folder / "small.jpg").rename(folder.with_name("away.jpg"))
    try:
        code, _, messages = softhash("duplicates", location, "--json")
    finally:
        folder.with_name("away.jpg").rename(folder / "small.jpg")
    assert code == 0
    assert b"left out, not there: 1 (small.jpg)" in messages


def test_what_cannot_be_done_is_said_in_one_line(softhash, location, tmp_path):
    assert softhash("duplicates", location, "--tolerance", 17)[0] == 2
    with HammingIndex.create(tmp_path / "codes.index", bits=8):
        pass
    code, output, messages = softhash("duplicates", tmp_path / "codes.index")
    assert (code, output) == (1, b"")
    assert b"codes only" in messages
    assert messages.count(b"\n") == 1
