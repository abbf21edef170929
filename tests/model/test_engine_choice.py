"""Which engine a model has: asked for, chosen, saved, and kept by the models made of it."""

import json

import numpy as np
import pytest
import torch

from softhash import Hasher, UsageError
from softhash.model import engine_choice

RANDOM = np.random.default_rng(0)
PIXELS = RANDOM.integers(0, 256, (5, 48, 48, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def hasher():
    torch.manual_seed(0)
    return Hasher("efficientnet_lite0", bits=24, size=48)


@pytest.fixture
def _fast(monkeypatch):
    """Have a processor with the instructions, and no GPU."""
    monkeypatch.setattr(engine_choice, "has_vnni", lambda: True)
    monkeypatch.setattr(
        engine_choice, "pick_device", lambda name: "cpu" if name == "auto" else name
    )


def test_a_saved_model_keeps_its_engine_and_can_go_back(hasher, tmp_path):
    int8 = hasher.with_engine("int8")
    int8.save(tmp_path / "model")
    loaded = Hasher.load(tmp_path / "model")
    assert (loaded.engine, loaded.identity) == ("int8", int8.identity)
    expected = int8.outputs(PIXELS, device="cpu")
    np.testing.assert_array_equal(loaded.outputs(PIXELS), expected)
    back = loaded.with_engine("fp32")
    assert (back.engine, back.identity) == ("fp32", hasher.identity)
    assert np.abs(back.outputs(PIXELS, device="cpu") - expected).max() > 0
    np.testing.assert_allclose(
        back.outputs(PIXELS, device="cpu"), hasher.outputs(PIXELS, device="cpu"), atol=1e-4
    )


def test_a_model_without_the_setting_is_fp32(hasher, tmp_path):
    hasher.save(tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config.pop("engine") == "fp32"
    del config["sha256"]["config.json"]
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    loaded = Hasher.load(tmp_path / "model")
    assert (loaded.engine, loaded.identity) == ("fp32", hasher.identity)


def test_first_bits_and_label_classifier_stay_and_the_head_alone_is_fp32(hasher):
    int8 = hasher.with_engine("int8")
    short = int8.shortened(8)
    assert short.identity == hasher.shortened(8).with_engine("int8").identity
    whole = int8.outputs(PIXELS)
    np.testing.assert_array_equal(short.outputs(PIXELS), whole[:, :8])
    head = int8.head_only()
    assert head.engine == "fp32"
    np.testing.assert_allclose(head.outputs(int8.features(PIXELS)), whole, atol=1e-5)
    classifier = object()
    hasher.label_classifier = classifier
    assert hasher.with_engine("int8").label_classifier is classifier
    hasher.label_classifier = None


def test_training_a_model_of_8_bits_makes_its_graph_again(hasher):
    int8 = hasher.with_engine("int8")
    before, identity = int8.outputs(PIXELS), int8.identity
    with torch.no_grad():
        int8.network.head.output.bias += 5
    after = int8.outputs(PIXELS)
    assert (after > before).all()
    assert (int8.engine, int8.identity == identity) == ("int8", False)


def test_8_bits_are_for_the_processor(hasher):
    with pytest.raises(UsageError, match=r"int8 is for the processor.*leave the device out"):
        hasher.with_engine("int8")._state.engine("cuda")
    with pytest.raises(UsageError, match="int9"):
        hasher.with_engine("int9")


@pytest.mark.usefixtures("_fast")
def test_auto_takes_8_bits_where_it_wins_and_the_loss_was_measured(hasher, monkeypatch):
    assert hasher.with_engine("auto").engine == "int8"
    assert hasher.with_engine("auto", "cuda").engine == "fp32"
    assert hasher.with_engine("int8").with_engine("auto", "cuda").engine == "int8"
    tuned = Hasher("efficientnet_lite0", bits=24, size=48)
    with torch.no_grad():
        tuned.network.backbone._conv_head.weight *= 1.01
    assert tuned.with_engine("auto") is tuned
    assert Hasher.from_features(9, bits=8).with_engine("auto").engine == "fp32"
    monkeypatch.setattr(engine_choice, "has_vnni", lambda: False)
    assert hasher.with_engine("auto") is hasher
