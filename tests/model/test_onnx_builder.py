"""Graphs built from weights alone, against torch and against the graphs that torch exports."""

import numpy as np
import onnx
import pytest
import torch
from PIL import Image
from torch import nn

from softhash import Hasher, InputError, UsageError
from softhash.model import weights
from softhash.model.engines import OnnxEngine
from softhash.model.onnx_builder import build_onnx
from softhash.model.onnx_export import to_onnx

NAMES = [f"efficientnet_lite{i}" for i in range(3)]


def lively(hasher: Hasher) -> Hasher:
    """Give a random network statistics and a head that differ from channel to channel."""
    torch.manual_seed(1)
    for layer in hasher.network.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_mean.normal_(0, 0.2)
            layer.running_var.uniform_(0.5, 2)
            layer.weight.data.uniform_(0.5, 1.5)
            layer.bias.data.normal_(0.5, 0.5)
    hasher.network.head.mean.normal_()
    hasher.network.head.scale.uniform_(0.5, 2)
    hasher.network.head.output.bias.data.normal_()
    hasher.network.eval()
    return hasher


def pictures(count: int, size: int) -> np.ndarray:
    """Soft colours with a few edges, as photographs have them."""
    random = np.random.default_rng(0)
    small = random.integers(0, 256, (count, 9, 9, 3), dtype=np.uint8)
    smooth = [Image.fromarray(one).resize((size, size), Image.Resampling.BICUBIC) for one in small]
    return np.stack([np.asarray(one) for one in smooth])


def by_torch(hasher: Hasher, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with torch.inference_mode():
        u, features = hasher.network.both(torch.from_numpy(pixels))
    return u.numpy(), features.numpy()


def built(hasher: Hasher) -> bytes:
    return build_onnx(hasher._config, weights.arrays(hasher.network))


@pytest.mark.parametrize(
    ("name", "size"),
    [(NAMES[0], 224), (NAMES[0], 227), (NAMES[0], 33), (NAMES[1], 50), (NAMES[2], 33)],
)
def test_outputs_and_features_are_those_of_torch(name, size):
    hasher = lively(Hasher(name, bits=24, size=size, weights=None, hidden=16))
    pixels = pictures(3, size)
    u, features = OnnxEngine(built(hasher), hasher._config)(pixels)
    expected_u, expected_features = by_torch(hasher, pixels)
    scale = np.abs(expected_features).mean()
    assert np.abs(features - expected_features).max() < 1e-4 * scale
    assert np.abs(u - expected_u).max() < 1e-4


@pytest.mark.parametrize("activation", ["cosine", "identity", "softsign", "tanh"])
@pytest.mark.parametrize("head", [{}, {"hidden": 7}, {"hidden": 7, "skip_dropout": 0.6}])
def test_every_activation_and_every_head_is_that_of_torch(activation, head):
    options = {"activation": activation, "dropout": 0.5, **head}
    hasher = lively(Hasher(NAMES[0], bits=12, size=33, weights=None, **options))
    pixels = pictures(4, 33)
    u, _ = OnnxEngine(built(hasher), hasher._config)(pixels)
    assert np.allclose(u, by_torch(hasher, pixels)[0], atol=1e-4)


def test_codes_of_the_published_weights_are_equal_bit_for_bit():
    hasher = Hasher(NAMES[0], bits=48, hidden=64, activation="tanh")
    pixels = pictures(12, 224)
    hasher.network.eval()
    expected = by_torch(hasher, pixels)[0]
    found, _ = OnnxEngine(built(hasher), hasher._config)(pixels)
    assert np.array_equal(found > 0, expected > 0)
    assert (found > 0).any()
    assert (found < 0).any()


def described(graph: bytes) -> tuple[object, ...]:
    model = onnx.load_from_string(graph)
    onnx.checker.check_model(model, full_check=True)
    ends = [*model.graph.input, *model.graph.output]
    return *(str(end) for end in ends), model.ir_version, model.opset_import[0].version


def test_inputs_outputs_and_versions_are_those_of_the_exported_graph():
    hasher = Hasher(NAMES[0], bits=12, size=48, weights=None)
    exported = to_onnx(hasher.network.eval(), 48, 1280)
    assert described(built(hasher)) == described(exported)


def test_the_graph_is_the_same_whenever_it_is_built():
    hasher = Hasher(NAMES[0], bits=12, size=48, weights=None)
    assert built(hasher) == built(hasher)


def test_weights_that_are_missing_or_of_another_shape_are_named():
    hasher = Hasher(NAMES[0], bits=12, size=48, weights=None)
    arrays = weights.arrays(hasher.network)
    less = {name: array for name, array in arrays.items() if name != "backbone._conv_stem.weight"}
    with pytest.raises(InputError, match=r"_conv_stem\.weight of a\.pth is missing.*another model"):
        build_onnx(hasher._config, less, "a.pth")
    other = arrays | {"head.output.weight": np.zeros((13, 1280), np.float32)}
    with pytest.raises(InputError, match=r"head\.output\.weight .* \(13, 1280\).* \(12, 1280\)"):
        build_onnx(hasher._config, other)


def test_other_networks_are_left_to_torch():
    for hasher in (
        Hasher("alexnet", bits=12, weights=None),
        Hasher.from_features(8, bits=12),
        Hasher(NAMES[0], bits=12, size=48, weights=None, embedding=5, words=4),
        Hasher(NAMES[0], bits=12, size=48, weights=None, hidden=5, lift="rbf"),
    ):
        with pytest.raises(UsageError, match="export it with torch"):
            build_onnx(hasher._config, {})
