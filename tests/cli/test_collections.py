"""``check``, ``list`` and ``demo``, as a person runs them."""

import json
import os
import shutil
import sys
from types import SimpleNamespace

import pytest
from command import run

from softhash.data import scenes
from softhash.data.decoding import image_size
from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex
from softhash.model.hasher import Hasher


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Thirty scenes: one file gone, one cut short, one twice, one without labels."""
    folder = tmp_path_factory.mktemp("collection") / "photos"
    scenes.write(folder, count=30, workers=1)
    (folder / "scene-00001.png").unlink()
    cut = folder / "scene-00002.png"
    cut.write_bytes(cut.read_bytes()[:800])
    (folder / "scene-00004.png").write_bytes((folder / "scene-00003.png").read_bytes())
    table = (folder / "metadata.csv").read_text().splitlines()
    table[6] = table[6].split(",")[0] + ","
    (folder / "metadata.csv").write_text("\n".join(table) + "\n")
    return folder


def test_check_finds_what_is_wrong(folder):
    done = run("check", folder, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["format"], found["images"], found["classes"]) == ("table", 29, 20)
    assert found["missing"] == ["scene-00001.png"]
    assert [one["file_name"] for one in found["broken"]] == ["scene-00002.png"]
    assert found["duplicates"] == [["scene-00003.png", "scene-00004.png"]]
    assert found["without_labels"] == ["scene-00005.png"]
    assert sum(found["labels_per_image"]) == 29
    assert found["labels_per_image"][0] == 1


def test_check_takes_labels_from_folders_and_counts_what_is_skipped(folder):
    (folder / "clip.mov").write_bytes(b"x")
    done = run("check", folder.parent, "--labels-from", "folders", "--json")
    (folder / "clip.mov").unlink()
    found = json.loads(done.stdout)
    assert found["images_per_class"] == {"photos": 29}
    assert found["skipped"] == {"damaged": 1, "video": 1}


def test_check_prints_bars_and_names(folder):
    done = run("check", folder)
    assert done.returncode == 0
    for text in ("29 pictures, 20 classes", "█", "missing: 1", "broken: 1", "scene-00002.png"):
        assert text in done.stdout
    assert "scene-00003.png = scene-00004.png" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["check", "nowhere"], 1, "nowhere does not exist"),
        (["check", ".", "--format", "coc"], 2, "unknown format 'coc'; did you mean 'coco'?"),
        (["list", "format"], 2, "unknown kind 'format'; did you mean 'formats'?"),
    ],
)
def test_wrong_use_is_named(arguments, code, message, tmp_path):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_empty_folder_says_what_was_looked_for(tmp_path):
    done = run("check", tmp_path)
    assert done.returncode == 1
    assert "in no layout that softhash knows" in done.stderr


@pytest.mark.parametrize(("kind", "name"), [("formats", "voc"), ("protocols", "random")])
def test_list_names_what_there_is(kind, name):
    assert name in run("list", kind).stdout
    assert name in json.loads(run("list", kind, "--json").stdout)


def test_list_keeps_brackets():
    done = run("list", "backbones")
    assert "softhash[timm]" in done.stdout
    assert "softhash[torchvision]" in done.stdout


def test_list_models_names_the_shipped_one_before_it_is_made_and_those_in_the_cache(
    tiny_model, tmp_path
):
    cache = tmp_path / "softhash" / "models"
    options = {"env": os.environ | {"XDG_CACHE_HOME": str(tmp_path)}}
    found = json.loads(run("list", "models", "--json", **options).stdout)
    assert list(found) == ["default"]
    shipped = found["default"]
    assert (shipped["bits"], len(shipped["classes"]), shipped["ready"]) == (256, 1274, False)
    assert shipped["folder"].startswith(str(cache))
    assert not cache.exists()  # nothing was made only to be listed
    shutil.copytree(tiny_model, cache / "mine")
    (cache / "broken").mkdir()
    done = run("list", "models", "--json", **options)
    found = json.loads(done.stdout)
    assert list(found) == ["default", "mine"]
    assert found["mine"]["classes"] == ["sea", "sky"]
    assert "broken lacks config.json" in done.stderr
    table = run("list", "models", **options).stdout
    assert f"12 bits, 2 classes, tiny: {cache / 'mine'}" in table
    assert "made when it is first used" in table


def test_scenes_are_drawn_once_into_the_cache(tmp_path):
    options = {"cwd": tmp_path, "env": os.environ | {"XDG_CACHE_HOME": str(tmp_path)}}
    first, second = (run("check", "scenes", "--json", **options) for _ in range(2))
    assert "drawing" in first.stderr
    assert second.stderr == ""
    assert first.stdout == second.stdout
    assert json.loads(first.stdout)["images"] == 3000
    assert [p.name for p in (tmp_path / "softhash").iterdir()] == ["scenes-3000"]


def test_the_demo_ends_by_itself_and_leaves_pictures_to_look_at(tmp_path):
    done = run("demo", "--dir", tmp_path / "demo", "--count", 150)
    assert done.returncode == 0, done.stderr
    assert "ndcg@100" in done.stdout
    assert "75 items, 48 bits" in done.stdout
    for name in ("scenes.png", "hits.png", "curves.png"):
        assert image_size(tmp_path / "demo" / name)[1] > 1000
    assert (tmp_path / "demo" / "search.html").read_text().count("data:image/jpeg") == 24
    model = (tmp_path / "demo" / "model" / "config.json").stat().st_mtime_ns
    again = run("demo", "--dir", tmp_path / "demo", "--count", 150)
    assert again.stdout == done.stdout
    assert (tmp_path / "demo" / "model" / "config.json").stat().st_mtime_ns == model


def test_the_demo_makes_its_index_anew_for_another_model(tmp_path, tiny_model, tiny_backbone):
    from softhash.cli.demo import _index

    scenes.write(tmp_path / "scenes", count=6, size=32, workers=1)
    images = ImageSet.read(tmp_path / "scenes")
    first, other = Hasher.load(tiny_model), Hasher("tiny", bits=16)
    for hasher in (first, first, other):
        with _index(hasher, images, tmp_path / "index") as index:
            assert (len(index), index.bits) == (6, hasher.bits)


def test_the_demo_serves_its_index_when_asked(tmp_path, monkeypatch):
    from softhash.cli.demo import _serve

    HammingIndex.create(tmp_path / "index", bits=8).close()
    served = []
    server = SimpleNamespace(serve=lambda index, port: served.append((index.bits, port)))
    monkeypatch.setitem(sys.modules, "softhash.server", server)
    _serve(tmp_path / "index", 8123)
    assert served == [(8, 8123)]
