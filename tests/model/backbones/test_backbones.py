"""Every built-in backbone: published counts, names and shapes, gradients, layouts, export."""

import subprocess
import sys
import warnings

import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn

from softhash.errors import UsageError
from softhash.model import backbones
from softhash.model.onnx_graph import check_graph

NAMES = tuple(backbones.BUILT_IN)

# Published parameter counts with their last layer (1,000 classes), as the model zoos print them.
PUBLISHED = {
    "alexnet": 61_100_840,
    "vgg19": 143_667_240,
    "googlenet": 6_624_904,
    "efficientnet_lite0": 4_652_008,
    "efficientnet_lite1": 5_416_680,
    "efficientnet_lite2": 6_092_072,
}


def random_backbone(name: str) -> nn.Module:
    """A backbone with random weights; the two with huge linear layers get narrow ones for speed."""
    torch.manual_seed(0)
    with torch.device("meta"):
        module = backbones.build(name, weights=None)
    if hasattr(module, "classifier"):
        linear = [i for i, layer in enumerate(module.classifier) if isinstance(layer, nn.Linear)]
        module.classifier[linear[0]] = nn.Linear(module.classifier[linear[0]].in_features, 32)
        module.classifier[linear[1]] = nn.Linear(32, backbones.spec(name).features)
    module.to_empty(device="cpu")
    for parameter in module.parameters():
        parameter.data.normal_(std=max(1e-2, (2 / max(parameter[0].numel(), 1)) ** 0.5))
    for layer in module.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.reset_parameters()
    return module.eval()


def pictures(count: int, side: int) -> torch.Tensor:
    return torch.randn(count, 3, side, side, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_as_many_as_published(name):
    with torch.device("meta"):
        module = backbones.build(name, weights=None)
    last = 1000 * (backbones.spec(name).features + 1)
    assert sum(p.numel() for p in module.parameters()) == PUBLISHED[name] - last


@pytest.mark.parametrize(
    ("name", "parameter", "shape"),
    [
        ("alexnet", "features.0.weight", (64, 3, 11, 11)),
        ("alexnet", "features.10.bias", (256,)),
        ("alexnet", "classifier.1.weight", (4096, 9216)),
        ("alexnet", "classifier.4.weight", (4096, 4096)),
        ("vgg19", "features.0.weight", (64, 3, 3, 3)),
        ("vgg19", "features.34.weight", (512, 512, 3, 3)),
        ("vgg19", "classifier.0.weight", (4096, 25088)),
        ("vgg19", "classifier.3.weight", (4096, 4096)),
        ("googlenet", "conv1.conv.weight", (64, 3, 7, 7)),
        ("googlenet", "conv3.bn.running_var", (192,)),
        ("googlenet", "inception3a.branch1.conv.weight", (64, 192, 1, 1)),
        ("googlenet", "inception4e.branch3.1.conv.weight", (128, 32, 3, 3)),
        ("googlenet", "inception5b.branch4.1.bn.weight", (128,)),
        ("efficientnet_lite2", "_blocks.20._project_conv.weight", (352, 1248, 1, 1)),
    ],
)
def test_parameters_have_the_published_names_and_shapes(name, parameter, shape):
    with torch.device("meta"):
        module = backbones.build(name, weights=None)
    assert tuple(module.state_dict()[parameter].shape) == shape


@pytest.mark.parametrize("name", NAMES)
def test_features_have_the_spec_s_shape_on_meta_at_its_size_and_at_227(name):
    spec = backbones.spec(name)
    with torch.device("meta"):
        module = backbones.build(name, weights=None)
        for side in (spec.size, 227):
            assert module(torch.empty(2, 3, side, side)).shape == (2, spec.features)


@pytest.mark.parametrize("name", NAMES)
def test_channels_last_gives_the_same_features(name):
    module, x = random_backbone(name), pictures(1, 131)
    with torch.inference_mode():
        expected = module(x)
        module = module.to(memory_format=torch.channels_last)
        actual = module(x.to(memory_format=torch.channels_last))
    assert expected.std() > 0
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4 * expected.abs().max().item())


@pytest.mark.parametrize("name", NAMES)
def test_gradient_reaches_every_parameter(name):
    module = random_backbone(name).train()
    module(pictures(2, 99)).square().sum().backward()
    idle = [n for n, p in module.named_parameters() if p.grad is None or not p.grad.any()]
    assert not idle


@pytest.mark.parametrize("side", [None, 227])
@pytest.mark.parametrize("name", NAMES)
def test_the_exported_graph_gives_the_same_features(name, side, tmp_path):
    if side and name in ("vgg19", "efficientnet_lite1", "efficientnet_lite2"):
        pytest.skip("its kin is exported at this size")
    module = random_backbone(name)
    x = pictures(3, side or backbones.spec(name).size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module, (x[:1],), tmp_path / "backbone.onnx", dynamo=False, opset_version=17,
            input_names=["x"], output_names=["features"],
            dynamic_axes={"x": {0: "n"}, "features": {0: "n"}},
        )  # fmt: skip
    check_graph((tmp_path / "backbone.onnx").read_bytes(), name)
    session = onnxruntime.InferenceSession(tmp_path / "backbone.onnx")
    assert {node.name for node in session.get_inputs()} == {"x"}
    x = x[:2] if name == "vgg19" else x
    (actual,) = session.run(None, {"x": x.numpy()})
    with torch.inference_mode():
        expected = module(x).numpy()
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["efficientnet_lite0", "googlenet"])
def test_the_same_seed_gives_the_same_random_start(name):
    def state(seed):
        torch.manual_seed(seed)
        return backbones.build(name, weights=None).state_dict()

    first, again, other = state(3), state(3), state(4)
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not all(torch.equal(first[key], other[key]) for key in first)


def test_dropout_follows_both_linear_layers_of_alexnet_and_vgg19():
    for name in ("alexnet", "vgg19"):
        with torch.device("meta"):
            layers = list(backbones.build(name, weights=None).classifier)
        for i, layer in enumerate(layers):
            if isinstance(layer, nn.Linear):
                assert isinstance(layers[i + 1], nn.ReLU)
                assert layers[i + 2].p == 0.5


def test_googlenet_s_normalisation_is_torchvision_s_with_its_transform_input():
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    pixel = np.array([10.0, 100.0, 250.0])
    usual = (pixel / 255 - mean) / std
    transformed = usual * (std / 0.5) + (mean - 0.5) / 0.5  # what its transform_input does
    spec = backbones.spec("googlenet")
    np.testing.assert_allclose((pixel - spec.mean) / spec.std, transformed)


def test_specs_are_known_without_torch():
    code = (
        "import sys; from softhash.model import backbones; backbones.describe(); "
        "backbones.spec('alexnet'); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_every_backbone_is_described_in_a_line():
    described = backbones.describe()
    assert set(NAMES) < set(described)
    assert all(line and "\n" not in line for line in described.values())


@pytest.mark.parametrize("ask", [backbones.spec, backbones.build])
def test_an_unknown_backbone_is_a_usage_error_with_a_guess(ask):
    with pytest.raises(UsageError, match="did you mean 'alexnet'"):
        ask("alexnett")
    with pytest.raises(UsageError, match="timm:resnet50"):
        ask("timm:")
