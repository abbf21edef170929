"""Adapters, with small stand-ins for timm and torchvision under their real names."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch
from torch import nn

from softhash.errors import InputError, MissingExtraError, UsageError
from softhash.model import backbones


class Net(nn.Module):
    """Pool, a hidden layer, and a classifier, like the models of both packages."""

    def __init__(self, classes: int, auxiliary: bool = False):
        super().__init__()
        self.hidden = nn.Linear(3, 5)
        self.fc = nn.Linear(5, classes) if classes else nn.Identity()
        self.num_features = 5
        self.pretrained_cfg = {"classifier": "fc"}
        if auxiliary:
            self.aux_logits, self.AuxLogits = True, nn.Linear(5, 2)

    def forward(self, x):
        out = self.fc(self.hidden(x.mean((2, 3))))
        return (out, None) if self.training and getattr(self, "aux_logits", False) else out


@pytest.fixture
def timm(monkeypatch) -> ModuleType:
    module = ModuleType("timm")
    config = {"input_size": (3, 240, 240), "mean": (0.5, 0.5, 0.5), "std": (0.2, 0.4, 0.6)}
    module.config = config

    def create_model(name, pretrained, num_classes):
        if pretrained and name == "offline":
            raise OSError("no route to host")
        net = Net(num_classes)
        if name == "mobile":
            net.head_hidden_size, net.num_features = 5, 3
        net.pretrained = pretrained
        return net

    module.create_model = create_model
    module.is_model = lambda name: name in module.list_models()
    module.list_models = lambda: ["resnet50", "mobile", "offline"]
    module.data = SimpleNamespace(resolve_model_data_config=lambda model: config)
    monkeypatch.setitem(sys.modules, "timm", module)
    return module


@pytest.fixture
def torchvision(monkeypatch) -> ModuleType:
    module = ModuleType("torchvision")
    transform = SimpleNamespace(crop_size=[232], mean=[0.5, 0.4, 0.3], std=[0.2, 0.2, 0.2])
    default = SimpleNamespace(transforms=lambda: transform)

    def get_model(name, weights):
        if weights and name == "offline":
            raise OSError("no route to host")
        if name == "squeezenet":
            return nn.Sequential(nn.Conv2d(3, 4, 1))
        net = Net(7, auxiliary=name == "inception_v3")
        net.pretrained = weights is default
        return net

    module.models = SimpleNamespace(
        list_models=lambda module: ["resnet50", "inception_v3", "squeezenet", "offline"],
        get_model_weights=lambda name: SimpleNamespace(DEFAULT=default),
        get_model=get_model,
    )
    monkeypatch.setitem(sys.modules, "torchvision", module)
    return module


def test_timm_s_data_config_becomes_the_spec(timm):
    spec = backbones.spec("timm:resnet50")
    assert (spec.name, spec.features, spec.size) == ("timm:resnet50", 5, 240)
    assert spec.mean == (127.5, 127.5, 127.5)
    assert spec.std == pytest.approx((51, 102, 153))
    assert backbones.spec("timm:mobile").features == 5
    timm.config["input_size"] = (3, 240, 320)
    with pytest.raises(UsageError, match="240×320"):
        backbones.spec("timm:resnet50")


def test_torchvision_s_transform_becomes_the_spec(torchvision):
    spec = backbones.spec("torchvision:resnet50")
    assert (spec.name, spec.features, spec.size) == ("torchvision:resnet50", 5, 232)
    assert spec.mean == pytest.approx((127.5, 102, 76.5))
    assert spec.std == pytest.approx((51, 51, 51))


@pytest.mark.parametrize("name", ["timm:resnet50", "torchvision:resnet50"])
def test_the_model_comes_without_its_classifier(timm, torchvision, name, tmp_path):
    assert backbones.build(name).pretrained
    module = backbones.build(name, weights=None)
    assert not module.pretrained
    assert module(torch.zeros(2, 3, 8, 8)).shape == (2, 5)
    torch.save(Net(1000).state_dict(), tmp_path / "a.pth")
    again = backbones.build(name, weights=tmp_path / "a.pth")
    assert torch.equal(again.hidden.weight, torch.load(tmp_path / "a.pth")["hidden.weight"])


def test_auxiliary_heads_are_removed(torchvision):
    module = backbones.build("torchvision:inception_v3").train()
    assert module(torch.zeros(2, 3, 8, 8)).shape == (2, 5)


def test_a_model_without_a_linear_classifier_is_a_usage_error(torchvision):
    with pytest.raises(UsageError, match="does not end in a linear layer"):
        backbones.build("torchvision:squeezenet")


@pytest.mark.parametrize("package", ["timm", "torchvision"])
def test_unknown_models_and_missing_weights_are_explained(timm, torchvision, package):
    with pytest.raises(UsageError, match=r"no model 'resnet5'; did you mean resnet50\?"):
        backbones.build(f"{package}:resnet5")
    with pytest.raises(InputError, match=r"no route to host; .* give a file"):
        backbones.build(f"{package}:offline")


@pytest.mark.parametrize("package", ["timm", "torchvision"])
def test_a_missing_or_broken_package_is_explained(monkeypatch, tmp_path, package):
    monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(MissingExtraError, match=rf"pip install 'softhash\[{package}\]'"):
        backbones.spec(f"{package}:resnet50")
    for code, message in (
        ("import no_such_module", "not all it needs: No module named 'no_such_module'"),
        ("raise RuntimeError('operator nms does not exist')", "beside torch .* nms"),
    ):
        folder = tmp_path / message[:3]
        folder.mkdir()
        (folder / f"{package}.py").write_text(code)
        monkeypatch.setattr(sys, "path", [str(folder)])
        with pytest.raises(InputError, match=message):
            backbones.spec(f"{package}:resnet50")
