"""``--engine`` of encode and index, as a person uses it."""

import json

import numpy as np
import pytest
from command import run

from softhash import HammingIndex, Hasher, ImageSet
from softhash.data import scenes


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines") / "photos"
    scenes.write(folder, count=9, size=64, workers=1)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines") / "model"
    Hasher("efficientnet_lite0", bits=24, size=64).save(folder)
    return folder


def engine_of(index):
    with HammingIndex.open(index) as opened:
        return opened.hasher.engine


@pytest.mark.parametrize("engine", ["fp32", "int8"])
def test_encode_uses_the_engine_asked_for(engine, photos, model, tmp_path):
    codes = tmp_path / "codes.npy"
    done = run("encode", photos, "-m", model, "-o", codes, "--engine", engine, "--device", "cpu")
    assert f"9 codes of 24 bits, made by {engine}" in done.stderr, done.stderr
    expected = Hasher.load(model).with_engine(engine).encode(ImageSet.read(photos), device="cpu")
    np.testing.assert_array_equal(np.load(codes), expected)


def test_encode_uses_the_engine_of_the_model_where_none_is_named(photos, model, tmp_path):
    done = run("encode", photos, "-m", model, "-o", tmp_path / "a.npy", "--device", "cpu")
    assert "9 codes of 24 bits\n" in done.stderr, done.stderr
    expected = Hasher.load(model).encode(ImageSet.read(photos), device="cpu")
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), expected)


def test_an_index_keeps_its_engine_and_another_is_refused(photos, model, tmp_path):
    index = tmp_path / "my.index"
    asked = "index", photos, "-o", index
    assert run(*asked, "-m", model, "--engine", "int8").returncode == 0
    assert engine_of(index) == "int8"
    scenes.write(tmp_path / "more", count=1, size=64, seed=7, workers=1)
    again = run(*asked, "-m", model)
    assert "nothing changed" in again.stderr, again.stderr
    refused = run(*asked, "--engine", "fp32")
    assert refused.returncode == 1
    assert "was made with the engine int8, not fp32; leave --engine out" in refused.stderr
    picture = photos / "scene-00004.png"
    for model_of in ((), ("-m", model)):  # a model in fp32 follows the index
        found = run("search", picture, "-i", index, *model_of, "--json")
        hit = json.loads(found.stdout)["hits"][0]
        assert (hit["file_name"], hit["distance"]) == (picture.name, 0)


def test_codes_that_exist_are_of_the_model_s_own_engine_unless_said(photos, model, tmp_path):
    codes, names = tmp_path / "codes.npy", tmp_path / "names.txt"
    encoded = "encode", photos, "-m", model, "-o", codes, "--ids", names, "--engine", "int8"
    assert run(*encoded).returncode == 0
    for engine, options in (("fp32", ()), ("int8", ("--engine", "int8"))):
        index = tmp_path / f"{engine}.index"
        given = "--codes", codes, "--names", names, "--bits", 24, "-m", model, *options
        done = run("index", photos, "-o", index, *given)
        assert done.returncode == 0, done.stderr
        assert engine_of(index) == engine


def test_an_engine_that_does_not_exist_is_named_with_those_that_do(photos, model, tmp_path):
    asked = "encode", photos, "-m", model, "-o", tmp_path / "c.npy", "--engine", "int4"
    refused = run(*asked)
    assert refused.returncode == 2
    assert "int8" in refused.stderr


def test_an_index_of_codes_alone_is_searched_by_the_engine_that_is_named(photos, model, tmp_path):
    codes, names, index = (tmp_path / name for name in ("c.npy", "n.txt", "codes.index"))
    encoded = "encode", photos, "-m", model, "-o", codes, "--ids", names, "--engine", "int8"
    assert run(*encoded).returncode == 0
    given = "index", photos, "-o", index, "--codes", codes, "--names", names, "--bits", 24
    assert run(*given).returncode == 0
    again = run(*given, "-m", model, "--engine", "int8")
    assert again.returncode == 0, again.stderr
    assert "9 replaced" in again.stderr
