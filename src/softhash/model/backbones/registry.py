"""Backbones: from a picture to a feature vector.

The built-in ones are plain torch, one architecture a file, under the parameter names of the
published weights. `timm:NAME` and `torchvision:NAME` are any model of those packages. Importing
this package does not import torch.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from softhash.errors import UsageError, unknown_name
from softhash.model.backbones.specs import BUILT_IN, BackboneSpec

if TYPE_CHECKING:
    import torch

__all__ = ["BUILT_IN", "BackboneSpec", "build", "describe", "load_weights", "spec"]

_ADAPTERS = {
    "timm:NAME": "Any model of timm, with its own size and weights; needs softhash[timm].",
    "torchvision:NAME": "A classifier of torchvision, likewise; needs softhash[torchvision].",
}


def spec(name: str) -> BackboneSpec:
    """Return what a backbone expects and gives; for a built-in one, without torch.

    >>> spec("efficientnet_lite0").size
    224
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    _check_adapter(name)
    from softhash.model.backbones.adapters import adapted

    return adapted(name, pretrained=False)[0]


def describe() -> dict[str, str]:
    """One line about each backbone.

    >>> describe()["vgg19"]
    'VGG-19 up to fc7: 4,096 features at 224²; heavy.'
    """
    return {name: known.describe for name, known in BUILT_IN.items()} | _ADAPTERS


def build(name: str, *, weights: str | Path | None = "default") -> "torch.nn.Module":
    """Make a backbone: normalised pictures (n, 3, side, side) → features (n, spec.features).

    The module is in training mode, as torch makes them; call `eval()` before computing features.

    Args:
        name: one of `describe()`.
        weights: "default" for the published pre-trained ones, None for a random start (call
            `torch.manual_seed` before), or a file of them; see `load_weights` for a file that has
            only some of the layers.

    Raises:
        InputError: the weights are not to be had, or the file's are not this backbone's.
        UsageError: there is no such backbone.

    """
    if name not in BUILT_IN:
        _check_adapter(name)
        from softhash.model.backbones.adapters import adapted

        _, module = adapted(name, pretrained=weights == "default")
        if weights not in (None, "default"):
            load_weights(module, weights)
        return module
    if weights is None:
        return _architecture(name)
    import torch

    from softhash.model.backbones.published import published_weights

    file = published_weights(name) if weights == "default" else weights
    with torch.device("meta"):  # no memory and no random numbers for what is overwritten at once
        module = _architecture(name)
    module.to_empty(device="cpu")
    load_weights(module, file)
    return module


def load_weights(
    module: "torch.nn.Module", file: str | os.PathLike[str], *, partial: bool = False
) -> tuple[str, ...]:
    """Copy a file's weights into a module, and name the parameters that the file does not have.

    With `partial`, a file with only some of the layers will do.
    """
    from softhash.model.backbones import weights

    return weights.load_weights(module, file, partial=partial)


def _check_adapter(name: str) -> None:
    package, colon, model = name.partition(":")
    if package not in ("timm", "torchvision") or not colon:
        raise unknown_name("backbone", name, describe())
    if not model:
        raise UsageError(f"'{name}' names no model", f"write, for example, {package}:resnet50")


def _architecture(name: str) -> "torch.nn.Module":
    if name == "alexnet":
        from softhash.model.backbones.alexnet import AlexNet

        return AlexNet()
    if name == "vgg19":
        from softhash.model.backbones.vgg import VGG19

        return VGG19()
    if name == "googlenet":
        from softhash.model.backbones.googlenet import GoogLeNet

        return GoogLeNet()
    from softhash.model.backbones.efficientnet_lite import EfficientNetLite
    from softhash.model.backbones.efficientnet_lite_shape import SCALES

    return EfficientNetLite(*SCALES[name])
