"""The model in the package, put together in an empty cache."""

import json
import os
import re
import shutil
import tarfile
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from command import run
from PIL import Image
from safetensors.numpy import load_file

from softhash import Hasher, InputError
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.model import default_model as shipped
from softhash.model import folder as model_folder

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
    assert (shipped.PACKED / shipped.HEAD).stat().st_size < 2_000_000


def test_it_is_put_together_once(model):
    before = (model / "model.onnx").stat().st_mtime_ns
    said = []
    assert shipped.default_model(said.append) == model
    assert (model / "model.onnx").stat().st_mtime_ns == before
    assert not said


def test_a_planted_model_is_not_used(tmp_path, monkeypatch):
    """One that another user could have put there, and one that is another model."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    parts = dict.fromkeys(("model.safetensors", "model.onnx", "labels.safetensors"), b"")
    monkeypatch.setattr(shipped, "_parts", lambda *_: parts)
    folder, config = shipped.default_folder(), shipped.packed_config()

    def is_made():
        said = []
        assert shipped.default_model(said.append) == folder
        assert model_folder.read_config(folder).classes == config.classes
        return bool(said)

    assert [is_made(), is_made()] == [True, False]
    folder.parent.chmod(0o777)
    assert [is_made(), is_made()] == [True, False]
    renamed = replace(config, classes=("cat", *config.classes[1:]))
    model_folder.write_model(folder, renamed, parts, force=True)
    assert [is_made(), is_made()] == [True, False]
    (folder / "config.json").write_text("{")
    assert [is_made(), is_made()] == [True, False]


def test_a_damaged_head_is_named(tmp_path, monkeypatch):
    packed = shutil.copytree(shipped.PACKED, tmp_path / "packed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(shipped, "PACKED", packed)
    data = bytearray((packed / shipped.HEAD).read_bytes())
    data[-1] ^= 1
    (packed / shipped.HEAD).write_bytes(data)
    with pytest.raises(InputError, match=r"head\.safetensors is not what was saved"):
        shipped.default_model()


def test_it_encodes_and_names_a_thousand_words(model, tmp_path):
    hasher = Hasher.load(model)
    assert hasher.bits == 256
    assert len(set(hasher.classes)) == len(hasher.classes) > 1000
    assert {"dog", "person", "mountain", "golden retriever", "espresso"} <= set(hasher.classes)
    pictures = [Image.new("RGB", (300, 200), "green"), np.zeros((224, 224, 3), np.uint8)]
    u, labels = hasher.outputs_and_labels(pictures)
    assert np.array_equal(u, hasher.outputs(pictures))
    assert len(labels) == 2
    assert all(set(one) <= set(hasher.classes) for one in labels)


def test_encode_takes_it_where_none_is_named(model, tmp_path):
    """It knows no folder yet, so codes are the same on every machine."""
    scenes.write(tmp_path / "photos", count=4, size=64, workers=1)
    with tarfile.open(tmp_path / "photos.tar", "w") as archive:
        for picture in (tmp_path / "photos").glob("*.png"):
            archive.add(picture, picture.name)
    done = run("encode", tmp_path / "photos", "-o", tmp_path / "codes.npy", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert "4 codes of 256 bits" in done.stderr
    codes = np.load(tmp_path / "codes.npy")
    expected = Hasher.load(model).encode_readable(ImageSet.read(tmp_path / "photos"))
    np.testing.assert_array_equal(codes, expected.values)
    shard = run("encode", tmp_path / "photos.tar", "-o", tmp_path / "codes", "--device", "cpu")
    assert shard.returncode == 0, shard.stderr
    assert "4 pictures of 1 shard in" in shard.stderr


@pytest.mark.skipif("SOFTHASH_TEST_DATA" not in os.environ, reason="SOFTHASH_TEST_DATA is not set")
def test_it_knows_what_real_photographs_show(model, tmp_path):
    """Pictures of its own train set: they tell whether all of it came through the packing."""
    renamed = {
        b"aeroplane": "airplane", b"diningtable": "dining table", b"motorbike": "motorcycle",
        b"pottedplant": "potted plant", b"sofa": "couch", b"tvmonitor": "tv",
    }  # fmt: skip
    with tarfile.open(DATA / "images-a.tar") as archive:
        files = islice((m for m in archive if m.name.endswith(".jpg")), 100)
        pictures = {Path(m.name).stem: archive.extractfile(m).read() for m in files}
    labels = {}
    with tarfile.open(DATA / "annotations.tar.xz") as archive:
        for member in (m for m in archive if Path(m.name).stem in pictures and m.size):
            found = re.findall(rb"<object>\s*<name>(\w+)", archive.extractfile(member).read())
            names = {renamed.get(name) or name.decode() for name in found}
            labels[Path(member.name).stem] = names
    _, likely = Hasher.load(model).outputs_and_labels(list(pictures.values()))
    known = set.union(*labels.values())
    first = [next((word for word in one if word in known), None) for one in likely]
    pairs = zip(pictures, first, strict=True)
    assert np.mean([label in labels[name] for name, label in pairs]) > 0.8


def test_its_weights_are_those_that_torch_puts_together(model):
    """Their checksum is what indexes know their model by."""
    import torch

    hasher = Hasher.load(model)
    torch_made = Hasher.from_config(hasher._config, weights="default")
    head = load_file(shipped.PACKED / shipped.HEAD)
    both = [
        [torch.from_numpy(head[f"{part}.{name}"]) for name in ("weight", "bias")]
        for part in ("learned", "plain")
    ]
    turns = [iter(zip(*part, strict=True)) for part in both]
    taken = [next(turns[place % 4 > 0]) for place in range(hasher.bits)]  # one, then three
    weight, bias = (torch.stack(part).float() for part in zip(*taken, strict=True))
    width = weight.shape[1]
    state = {"mean": torch.zeros(width), "scale": torch.ones(width)}
    torch_made.network.head.load_state_dict(state | {"output.weight": weight, "output.bias": bias})
    assert torch_made.identity == hasher.identity
    scenes.write(model.parent / "scenes", count=8, size=96, workers=1)
    pictures = sorted((model.parent / "scenes").glob("*.png"))
    assert len(pictures) == 8
    codes = hasher.encode(pictures)
    assert np.array_equal(torch_made.encode(pictures), codes)
    hasher.network.head.output.bias.data.neg_()  # the folder fills a network that can be trained
    assert not np.array_equal(hasher.encode(pictures), codes)


def test_bits_are_fitted_to_a_collection_and_learned_ones_stay(model):
    draw = np.random.default_rng(0)
    packed = shipped._packed_arrays()
    axes, mean = packed["prior.axes"], packed["prior.mean"]
    features = (mean + draw.standard_normal((300, 60)) @ axes[100:160]).astype(np.float32)
    plain, fitted = Hasher.load(model), shipped.fit_default_model(features)
    assert fitted.bits == plain.bits
    assert fitted.identity != plain.identity
    assert fitted.identity == shipped.fit_default_model(features).identity
    before, after = (one.head_only().outputs(features) for one in (plain, fitted))
    learned = np.arange(0, plain.bits, 4)
    others = np.setdiff1d(np.arange(plain.bits), learned)
    assert np.allclose(before[:, learned], after[:, learned], atol=1e-4)
    assert not np.allclose(before[:, others], after[:, others], atol=0.1)
    assert "300 pictures" in fitted.config["card"]["fitted"]
    assert fitted.label_classifier.probabilities(features[:1]).shape == (1, len(fitted.classes))


def test_its_card_says_what_it_was_trained_on_and_where_it_fails(model):
    card = (model / "README.md").read_text()
    for word in ("VOC2012", "COCO", "IAPR TC-12", "Limits", "Average precision per word"):
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
    with pytest.raises(InputError, match=r"cannot write .*; name another model, or"):
        shipped.default_model()
