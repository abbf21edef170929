"""``train``, ``check`` and ``list`` where nobody has labelled anything, in this process."""

import json

import numpy as np
import pytest

from softhash import UsageError
from softhash.cli.check import check
from softhash.cli.list import list_names
from softhash.cli.train import train
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.data.inspection import UNLABELLED
from softhash.evaluation.leakage import trained_on_queries
from softhash.model.hasher import Hasher
from softhash.training.methods import METHODS, unsupervised_methods

ITEMS = 40


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """Return a folder of pictures without labels; its table is kept beside it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    scenes.write(tmp_path / "photos", count=ITEMS, size=32, workers=1)
    (tmp_path / "photos" / "metadata.csv").rename(tmp_path / "table.csv")
    return tmp_path / "photos"


def train_on(photos, **options):
    model = photos.with_name("model")
    train(model, str(photos), bits=16, backbone="tiny", device="cpu", force=True, **options)
    return Hasher.load(model)


@pytest.mark.usefixtures("tiny_backbone")
def test_a_folder_without_labels_is_trained_on_as_a_whole(photos, capsys):
    hasher = train_on(photos, method="itq", protocol="random")
    printed = capsys.readouterr().err
    assert printed.count("no picture has a label: there is nothing to split by") == 1
    assert f"training itq, 16 bits, on all {ITEMS} pictures" in printed
    assert hasher.classes == ()
    assert hasher.label_classifier is None
    assert hasher.config["card"]["split"] == {"protocol": "all"}
    card = (photos.with_name("model") / "README.md").read_text()
    assert "no labels were used" in card
    assert "labels two pictures share" not in card


@pytest.mark.usefixtures("tiny_backbone")
def test_a_labelled_collection_is_split_for_such_a_method_too(photos):
    photos.with_name("table.csv").rename(photos / "metadata.csv")
    images = ImageSet.read(photos)
    hasher = train_on(photos, method="itq", protocol="random")
    card = hasher.config["card"]
    assert card["split"]["train"] == ITEMS * 4 // 10
    assert trained_on_queries(card, images.split("random", seed=0)) == "no"
    assert hasher.label_classifier.classes == images.classes


@pytest.mark.usefixtures("tiny_backbone")
@pytest.mark.parametrize("mode", [None, True])
def test_a_method_that_needs_labels_is_refused_with_the_way_out(photos, mode):
    with pytest.raises(UsageError, match=f"none of the {ITEMS} pictures has a label") as raised:
        train_on(photos, finetune=mode)
    assert f"best first: {unsupervised_methods()[0]}," in raised.value.hint


@pytest.mark.usefixtures("tiny_backbone")
@pytest.mark.parametrize("method", unsupervised_methods())
def test_fine_tuning_without_labels_is_refused(photos, method):
    with pytest.raises(UsageError, match=f"{method} .* features; train it with mode = 'frozen'"):
        train_on(photos, method=method, finetune=True)


def test_embeddings_need_no_labels_either(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(50, 24)))
    given = {"features": tmp_path / "x.npy", "bits": 8, "device": "cpu"}
    train(tmp_path / "model", method="pca", **given)
    assert Hasher.load(tmp_path / "model").encode(np.zeros((1, 24), np.float32)).shape == (1, 1)
    with pytest.raises(UsageError, match="give labels, or choose a method that needs none"):
        train(tmp_path / "other", method="idhn", **given)


def test_methods_that_need_no_labels_are_marked(capsys):
    list_names("methods", as_json=True)
    found = json.loads(capsys.readouterr().out)
    marked = {name for name, about in found.items() if about["unsupervised"]}
    assert marked == set(unsupervised_methods())
    list_names("methods")
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines if "Needs no labels." in line} == marked


def test_check_names_a_method_for_a_folder_without_labels(photos, capsys):
    check(str(photos))
    assert UNLABELLED in capsys.readouterr().out
    assert f"--method {unsupervised_methods()[0]}`" in UNLABELLED
    check(str(photos), as_json=True)
    assert json.loads(capsys.readouterr().out)["hints"] == [UNLABELLED]
    photos.with_name("table.csv").rename(photos / "metadata.csv")
    check(str(photos))
    assert "hint:" not in capsys.readouterr().out
    assert METHODS[unsupervised_methods()[0]].unsupervised
