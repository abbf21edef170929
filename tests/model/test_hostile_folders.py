"""Model folders that a stranger or a failing disk made: refused in a sentence, never by a bomb."""

import hashlib
import json
import shutil
import struct

import numpy as np
import pytest
from safetensors.numpy import load, save

from softhash.errors import InputError, UsageError
from softhash.model.config import ModelConfig
from softhash.model.folder import read_config
from softhash.model.hasher import Hasher
from softhash.model.weights import build, fill

PLAIN = ModelConfig(8, None, 4).as_dict()


def read(**changes: object) -> ModelConfig:
    return ModelConfig.from_json(json.dumps({**PLAIN, **changes}), "config.json")


def nested(depth: int) -> list[object]:
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[" * 100_000, "is not JSON"),
        (b'{"format": ' * 3000, "is not JSON"),
        (b"9" * 5000, "is not JSON"),
        (b'"\\ud800"', "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b" " * ((16 << 20) + 1), "has more than 16,777,216 bytes"),
        (json.dumps({**PLAIN, "card": {"a": nested(40)}}), "nested more than 32 deep"),
        (b"3", "not of a softhash model"),
        (b"null", "not of a softhash model"),
    ],
)
def test_json_that_is_none_or_a_bomb_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        ModelConfig.from_json(text, "config.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"features": 10**12},
        {"features": 10**4000},
        {"hidden": 1 << 40},
        {"size": 100_000, "backbone": "tiny"},
        {"seed": 1 << 70},
        {"dropout": float("nan")},
        {"mean": ["a", "b", "c"]},
        {"mean": [0.0, 0.0]},
        {"mean": [float("nan")] * 3},
        {"std": [0, 1, 1]},
        {"std": [10**400] * 3},
        {"classes": [1, 2]},
        {"classes": ["a", None]},
        {"classes": ["\ud800"]},
        {"card": []},
        {"sha256": []},
        {"embedding": 4, "words": 1 << 30, "bits": 30},
        {"version": nested(20)},
        {"x" * 100_000: 1},
        {"activation": "x" * 100_000},
    ],
)
def test_settings_of_wrong_types_and_sizes_are_named_in_a_short_message(changes):
    with pytest.raises(InputError) as caught:
        read(**changes)
    assert len(str(caught.value)) < 600


def test_what_could_not_be_read_again_is_not_written():
    config = ModelConfig(8, None, 4, classes=("\ud800",))
    with pytest.raises(InputError, match="surrogates not allowed"):
        config.to_json()
    with pytest.raises(InputError, match="nested"):
        ModelConfig(8, None, 4, card={"a": nested(40)}).to_json()
    with pytest.raises(UsageError, match="plain JSON"):
        ModelConfig(8, None, 4, card={"a": nested(100_000)}).to_json()


def test_every_change_of_one_character_of_the_config_is_found(tmp_path):
    """But for those that mean the same: white space."""
    for name in ("model.onnx", "model.safetensors"):
        (tmp_path / name).touch()
    text = ModelConfig(8, None, 4, classes=("sea", "sky"), card={"note": "n"}).to_json()
    plain = json.loads(text)
    for i, character in enumerate(text):
        changed = text[:i] + chr(ord(character) ^ 1) + text[i + 1 :]
        try:
            ModelConfig.from_json(changed, "config.json")
        except InputError:
            continue
        if json.loads(changed) != plain:  # it was the name of the checksum that changed
            (tmp_path / "config.json").write_text(changed)
            with pytest.raises(InputError, match="has a SHA-256 of"):
                read_config(tmp_path)


def test_a_config_without_a_checksum_is_read_as_ever():
    sealed = ModelConfig(8, None, 4, classes=("sea",))
    text = sealed.to_json()
    content = json.loads(text)
    del content["sha256"]["config.json"]
    assert ModelConfig.from_json(json.dumps(content), "c") == sealed
    assert ModelConfig.from_json(text, "c") == sealed
    content["classes"] = ["sky"]
    assert ModelConfig.from_json(json.dumps(content), "c").classes == ("sky",)


def test_a_changed_config_is_named_with_the_way_out():
    text = ModelConfig(8, None, 4, classes=("sea",)).to_json().replace("sea", "tea")
    with pytest.raises(
        InputError, match=r"another SHA-256.*copy the folder.*take config\.json out"
    ):
        ModelConfig.from_json(text, "c")


@pytest.fixture
def folder(telling_model, tmp_path):
    return shutil.copytree(telling_model, tmp_path / "model")


def replaced(folder, name, data, **changes):
    """Put another file into a model, and the right checksums, as its maker could."""
    (folder / name).write_bytes(data)
    config = json.loads((folder / "config.json").read_text())
    config["sha256"][name] = hashlib.sha256(data).hexdigest()
    del config["sha256"]["config.json"]
    (folder / "config.json").write_text(json.dumps({**config, **changes}))


def with_header(header: bytes, size: int | None = None) -> bytes:
    return struct.pack("<Q", len(header) if size is None else size) + header


BOMBS = [
    b"",
    b"\x10",
    with_header(b"{}", 1 << 60),
    with_header(b" " * (5 << 20)),
    with_header(b"{" * 5000),
    with_header(b'{"weight":{"dtype":"F32","shape":[99999999999],"data_offsets":[0,4]}}')
    + bytes(4),
    with_header(b'{"weight":{"dtype":"F4","shape":[1],"data_offsets":[0,4]}}') + bytes(4),
    with_header(b'{"weight":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}') + bytes(4),
]


@pytest.mark.parametrize("name", ["model.safetensors", "labels.safetensors"])
@pytest.mark.parametrize("data", BOMBS)
def test_safetensors_that_are_none_are_refused(folder, name, data):
    replaced(folder, name, data)
    with pytest.raises(InputError, match=name) as caught:
        Hasher.load(folder)
    assert len(str(caught.value)) < 600


def test_labels_that_are_not_finite_are_refused(folder):
    found = load((folder / "labels.safetensors").read_bytes())
    found["bias"] = np.full_like(found["bias"], np.nan)
    replaced(folder, "labels.safetensors", save(found))
    with pytest.raises(InputError, match=r"'bias' of .*holds NaN or infinity"):
        Hasher.load(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden": 1 << 19}, "output.weight of shape"),
        ({"features": 1 << 20}, "head.mean of shape"),
        ({"embedding": 12, "words": 1 << 12}, "no head.codebooks"),
    ],
)
def test_no_network_is_built_that_is_larger_than_its_file(folder, changes, message):
    replaced(folder, "model.onnx", (folder / "model.onnx").read_bytes(), **changes)
    with pytest.raises(InputError, match=message):
        Hasher.load(folder)


def test_weights_that_are_damaged_or_not_finite_do_not_fill_a_network():
    config = ModelConfig(bits=8, backbone=None, features=4)
    network = build(config)
    for data in BOMBS:
        with pytest.raises(InputError, match="x is damaged, it is not"):
            fill(network, data, "x")
    data = save({"head.mean": np.array([np.inf], np.float32)})
    with pytest.raises(InputError, match=r"'head\.mean' of x holds NaN"):
        fill(network, data, "x")


def test_damaged_weights_are_found_on_a_processor_too(folder):
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "model.safetensors").write_bytes(data)
    with pytest.raises(InputError, match=r"model\.safetensors is not what was saved"):
        Hasher.load(folder)


def test_a_folder_without_the_checksum_of_its_weights_is_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    del config["sha256"]["model.safetensors"], config["sha256"]["config.json"]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"model\.safetensors is not what was saved"):
        Hasher.load(folder)
