"""The model in the package, put together in an empty cache."""

import json
import os
import re
import tarfile
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from command import run
from PIL import Image

from softhash import Hasher, InputError, UsageError
from softhash.data import scenes
from softhash.model import default_model as shipped

DATA = Path(os.environ.get("SOFTHASH_TEST_DATA", "")) / "voc2012"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="module")
def model(cache):
    said = []
    folder = shipped.default_model(said.append)
    assert folder.is_relative_to(cache)
    assert len(said) == 1
    return folder


def test_the_head_is_small():
    assert (shipped.PACKED / shipped.HEAD).stat().st_size < 1_000_000


def test_it_is_put_together_once(model):
    before = (model / "model.onnx").stat().st_mtime_ns
    said = []
    assert shipped.default_model(said.append) == model
    assert (model / "model.onnx").stat().st_mtime_ns == before
    assert not said


def test_it_encodes_and_names_labels_of_voc(model, tmp_path):
    hasher = Hasher.load(model)
    assert hasher.bits == 48
    assert len(hasher.classes) == 20
    assert {"dog", "person", "sofa"} <= set(hasher.classes)
    pictures = [Image.new("RGB", (300, 200), "green"), np.zeros((224, 224, 3), np.uint8)]
    u, labels = hasher.outputs_and_labels(pictures)
    assert np.array_equal(u, hasher.outputs(pictures))
    assert len(labels) == 2
    assert all(set(one) <= set(hasher.classes) for one in labels)


@pytest.mark.skipif("SOFTHASH_TEST_DATA" not in os.environ, reason="SOFTHASH_TEST_DATA is not set")
def test_it_knows_what_real_photographs_show(model, tmp_path):
    """Pictures of its own train set: they tell whether all of it came through the packing."""
    with tarfile.open(DATA / "images-a.tar") as archive:
        files = islice((m for m in archive if m.name.endswith(".jpg")), 100)
        pictures = {Path(m.name).stem: archive.extractfile(m).read() for m in files}
    labels = {}
    with tarfile.open(DATA / "annotations.tar.xz") as archive:
        for member in (m for m in archive if Path(m.name).stem in pictures and m.size):
            found = re.findall(rb"<object>\s*<name>(\w+)", archive.extractfile(member).read())
            labels[Path(member.name).stem] = {name.decode() for name in found}
    _, likely = Hasher.load(model).outputs_and_labels(list(pictures.values()))
    first = zip(pictures, (next(iter(one), None) for one in likely), strict=True)
    assert np.mean([label in labels[name] for name, label in first]) > 0.8


def test_its_card_says_what_it_was_trained_on_and_where_it_fails(model):
    card = (model / "README.md").read_text()
    for word in ("VOC2012", "Limits", "20 kinds", "map"):
        assert word in card


def test_a_folder_is_indexed_and_searched_before_any_training(model, tmp_path):
    scenes.write(tmp_path / "photos", count=8, size=96, workers=1)
    for file in (tmp_path / "photos").glob("*.csv"):
        file.unlink()  # pictures alone, as most folders have them
    made = run("index", tmp_path / "photos", "-o", tmp_path / "my.index")
    assert made.returncode == 0, made.stderr
    query = next((tmp_path / "photos").rglob("scene-*"))
    found = run("search", query, "-i", tmp_path / "my.index", "-k", 3, "--json")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["hits"][0]["distance"] == 0


def test_a_cache_that_cannot_be_written_to_is_named_with_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(InputError, match=r"cannot write .*; name a model with -m MODEL, or"):
        shipped.default_model()


def test_packing_keeps_the_outputs_but_for_half_precision(model, tmp_path, monkeypatch, cache):
    hasher = Hasher.load(model)
    shipped.pack(hasher, {"map@100": 0.5}, tmp_path / "packed")
    monkeypatch.setattr(shipped, "PACKED", tmp_path / "packed")
    config = json.loads((tmp_path / "packed" / "config.json").read_text())
    assert config["sha256"] == {}
    again = Hasher.load(shipped.default_model())
    scenes.write(tmp_path / "scenes", count=8, size=96, workers=1)
    pictures = sorted((tmp_path / "scenes").rglob("*.jpg"))
    assert np.allclose(again.outputs(pictures), hasher.outputs(pictures), atol=1e-3)
    assert again.classes == hasher.classes


def test_a_model_that_cannot_be_shipped_is_refused(tmp_path):
    with pytest.raises(UsageError, match="knows names of labels"):
        shipped.pack(Hasher.from_features(4, bits=8), {}, tmp_path)
