"""Layers and networks in 8 bits, against torch in floats, simulation and enumeration."""

import numpy as np
import onnx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from PIL import Image

from softhash import Hasher, InputError, UsageError, devices
from softhash.model import engines, weights
from softhash.model.config import INT8
from softhash.model.engines import OnnxEngine
from softhash.model.graph_builder import GraphBuilder
from softhash.model.onnx_builder import build_onnx
from softhash.model.onnx_graph import check_graph
from softhash.model.quantised import Quantised, clipped_mean, keep_sums, quantise_layer

RANDOM = np.random.default_rng(0)
NAME = "efficientnet_lite0"


def pictures(count, size=224):
    """Soft colours with a few edges, as photographs have them."""
    small = np.random.default_rng(1).integers(0, 256, (count, 9, 9, 3), dtype=np.uint8)
    smooth = [Image.fromarray(one).resize((size, size), Image.Resampling.BICUBIC) for one in small]
    return np.stack([np.asarray(one) for one in smooth])


def cosines(a, b):
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


@pytest.fixture(scope="module")
def published():
    """Published weights under a new head."""
    return Hasher(NAME, bits=48)


@pytest.fixture(scope="module")
def int8(published):
    return published.with_engine("int8")


@pytest.mark.parametrize(("depthwise", "kernel"), [(False, 1), (False, 3), (True, 3), (True, 5)])
def test_a_quantised_layer_computes_what_floats_do_up_to_its_steps(depthwise, kernel):
    """Torch convolves the numbers that the integers stand for, with the original weights."""
    channels, width, side = 6, 6, 9
    shape = width, 1 if depthwise else channels, kernel, kernel
    weight, bias = RANDOM.normal(size=shape), RANDOM.normal(size=width)
    factors = RANDOM.uniform(0.5, 2, channels)
    offsets = RANDOM.normal(size=channels) * (kernel == 1)  # padding is 0
    x = Quantised("x", 0.02, 100, factors, offsets, offsets)
    y = Quantised("y", 0.1, 128, RANDOM.uniform(0.5, 2, width), RANDOM.normal(size=width), bias)
    whole, scales, steps = quantise_layer(weight, bias, x, y, depthwise=depthwise)
    q = RANDOM.integers(0, 256, (2, channels, side, side), dtype=np.uint8)
    real = (q.astype(float) - x.zero) * x.scale * factors[:, None, None] + offsets[:, None, None]
    groups = channels if depthwise else 1
    expected = torch.nn.functional.conv2d(
        torch.tensor(real), torch.tensor(weight), torch.tensor(bias),
        padding=kernel // 2, groups=groups,
    ).numpy()  # fmt: skip
    graph = GraphBuilder({}, "nothing")
    constants = [
        graph.constant(name, array)
        for name, array in (("w", whole), ("s", scales), ("z", np.zeros(width, np.int8)))
    ]
    pads = [kernel // 2] * 4
    graph.add(
        "QLinearConv", "y", "x", *x.constants(graph), *constants, *y.constants(graph),
        graph.constant("b", steps), group=groups, kernel_shape=[kernel] * 2, pads=pads,
    )  # fmt: skip
    made = graph.to_bytes(
        ("x", "uint8", ("n", channels, side, side)), [("y", "uint8", ("n", width, side, side))]
    )
    found = ReferenceEvaluator(onnx.load_from_string(made)).run(None, {"x": q})[0]
    wide = y.factors[:, None, None] * y.scale
    low, high = (wide * (end - 128) + y.offsets[:, None, None] for end in (0, 255))
    found = wide * (found.astype(float) - 128) + y.offsets[:, None, None]
    error = np.abs(found - np.clip(expected, low, high)) / wide
    # Rounding of the output takes half a step; that of up to 54 weights adds up to some more.
    assert error.max() < 5
    assert error.mean() < 0.6
    middle = np.abs(np.mean((found - np.clip(expected, low, high)) / wide, axis=(0, 2, 3)))
    assert middle.max() < 0.7


@given(st.lists(st.lists(st.floats(-127, 127), min_size=9, max_size=9), min_size=1, max_size=4))
def test_rounding_keeps_sums_and_moves_no_number_by_a_whole_step(rows):
    steps = np.array(rows)
    rounded = keep_sums(steps)
    assert (rounded == np.round(rounded)).all()
    assert np.abs(rounded - steps).max() <= 1
    assert np.abs(rounded).max() <= 127
    assert np.abs((rounded - steps).sum(axis=1)).max() <= 0.5 + 1e-9


def test_the_mean_of_clipped_numbers_is_that_of_a_simulation():
    mean, deviation = np.array([-2.0, 0.0, 1.0, 3.0, 5.5, 9.0]), np.array([1, 2, 0.5, 4, 1, 2.0])
    drawn = np.random.default_rng(0).normal(mean, deviation, (400_000, 6)).clip(0, 6)
    assert np.allclose(clipped_mean(mean, deviation, 6.0), drawn.mean(axis=0), atol=0.015)


def test_features_in_8_bits_are_near_those_of_torch(published, int8):
    pixels = pictures(12)
    with torch.inference_mode():
        expected = published.network.eval().features(torch.from_numpy(pixels)).numpy()
    assert cosines(int8.features(pixels), expected).min() > 0.985


def test_a_code_does_not_depend_on_the_batch_or_on_when_the_graph_was_made(published, int8):
    pixels = pictures(9)
    whole = int8.outputs(pixels, batch_size=9)
    assert np.array_equal(whole, int8.outputs(pixels, batch_size=2))
    again = published.with_engine("int8")
    assert again._state.graph() == int8._state.graph()
    assert again.identity == int8.identity != published.identity


@pytest.mark.parametrize("vnni", [True, False])
def test_outputs_are_those_of_exact_products_with_and_without_vnni(int8, vnni, monkeypatch):
    """Products of uint8 by uint8 are exact on every processor; those by int8 may overflow."""
    model = onnx.load_from_string(int8._state.graph())
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype == np.int8:
            shifted = (array.astype(np.int16) + 128).astype(np.uint8)
            tensor.CopyFrom(numpy_helper.from_array(shifted, tensor.name))
    pixels = pictures(3)
    expected = OnnxEngine(model.SerializeToString(), int8._config)(pixels)
    monkeypatch.setattr(engines, "has_vnni", lambda: vnni and devices.has_vnni())
    found = OnnxEngine(int8._state.graph(), int8._config)(pixels)
    for one, exact in zip(found, expected, strict=True):
        assert np.array_equal(one, exact)


def test_a_graph_in_8_bits_is_sound_and_small_and_only_for_models_that_say_so(published, int8):
    graph = int8._state.graph()
    onnx.checker.check_model(onnx.load_from_string(graph), full_check=True)
    assert len(graph) < len(published._state.graph()) / 3
    check_graph(graph, "it", int8=True)
    with pytest.raises(InputError, match="uses the operator 'QLinearConv'"):
        check_graph(graph, "it")
    with pytest.raises(InputError, match="uses the operator 'QLinearConv'"):
        OnnxEngine(graph, published._config)


def test_a_model_in_8_bits_refuses_what_every_model_refuses():
    body = [onnx.helper.make_node("RandomNormal", [], ["u"], shape=[1, 12])]
    graph = onnx.helper.make_graph(body, "g", [], [])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    with pytest.raises(InputError, match="RandomNormal"):
        check_graph(model.SerializeToString(), "it", int8=True)


def test_channels_without_weights_are_constant():
    hasher = Hasher(NAME, bits=12, size=48, weights=None)
    arrays = weights.arrays(hasher.network)
    for part in ("_conv_stem.weight", "_blocks.3._project_conv.weight", "_bn1.weight"):
        arrays[f"backbone.{part}"] = np.zeros_like(arrays[f"backbone.{part}"])
    config = hasher._config.__class__(**{**hasher._config.__dict__, "engine": INT8})
    u, features = OnnxEngine(build_onnx(config, arrays), config)(pictures(2, 48))
    assert np.isfinite(u).all()
    assert np.array_equal(features[0], features[1])


@pytest.mark.parametrize(
    "made",
    [
        lambda: Hasher("alexnet", bits=12, weights=None),
        lambda: Hasher.from_features(8, bits=12),
        lambda: Hasher(NAME, bits=12, size=48, weights=None, hidden=5, lift="rbf"),
    ],
    ids=["backbone", "features", "head"],
)
def test_other_networks_have_no_engine_of_8_bits(made):
    with pytest.raises(UsageError, match=r"EfficientNet-Lite.*use fp32"):
        made().with_engine("int8")
