"""Models of the first bits of longer codes: with and without torch, saved, trained on."""

import json
import shutil
import sys

import numpy as np
import onnx
import pytest
import torch

from softhash import HammingIndex
from softhash.codes import pack, unpack
from softhash.errors import UsageError
from softhash.model.hasher import Hasher
from softhash.model.label_classifier import LabelClassifier
from softhash.model.weights import arrays

RANDOM = np.random.default_rng(0)
FEATURES = RANDOM.normal(size=(7, 20)).astype(np.float32)
PIXELS = RANDOM.integers(0, 256, (5, 32, 32, 3), dtype=np.uint8)


@pytest.fixture
def saved(tiny_model):
    """A saved model of pictures, of 12 bits."""
    return Hasher.load(tiny_model)


def of_features(**options):
    hasher = Hasher.from_features(20, bits=24, **options)
    torch.manual_seed(0)
    for parameter in hasher.network.parameters():
        torch.nn.init.normal_(parameter)
    return hasher


@pytest.mark.parametrize("bits", [1, 5, 8, 11])
def test_short_codes_are_the_first_bits_of_the_long_ones(saved, bits):
    short = saved.shortened(bits)
    whole = unpack(saved.encode(PIXELS, device="cpu"), 12)
    np.testing.assert_array_equal(unpack(short.encode(PIXELS, device="cpu"), bits), whole[:, :bits])
    outputs = saved.outputs(PIXELS, device="cpu")
    np.testing.assert_array_equal(short.outputs(PIXELS, device="cpu"), outputs[:, :bits])
    assert short.bits == bits


def test_shortening_a_saved_model_needs_no_torch(saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    short = saved.shortened(8)
    assert short.encode(PIXELS, device="cpu").shape == (5, 1)
    assert short.identity != saved.identity


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hidden": 24},
        {"hidden": 24, "skip_dropout": 0.5},
        {"hidden": 6, "lift": "rbf"},
        {"hidden": 24, "activation": "cosine"},
    ],
)
def test_every_head_is_cut_for_torch_as_for_the_graph(options):
    hasher = of_features(**options)
    short = hasher.shortened(9)
    expected = hasher.outputs(FEATURES, device="cpu")[:, :9]
    np.testing.assert_array_equal(short.outputs(FEATURES, device="cpu"), expected)
    with torch.inference_mode():
        by_torch = short.network.eval()(torch.from_numpy(FEATURES)).numpy()
    np.testing.assert_allclose(by_torch, expected, atol=1e-5)


def test_a_shortened_model_is_saved_as_any_other(saved, tmp_path):
    short = saved.shortened(8)
    short.save(tmp_path / "short")
    loaded = Hasher.load(tmp_path / "short")
    assert loaded.identity == short.identity
    assert (loaded.bits, loaded.classes) == (8, ("sea", "sky"))
    np.testing.assert_array_equal(loaded.encode(PIXELS), saved.shortened(8).encode(PIXELS))
    card = (tmp_path / "short" / "README.md").read_text()
    assert f"The first 8 of 12 bits of the model with weights {saved.identity}." in card
    assert "A model for tests." in card
    assert "map" not in card  # which was measured with 12 bits
    onnx.checker.check_model(onnx.load(tmp_path / "short" / "model.onnx"), full_check=True)


def test_a_model_is_shortened_twice(saved):
    twice = saved.shortened(9).shortened(4)
    assert twice.identity == saved.shortened(4).identity
    once = saved.shortened(4).outputs(PIXELS, device="cpu")
    np.testing.assert_array_equal(twice.outputs(PIXELS, device="cpu"), once)


def test_the_lengths_it_was_trained_for_stay_as_far_as_they_are_there(saved, tmp_path):
    saved.lengths = (4, 8, 12)
    assert saved.shortened(8).lengths == (4, 8)
    assert saved.shortened(5).lengths == (4,)
    saved.shortened(8).save(tmp_path / "short")
    assert Hasher.load(tmp_path / "short").lengths == (4, 8)


def test_a_model_of_all_its_bits_is_itself(saved):
    assert saved.shortened(12) is saved


def test_a_shortened_model_stays_when_the_long_one_is_trained_on():
    hasher = of_features()
    short = hasher.shortened(8)
    before, identity = short.outputs(FEATURES, device="cpu"), short.identity
    with torch.no_grad():
        hasher.network.head.output.bias += 5
    np.testing.assert_array_equal(short.outputs(FEATURES, device="cpu"), before)
    assert short.identity == identity


def test_a_shortened_model_can_be_trained_on():
    short = of_features().shortened(8)
    before = short.identity
    with torch.no_grad():
        short.network.head.output.bias += 5
    assert short.identity != before
    assert (short.outputs(FEATURES, device="cpu") > 0).mean() > 0.5
    assert arrays(short.network)["head.output.weight"].shape == (8, 20)


def test_likely_labels_are_those_of_the_long_model(saved):
    weight = RANDOM.normal(size=(2, 12)).astype(np.float32)
    saved.label_classifier = LabelClassifier(weight, np.ones(2, np.float32), saved.classes)
    u, likely = saved.outputs_and_labels(PIXELS, device="cpu")
    short_u, short_likely = saved.shortened(8).outputs_and_labels(PIXELS, device="cpu")
    assert short_likely == likely
    np.testing.assert_array_equal(short_u, u[:, :8])


def test_more_bits_than_there_are_are_refused_with_the_way_out(saved):
    with pytest.raises(
        UsageError, match="codes have 12 bits, and the first 13 are asked"
    ) as refused:
        saved.shortened(13)
    assert refused.value.hint == "give 12 or fewer, or train a model of 13 bits"
    with pytest.raises(UsageError, match="1 to 1024"):
        saved.shortened(0)


def test_a_quantiser_is_not_shortened():
    quantiser = Hasher.from_features(20, bits=12, embedding=5, words=64)
    with pytest.raises(UsageError, match="indices of codebooks"):
        quantiser.shortened(6)


def test_an_index_keeps_the_shortened_model(saved, tmp_path):
    short = saved.shortened(8)
    with HammingIndex.create(tmp_path / "index", short) as index:
        assert index.bits == 8
    with HammingIndex.open(tmp_path / "index") as index:
        assert index.hasher.identity == short.identity
        assert index.hasher.bits == 8
        with pytest.raises(UsageError):
            index.hasher.shortened(9)


def test_settings_of_a_shortened_model_are_plain_values(saved):
    settings = saved.shortened(8).config
    assert json.loads(json.dumps(settings)) == settings
    assert settings["bits"] == 8


def test_a_shortened_model_does_not_need_the_folder_it_came_from(tiny_model, tmp_path):
    folder = shutil.copytree(tiny_model, tmp_path / "model")
    short = Hasher.load(folder).shortened(8)
    shutil.rmtree(folder)
    short.save(tmp_path / "short")
    expected = pack(Hasher.load(tiny_model).outputs(PIXELS, device="cpu")[:, :8])
    np.testing.assert_array_equal(Hasher.load(tmp_path / "short").encode(PIXELS), expected)
