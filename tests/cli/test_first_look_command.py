"""A new index fits the model that comes along to its own pictures, once."""

import json
import shutil

import pytest
from command import run

from softhash.data import scenes
from softhash.index import HammingIndex


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted") / "photos"
    scenes.write(folder, count=9, size=48, workers=1)
    return folder


def model_of(index):
    with HammingIndex.open(index) as opened:
        return opened.store.meta.model


@pytest.mark.slow
def test_two_folders_have_models_of_their_own_and_keep_them(photos, tmp_path):
    other = tmp_path / "other"
    scenes.write(other, count=9, size=48, seed=5, workers=1)
    for folder, index in ((photos, "a.index"), (other, "b.index")):
        made = run("index", folder, "-o", tmp_path / index, "--json")
        assert made.returncode == 0, made.stderr
        assert json.loads(made.stdout)["added"] == 9
    first, second = model_of(tmp_path / "a.index"), model_of(tmp_path / "b.index")
    assert first != second
    scenes.write(tmp_path / "more", count=3, size=48, seed=9, workers=1)
    for number, picture in enumerate(sorted((tmp_path / "more").rglob("*.png"))):
        shutil.copy(picture, other / f"new-{number}.png")
    again = run("index", other, "-o", tmp_path / "b.index")
    assert "3 added" in again.stderr, again.stderr
    assert model_of(tmp_path / "b.index") == second


@pytest.mark.slow
def test_a_model_that_was_not_kept_is_fitted_again(photos, tmp_path):
    """As after a kill between the two: the same pictures give the same model."""
    assert run("index", photos, "-o", tmp_path / "my.index").returncode == 0
    shutil.rmtree(tmp_path / "my.index" / "model")
    again = run("index", photos, "-o", tmp_path / "my.index")
    assert again.returncode == 0, again.stderr
    assert "nothing changed" in again.stderr
    found = run("search", next(photos.rglob("*.png")), "-i", tmp_path / "my.index", "--json")
    assert json.loads(found.stdout)["hits"][0]["distance"] <= 1
