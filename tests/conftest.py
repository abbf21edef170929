"""A backbone of a few thousand weights in place of the real ones, and models made with it."""

import os
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import settings

from softhash.model.backbones.specs import BackboneSpec

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # for tests that import ONNX Runtime themselves

settings.register_profile("untimed", deadline=None)  # a busy machine is no defect
settings.load_profile("untimed")

SPEC = BackboneSpec(
    "tiny", 12, 32, (120.0, 125.0, 130.0), (60.0, 61.0, 62.0), "For tests.", least=8
)


def _spec(name):
    from softhash.errors import unknown_name

    if name != SPEC.name:
        raise unknown_name("backbone", name, [SPEC.name])
    return SPEC


def _build(name, *, weights="default"):
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, SPEC.features, 3, stride=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )


@pytest.fixture(autouse=True)
def _pillow_is_silent() -> None:
    """Ignore Pillow's warnings in each test: pytest gives every one of them fresh filters."""
    from softhash.data.decoding import ignore_pillow_warnings

    ignore_pillow_warnings()


@pytest.fixture
def torchrun() -> list[str]:
    """Return what starts two processes that train together, on a port that is free."""
    free = ["--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0"]
    return ["-m", "torch.distributed.run", "--nproc-per-node=2", *free]


@pytest.fixture(scope="session")
def _tiny_module() -> ModuleType:
    module = ModuleType("softhash.model.backbones")
    module.BackboneSpec, module.spec, module.build = BackboneSpec, _spec, _build
    return module


@pytest.fixture
def tiny_backbone(monkeypatch, _tiny_module) -> None:
    """Make `tiny` the only backbone."""
    monkeypatch.setitem(sys.modules, "softhash.model.backbones", _tiny_module)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory, _tiny_module) -> Iterator:
    """Return the folder of a saved model of 12 bits; not to be written to."""
    from softhash.model.hasher import Hasher

    folder = tmp_path_factory.mktemp("models") / "tiny"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "softhash.model.backbones", _tiny_module)
        hasher = Hasher("tiny", bits=12, seed=3)
        hasher.classes = ["sea", "sky"]
        hasher.save(folder, card={"summary": "A model for tests.", "metrics": {"map@all": 0.5}})
    return folder


@pytest.fixture(scope="session")
def telling_model(tmp_path_factory, tiny_model):
    """Return the folder of the same model with an opinion on labels; not to be written to."""
    import numpy as np

    from softhash.model.hasher import Hasher
    from softhash.model.label_classifier import LabelClassifier

    folder = tmp_path_factory.mktemp("models") / "telling"
    hasher = Hasher.load(tiny_model)
    # A label that is a number, one that drawn scenes have, one they have not, one too improbable.
    hasher.classes = ["sea", "7", "night", "sky"]
    width = hasher.config["features"]
    weight = np.random.default_rng(0).normal(0, 0.3, (4, width)).astype(np.float32)
    bias = np.array([0.2, 1.2, -6, 2.5], np.float32)
    hasher.label_classifier = LabelClassifier(weight, bias, hasher.classes)
    hasher.save(folder)
    return folder
