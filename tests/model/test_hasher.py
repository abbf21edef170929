"""Hasher: every form of input, ONNX Runtime against torch, files, failures."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from softhash.codes import pack
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.errors import ImageError, InputError, UsageError
from softhash.model.config import ModelConfig
from softhash.model.engines import OnnxEngine, TorchEngine
from softhash.model.hasher import Hasher
from softhash.model.weights import build, fill, fingerprint

COUNT = 19


@pytest.fixture(autouse=True)
def _on_the_processor(monkeypatch):
    """Make `auto` the processor, also where there is a GPU."""
    monkeypatch.setattr("softhash.devices._has_nvidia_driver", lambda: False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures") / "scenes"
    scenes.write(folder, count=COUNT, size=48, workers=1)
    return folder


@pytest.fixture(scope="module")
def images(folder):
    return ImageSet.read(folder)


@pytest.fixture
def hasher(tiny_model):
    return Hasher.load(tiny_model)


@pytest.fixture
def copied(tiny_model, tmp_path):
    """Return a model's folder that may be damaged."""
    return shutil.copytree(tiny_model, tmp_path / "model")


def drawn(count, size=32):
    return np.stack([np.asarray(scenes.draw(i, size=size)[0]) for i in range(count)])


def test_a_new_hasher_knows_itself_before_it_has_a_network(tiny_backbone):
    hasher = Hasher("tiny", bits=48, hidden=5, activation="tanh", seed=2)
    assert (hasher.bits, hasher.backbone, hasher.size, hasher.classes) == (48, "tiny", 32, ())
    assert json.loads(json.dumps(hasher.config)) == hasher.config
    assert hasher.config["hidden"] == 5
    assert repr(hasher) == "Hasher('tiny', bits=48, 0 classes)"


@pytest.mark.parametrize("count", [1, 2, 7, 17, 33])
def test_onnx_runtime_equals_torch(tiny_backbone, hasher, count):
    pixels = drawn(count)
    with torch.inference_mode():
        u, features = (part.numpy() for part in hasher.network.eval().both(torch.tensor(pixels)))
    got = hasher.outputs(pixels, device="cpu")
    np.testing.assert_allclose(got, u, atol=1e-4)
    np.testing.assert_allclose(hasher.features(pixels, device="cpu"), features, atol=1e-4)
    sure = np.abs(u) > 1e-4
    np.testing.assert_array_equal((got > 0)[sure], (u > 0)[sure])
    assert (got.dtype, got.shape) == (np.float32, (count, 12))


@pytest.mark.parametrize("hidden", [0, 6])
def test_a_hasher_of_features_equals_its_head(hidden):
    hasher = Hasher.from_features(5, bits=20, hidden=hidden)
    features = np.random.default_rng(0).normal(size=(31, 5))
    with torch.inference_mode():
        u = hasher.network.eval()(torch.tensor(features)).numpy()
    np.testing.assert_allclose(hasher.outputs(features, device="cpu"), u, atol=1e-5)
    codes = hasher.encode(features, batch_size=4, device="cpu")
    np.testing.assert_array_equal(codes, pack(u))
    np.testing.assert_array_equal(hasher.encode(features[2], device="cpu"), codes[2:3])
    assert (hasher.size, hasher.backbone) == (None, None)
    assert "5 features" in repr(hasher)


def test_encode_takes_every_form_of_picture(hasher, folder, images):
    paths = [images.path(i) for i in range(COUNT)]
    opened = [Image.open(path) for path in paths]
    arrays = np.stack([np.asarray(image) for image in opened])
    expected = hasher.encode(images)
    assert (expected.shape, expected.dtype) == ((COUNT, 2), np.uint8)
    mixed = [paths[0], opened[1], arrays[2], paths[3].read_bytes(), str(paths[4])]
    for form in (paths, [str(path) for path in paths], tuple(opened), list(arrays), arrays):
        np.testing.assert_array_equal(hasher.encode(form, batch_size=5), expected)
    np.testing.assert_array_equal(hasher.encode(mixed), expected[:5])
    for one in (paths[0], str(paths[0]), opened[0], arrays[0], paths[0].read_bytes()):
        np.testing.assert_array_equal(hasher.encode(one), expected[:1])
    grey = opened[0].convert("L")
    assert hasher.encode(grey).shape == (1, 2)
    assert grey.mode == "L"


@pytest.mark.parametrize("source", [[], np.empty((0, 32, 32, 3), np.uint8)])
def test_encode_of_nothing_is_an_empty_array(hasher, images, source):
    assert hasher.encode(source).shape == (0, 2)
    assert hasher.outputs(images.select([])).shape == (0, 12)
    assert hasher.features(source).shape == (0, 12)


def test_encode_reports_progress_and_does_not_depend_on_the_batches(hasher, images):
    calls = []
    codes = hasher.encode(images, batch_size=8, progress=lambda *call: calls.append(call))
    assert calls == [(8, COUNT), (16, COUNT), (COUNT, COUNT)]
    for batch_size in (1, 3, 100):
        np.testing.assert_array_equal(hasher.encode(images, batch_size=batch_size), codes)


def test_encode_raises_on_a_broken_picture_and_encode_readable_names_it(hasher, folder, tmp_path):
    copy = ImageSet.read(shutil.copytree(folder, tmp_path / "copy"))
    whole = hasher.encode(copy)
    copy.path(4).write_bytes(b"no picture")
    with pytest.raises(
        ImageError, match=r"picture 4 of 19: .*scene-00004.png is not a picture.*read"
    ):
        hasher.encode(copy, batch_size=3)
    with pytest.raises(ImageError, match=r"scene-00004.png is not a picture; known: [^;]*$"):
        hasher.encode(copy.path(4))
    found = hasher.encode_readable(copy, batch_size=3)
    assert [(one.position, one.file_name) for one in found.broken] == [(4, "scene-00004.png")]
    np.testing.assert_array_equal(found.values, np.delete(whole, 4, axis=0))
    assert found.positions.tolist() == [i for i in range(COUNT) if i != 4]
    mixed = [copy.path(0), Image.open(copy.path(1)), 7, b""]
    found = hasher.encode_readable(mixed, "features")
    assert (found.values.shape, [one.position for one in found.broken]) == ((2, 12), [2, 3])


def test_a_batch_without_a_readable_picture_is_no_trouble(hasher, tmp_path):
    (tmp_path / "a.png").write_bytes(b"")
    found = hasher.encode_readable([tmp_path / "a.png"] * 3, batch_size=2)
    assert (found.values.shape, len(found.broken)) == ((0, 2), 3)


def test_stream_gives_batches(hasher, images):
    parts = list(hasher.stream(images, "outputs", batch_size=8))
    assert [len(part.values) for part in parts] == [8, 8, 3]
    assert parts[1].positions.tolist() == list(range(8, 16))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (np.zeros((32, 32, 3)), "float64 array of shape"),
        (np.zeros((32, 32), np.uint8), r"uint8 array of shape \(32, 32\)"),
        (np.zeros((2, 3, 32, 32), np.uint8), r"shape \(n, height, width, 3\)"),
        (np.zeros((0, 32, 3), np.uint8), r"shape \(0, 32, 3\)"),
        (3, "a int is not a picture"),
        ([np.zeros((4, 4, 3))], "float64"),
        ([np.zeros((1, 4, 4, 3), np.uint8)], "one picture has the shape"),
        ("/", "ImageSet.read"),
    ],
)
def test_encode_refuses_what_is_not_a_picture(hasher, source, message):
    with pytest.raises(InputError, match=message):
        hasher.encode(source)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (np.ones((2, 4)), r"shape \(2, 4\); this model takes numbers of shape \(n, 5\)"),
        (np.full((3, 5), ["a"]), "this model takes numbers"),
        ([[1, 2, 3, 4, np.nan]], "NaN or infinity, first in row 0"),
        (np.vstack([np.ones((4, 5)), np.full((1, 5), 1e300)]), "first in row 4"),
    ],
)
def test_encode_refuses_what_are_not_features(source, message):
    with pytest.raises(InputError, match=message):
        Hasher.from_features(5, bits=8).encode(source)


def test_wrong_settings_are_named(tiny_backbone, hasher):
    with pytest.raises(UsageError, match="unknown backbone 'tinny'; did you mean 'tiny'"):
        Hasher("tinny")
    with pytest.raises(UsageError, match="did you mean 'softsign'"):
        Hasher("tiny", activation="softsgn")
    with pytest.raises(UsageError, match="not 2000"):
        Hasher.from_features(5, 2000)
    with pytest.raises(UsageError, match="features is 0"):
        Hasher.from_features(0)
    with pytest.raises(UsageError, match="dropout is 2"):
        Hasher.from_features(5, dropout=2)
    picture = drawn(1)
    with pytest.raises(UsageError, match="batch_size is 0"):
        hasher.encode(picture, batch_size=0)
    with pytest.raises(UsageError, match="unknown kind of values 'code'; did you mean 'codes'"):
        hasher.stream(picture, "code")
    with pytest.raises(UsageError, match="bf16 is for CUDA"):
        hasher.encode(picture, device="cpu", bf16=True)
    with pytest.raises(UsageError, match="it takes them"):
        Hasher.from_features(5).features(np.ones((1, 5)))
    with pytest.raises(TypeError, match="batchsize"):
        hasher.encode(picture, batchsize=3)


def test_one_seed_gives_one_set_of_weights(tiny_backbone):
    first, second, other = (Hasher("tiny", 8, seed=seed) for seed in (1, 1, 2))
    assert fingerprint(first.network) == fingerprint(second.network)
    assert fingerprint(first.network) != fingerprint(other.network)


def test_codes_follow_the_network_when_it_is_trained(tiny_backbone, hasher):
    pixels = drawn(3)
    before = hasher.outputs(pixels)
    optimiser = torch.optim.SGD(hasher.network.parameters(), lr=5.0)
    np.testing.assert_array_equal(hasher.outputs(pixels), before)  # looking at it changes nothing
    hasher.network.train()
    hasher.network(torch.tensor(pixels)).sum().backward()
    optimiser.step()
    after = hasher.outputs(pixels)
    assert np.abs(after - before).max() > 0.1
    assert hasher.network.training  # exporting leaves the module as it was
    with torch.inference_mode():
        expected = hasher.network.eval()(torch.tensor(pixels)).numpy()
    np.testing.assert_allclose(after, expected, atol=1e-4)


def test_a_saved_model_gives_identical_codes(tiny_backbone, images, tmp_path):
    hasher = Hasher("tiny", bits=36, hidden=4, seed=7)
    hasher.classes = images.classes
    expected = hasher.outputs(images)
    hasher.save(tmp_path / "deep" / "model")
    files = sorted(path.name for path in (tmp_path / "deep" / "model").iterdir())
    assert files == ["README.md", "config.json", "model.onnx", "model.safetensors"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["model"]
    loaded = Hasher.load(tmp_path / "deep" / "model")
    assert loaded.classes == images.classes
    np.testing.assert_array_equal(loaded.outputs(images), expected)
    assert fingerprint(loaded.network) == fingerprint(hasher.network)
    np.testing.assert_array_equal(loaded.outputs(images), expected)


def test_a_loaded_model_is_saved_again_byte_for_byte(tiny_model, hasher, tmp_path):
    hasher.save(tmp_path / "tiny")
    for file in tiny_model.iterdir():
        assert (tmp_path / "tiny" / file.name).read_bytes() == file.read_bytes()
    hasher.export_onnx(tmp_path / "out.onnx")
    assert (tmp_path / "out.onnx").read_bytes() == (tiny_model / "model.onnx").read_bytes()
    with pytest.raises(InputError, match="force=True"):
        hasher.export_onnx(tmp_path / "out.onnx")


def test_a_saved_hasher_of_features_is_loaded(tmp_path):
    hasher = Hasher.from_features(5, bits=8)
    hasher.save(tmp_path / "model")
    features = np.random.default_rng(0).normal(size=(4, 5))
    loaded = Hasher.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.encode(features), hasher.encode(features))
    assert "features of 5 numbers" in (tmp_path / "model" / "README.md").read_text()
    assert "hasher.encode(features)  # (n, 5)" in (tmp_path / "model" / "README.md").read_text()


def test_the_graph_is_one_valid_file_with_named_ends(tiny_model):
    import onnx

    graph = onnx.load(tiny_model / "model.onnx", load_external_data=False)
    onnx.checker.check_model(graph, full_check=True)
    assert [one.name for one in graph.graph.input] == ["pixels"]
    assert [one.name for one in graph.graph.output] == ["u", "features"]
    assert graph.opset_import[0].version >= 17
    assert graph.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "n"


def test_loading_and_encoding_on_a_processor_never_imports_torch(tiny_model, images):
    code = (
        "import sys; from softhash import Hasher\n"
        f"hasher = Hasher.load({str(tiny_model)!r})\n"
        f"codes = hasher.encode({str(images.path(0))!r}, device='cpu')\n"
        "assert codes.shape == (1, 2)\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_card_says_what_was_given_and_leaves_out_the_rest(tiny_backbone, tmp_path):
    hasher = Hasher("tiny", bits=16)
    hasher.classes = ("sea", "sky")
    metrics = {"map@100": 0.51234, "map@all": 0.4, "ndcg@100": 0.6, "ndcg@all": 0.7}
    card = {
        "data": {"name": "a|b"},
        "split": {"sha256": "abc"},
        "metrics": metrics,
        "thanks": "All.",
    }
    hasher.save(tmp_path / "photos", card=card)
    text = (tmp_path / "photos" / "README.md").read_text()
    for part in (
        "# photos",
        "16 bits",
        "sea, sky",
        "a\\|b",
        "| sha256 | abc |",
        "## Thanks\n\nAll.",
    ):
        assert part in text
    assert "|  | @100 | @all |\n| --- | --- | --- |\n| map | 0.5123 | 0.4 |" in text
    assert 'Hasher.load("photos")' in text
    assert "## Settings" not in text
    assert Hasher.load(tmp_path / "photos").config["card"] == card


def test_save_keeps_what_is_there(hasher, copied, tmp_path):
    before = (copied / "config.json").read_bytes()
    with pytest.raises(InputError, match="exists; to replace it, pass force=True"):
        hasher.save(copied)
    (copied / "diary.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds more than a model: diary.txt"):
        hasher.save(copied, force=True)
    (copied / "diary.txt").unlink()
    hasher.save(copied, force=True, card={"summary": "New."})
    assert (copied / "config.json").read_bytes() != before
    assert "New." in (copied / "README.md").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        hasher.save(tmp_path / "file", force=True)
    (tmp_path / "empty").mkdir()
    hasher.save(tmp_path / "empty")
    assert Hasher.load(tmp_path / "empty").bits == 12


@pytest.mark.parametrize("old", [True, False])
def test_a_full_disk_keeps_the_old_model_and_leaves_no_litter(
    hasher, copied, tmp_path, monkeypatch, old
):
    before = sorted(tmp_path.rglob("*"))

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match=r"cannot write .*No space left"):
        hasher.save(copied if old else tmp_path / "new", force=True, card={"summary": "New."})
    assert sorted(tmp_path.rglob("*")) == before
    assert Hasher.load(copied).config["card"]["summary"] == "A model for tests."


@pytest.mark.parametrize("failing", [0, 1])
@pytest.mark.parametrize("error", [OSError(30, "Read-only file system"), KeyboardInterrupt()])
def test_a_failed_exchange_brings_the_old_model_back(
    hasher, copied, tmp_path, monkeypatch, failing, error
):
    before = sorted(tmp_path.rglob("*"))
    calls = []
    rename = Path.rename

    def failing_once(*arguments):
        calls.append(arguments)
        if len(calls) - 1 == failing:
            raise error
        return rename(*arguments)

    monkeypatch.setattr("softhash.files.neighbours.exchange", lambda *names: False)
    monkeypatch.setattr(Path, "rename", failing_once)
    with pytest.raises((InputError, KeyboardInterrupt)):
        hasher.save(copied, force=True, card={"summary": "New."})
    assert sorted(tmp_path.rglob("*")) == before
    assert Hasher.load(copied).config["card"]["summary"] == "A model for tests."


def test_a_network_with_nan_is_not_saved(tiny_backbone, tmp_path):
    hasher = Hasher("tiny", bits=8)
    hasher.network.head.output.weight.data[0, 0] = torch.nan
    with pytest.raises(InputError, match=r"head.output.weight holds NaN"):
        hasher.save(tmp_path / "model")
    with pytest.raises(InputError, match="did training diverge"):
        hasher.encode(drawn(1))
    assert list(tmp_path.iterdir()) == []


def test_a_card_may_hold_numbers_of_numpy_and_paths(hasher, tmp_path):
    hasher.save(tmp_path / "model", card={"data": Path("photos"), "n": np.arange(2)})
    assert Hasher.load(tmp_path / "model").config["card"] == {"data": "photos", "n": [0, 1]}


def test_a_card_that_json_cannot_hold_is_refused(hasher, tmp_path):
    with pytest.raises(UsageError, match="plain JSON"):
        hasher.save(tmp_path / "model", card={"data": object()})


def edited(**changes):
    """Change settings, as by one who knows to take the checksum out."""

    def edit(folder):
        config = json.loads((folder / "config.json").read_text())
        del config["sha256"]["config.json"]
        (folder / "config.json").write_text(json.dumps({**config, **changes}))

    return edit


def flipped(name):
    def flip(folder):
        data = bytearray((folder / name).read_bytes())
        data[len(data) // 2] ^= 1
        (folder / name).write_bytes(data)

    return flip


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (shutil.rmtree, "does not exist; give a model's folder"),
        (lambda folder: (folder / "model.onnx").unlink(), "lacks model.onnx"),
        (
            lambda folder: (folder / "config.json").write_text("{"),
            "config.json is damaged, it is not",
        ),
        (lambda folder: (folder / "config.json").write_text("[]"), "not of a softhash model"),
        (edited(format="other"), "not of a softhash model"),
        (edited(version=2), r"version 2, this softhash reads version 1; upgrade"),
        (edited(bits="12"), "'bits' is '12'"),
        (edited(bits=5000), "makes no sense: codes have 1 to 1024 bits, not 5000"),
        (edited(surprise=1), "makes no sense.*surprise"),
        (edited(bits=24), r"output.weight of shape \(12, 12\), but config.json has \(24, 12\)"),
        (edited(size=64), r"model.onnx takes .*pixels.*config has .*\[64, 64, 3\]"),
        (
            lambda folder: (folder / "model.safetensors").write_bytes(b"x"),
            "is damaged, it is not a safe",
        ),
        (flipped("model.onnx"), "not what was saved with this model"),
        (lambda folder: (folder / "model.onnx").write_bytes(b""), "model.onnx .*another SHA-256"),
        (flipped("model.safetensors"), r"model.safetensors is not what was saved"),
    ],
)
def test_load_says_what_is_wrong_with_a_folder(copied, damage, message):
    damage(copied)
    with pytest.raises(InputError, match=message):
        Hasher.load(copied)


def test_load_needs_no_card_and_names_a_lacking_key(copied):
    (copied / "README.md").unlink()
    assert Hasher.load(copied).bits == 12
    config = json.loads((copied / "config.json").read_text())
    del config["seed"], config["sha256"]["config.json"]
    (copied / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="lacks 'seed'"):
        Hasher.load(copied)


def test_weights_damaged_after_loading_are_found_when_torch_asks_for_them(tiny_backbone, copied):
    hasher = Hasher.load(copied)
    flipped("model.safetensors")(copied)
    assert hasher.encode(drawn(1)).shape == (1, 2)
    with pytest.raises(InputError, match=r"model.safetensors is not what was saved"):
        _ = hasher.network


def test_weights_of_other_layers_are_named(tiny_backbone, copied):
    network = build(ModelConfig(bits=12, backbone=None, features=12))
    with pytest.raises(
        InputError, match=r"x does not fit the network of config.json: .*Unexpected"
    ):
        fill(network, (copied / "model.safetensors").read_bytes(), "x")


def test_a_graph_that_is_none_is_named(tiny_backbone):
    with pytest.raises(InputError, match="the graph is refused: its model has a field 13"):
        OnnxEngine(b"nothing", ModelConfig(bits=8, backbone=None, features=4))


@pytest.mark.parametrize(("bf16", "tolerance"), [(False, 1e-4), (True, 0.02)])
def test_the_engine_of_torch_equals_that_of_onnx_runtime(tiny_backbone, hasher, bf16, tolerance):
    pixels = drawn(9)
    hasher.network.train()
    u, features = TorchEngine(hasher.network, "cpu", bf16=bf16)(pixels)
    assert (u.dtype, features.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(u, hasher.outputs(pixels), atol=tolerance)
    np.testing.assert_allclose(features, hasher.features(pixels), atol=tolerance)
    assert hasher.network.training


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_torch_on_a_gpu_equals_onnx_runtime(tiny_backbone, hasher):
    pixels = drawn(21)
    u = hasher.outputs(pixels, device="cpu")
    np.testing.assert_allclose(hasher.outputs(pixels, device="cuda"), u, atol=1e-3)
    half = hasher.outputs(pixels, device="cuda", bf16=True)
    np.testing.assert_allclose(half, u, atol=0.05)
