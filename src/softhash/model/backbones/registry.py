"""Backbones by name: built-in ones, those of plug-ins, and models of timm and torchvision.

The built-in ones are plain torch, one architecture per file, under the parameter names of the
published weights. `timm:NAME` and `torchvision:NAME` are any model of those packages. Importing
this package does not import torch, and neither does listing.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softhash import plugins
from softhash.devices import require_torch
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
    """Return what a backbone expects and gives; torch is imported for adapted models alone.

    Raises:
        InputError: a plug-in has that name, and cannot be imported or is not a spec.
        UsageError: there is no such backbone.

    >>> spec("efficientnet_lite0").size
    224

    """
    if ":" not in name:
        return _known(name)
    _check_adapter(name)
    require_torch()
    from softhash.model.backbones.adapters import adapted

    return adapted(name, pretrained=False)[0]


def describe() -> dict[str, str]:
    """Return one line about each backbone.

    >>> describe()["vgg19"]
    'VGG-19 up to fc7: 4,096 features at 224²; heavy.'
    """
    added = plugins.describe_plugins(
        plugins.BACKBONES, BUILT_IN, lambda name: _known(name).describe
    )
    return {name: known.describe for name, known in BUILT_IN.items()} | added | _ADAPTERS


def build(name: str, *, weights: str | Path | None = "default") -> "torch.nn.Module":
    """Make a backbone: normalised pictures (n, 3, side, side) → features (n, spec.features).

    The module is in training mode, as torch makes them; call `eval()` before computing features.

    Args:
        name: one of `describe()`.
        weights: "default" for the published pre-trained ones, None for a random start (call
            `torch.manual_seed` before), or a file of them; see `load_weights` for a file that has
            only some of the layers.

    Raises:
        InputError: the weights cannot be found, or the file's are not this backbone's.
        UsageError: there is no such backbone.

    """
    require_torch()
    if ":" in name:
        _check_adapter(name)
        from softhash.model.backbones.adapters import adapted

        _, module = adapted(name, pretrained=weights == "default")
        if weights not in (None, "default"):
            load_weights(module, weights)
        return module
    known = _known(name)
    if weights is None:
        return _architecture(known)
    import torch

    file = _published(known) if weights == "default" else weights
    with torch.device("meta"):  # no memory and no random numbers for what is overwritten at once
        module = _architecture(known)
    module.to_empty(device="cpu")
    load_weights(module, file)
    return module


def load_weights(
    module: "torch.nn.Module", file: str | os.PathLike[str], *, partial: bool = False
) -> tuple[str, ...]:
    """Copy a file's weights into a module, and name the parameters that the file does not have.

    Args:
        module: a backbone.
        file: of weights, under the module's parameter names.
        partial: whether a file with only some of the layers will do.

    """
    require_torch()
    from softhash.model.backbones import weights

    return weights.load_weights(module, file, partial=partial)


def _known(name: str) -> BackboneSpec:
    """Find the spec of a backbone that is built in or a plug-in."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    found = plugins.load_plugin(plugins.BACKBONES, name)
    if found is None:
        names = [*BUILT_IN, *plugins.plugin_names(plugins.BACKBONES), *_ADAPTERS]
        raise unknown_name("backbone", name, names)
    if not isinstance(found, BackboneSpec) or found.name != name or not found.architecture:
        problem = f"is {found!r}, not a BackboneSpec of that name with an architecture"
        raise plugins.plugin_error(plugins.BACKBONES, name, problem)
    return found


def _architecture(known: BackboneSpec) -> "torch.nn.Module":
    module: torch.nn.Module = _imported(known.architecture)(*known.arguments)
    return module


def _published(known: BackboneSpec) -> Path:
    """Return the file of the published weights."""
    if known.weights:
        return Path(_imported(known.weights)())
    if known.name not in BUILT_IN:
        raise UsageError(
            f"{known.name} has no published weights", "give a file, or None for a random start"
        )
    from softhash.model.backbones.published import published_weights

    return published_weights(known.name)


def _imported(place: str) -> Any:
    """Import what "module:name" stands for."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _check_adapter(name: str) -> None:
    package, _, model = name.partition(":")
    if package not in ("timm", "torchvision"):
        raise unknown_name("backbone", name, describe())
    if not model:
        raise UsageError(f"'{name}' names no model", f"write, for example, {package}:resnet50")
