"""Models of timm and torchvision as backbones, when those packages are installed."""

from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any

import torch
from torch import nn

from softhash.errors import InputError, MissingExtraError, UsageError
from softhash.model.backbones.specs import BackboneSpec, Colour

_CLASSIFIERS = ("fc", "classifier", "head", "heads")  # where torchvision's models end
_AUXILIARY = ("aux1", "aux2", "AuxLogits")


def adapted(name: str, *, pretrained: bool) -> tuple[BackboneSpec, nn.Module]:
    """Make the model `timm:NAME` or `torchvision:NAME` without its classifier, and its spec.

    Pre-trained weights are downloaded and checked by those packages, by their own rules.
    """
    package, _, model = name.partition(":")
    make = {"timm": _timm, "torchvision": _torchvision}[package]
    return make(_imported(package), model, pretrained)


def _imported(package: str) -> ModuleType:
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name == package:
            raise MissingExtraError(package, package) from error
        raise InputError(f"{package} is installed, but not all it needs: {error}") from error
    # A build of torchvision for another torch fails with whatever its operators meet first.
    except (ImportError, OSError, RuntimeError) as error:
        raise InputError(
            f"{package} is installed, but does not work beside torch {torch.__version__}: {error}",
            "install builds of both that belong together",
        ) from error


def _timm(timm: Any, model_name: str, pretrained: bool) -> tuple[BackboneSpec, nn.Module]:
    if not timm.is_model(model_name):
        raise _no_such_model("timm", model_name, timm.list_models())
    try:
        model = timm.create_model(model_name, pretrained=pretrained, num_classes=0)
    except (OSError, RuntimeError, ValueError) as error:
        raise _no_weights("timm", model_name, error) from error
    config = timm.data.resolve_model_data_config(model)
    _, height, width = config["input_size"]
    if height != width:
        raise UsageError(
            f"timm:{model_name} wants pictures of {height}×{width}", "a backbone here takes squares"
        )
    # Where a layer stands between pool and classifier, num_features counts before that layer.
    features = getattr(model, "head_hidden_size", None) or model.num_features
    classifier = (getattr(model, "pretrained_cfg", None) or {}).get("classifier") or ()
    names = (classifier,) if isinstance(classifier, str) else tuple(classifier)
    model.left_out = tuple(f"{name}." for name in names)
    spec = _spec("timm", model_name, features, height, config["mean"], config["std"])
    return spec, model


def _torchvision(
    torchvision: Any, model_name: str, pretrained: bool
) -> tuple[BackboneSpec, nn.Module]:
    models = torchvision.models
    known = models.list_models(module=models)  # classification only
    if model_name not in known:
        raise _no_such_model("torchvision", model_name, known)
    weights = models.get_model_weights(model_name).DEFAULT
    try:
        model = models.get_model(model_name, weights=weights if pretrained else None)
    except (OSError, RuntimeError, ValueError) as error:
        raise _no_weights("torchvision", model_name, error) from error
    transform = weights.transforms()
    name, features = _remove_classifier(model, model_name)
    auxiliary = [part for part in _AUXILIARY if hasattr(model, part)]
    for part in auxiliary:  # in training mode these would turn the output into a tuple
        setattr(model, part, None)
        model.aux_logits = False
    model.left_out = (f"{name}.", *(f"{part}." for part in auxiliary))
    size = transform.crop_size[0]
    return _spec("torchvision", model_name, features, size, transform.mean, transform.std), model


def _remove_classifier(model: nn.Module, model_name: str) -> tuple[str, int]:
    """Put nothing in the place of the last linear layer; return its name and its inputs."""
    linear = [
        (name, layer)
        for name, layer in model.named_modules()
        if isinstance(layer, nn.Linear) and name.split(".")[0] in _CLASSIFIERS
    ]
    if not linear:
        raise UsageError(
            f"torchvision:{model_name} does not end in a linear layer",
            "known to do so: resnet50, convnext_tiny, vit_b_16, swin_t and their kin",
        )
    name, layer = linear[-1]
    parent, _, child = name.rpartition(".")
    setattr(model.get_submodule(parent), child, nn.Identity())
    return name, layer.in_features


def _spec(package: str, model: str, features: int, size: int, mean: Any, std: Any) -> BackboneSpec:
    """Put a spec together from statistics of pixel values between 0 and 1."""
    describe = f"{model} of {package}: {features:,} features at {size}²."
    name = f"{package}:{model}"
    return BackboneSpec(name, int(features), int(size), _pixels(mean), _pixels(std), describe)


def _pixels(values: Any) -> Colour:
    red, green, blue = (255.0 * float(value) for value in values)
    return red, green, blue


def _no_such_model(package: str, name: str, known: list[str]) -> UsageError:
    close = get_close_matches(name, known, n=3)
    guess = f" did you mean {' or '.join(close)}?" if close else ""
    return UsageError(
        f"{package} has no model '{name}';{guess} {package}'s list_models() names all {len(known)}"
    )


def _no_weights(package: str, name: str, error: Exception) -> InputError:
    return InputError(
        f"{package} cannot make {name}: {error}",
        "if its weights cannot be downloaded here, give a file of them as weights",
    )
