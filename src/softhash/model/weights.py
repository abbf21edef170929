"""The numbers of a network: built, read, written and told apart."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softhash.errors import InputError
from softhash.model.config import ModelConfig

if TYPE_CHECKING:
    from softhash.model.network import HashNetwork

LAST_LAYER = "head.output.weight"


def build(config: ModelConfig, weights: Any = None) -> "HashNetwork":
    """Build a network; `weights` are where its backbone starts from, as `backbones.build` says.

    The rest is drawn from the config's seed, without a trace in the caller's random numbers.
    """
    import torch

    from softhash.model.heads import make_head
    from softhash.model.network import HashNetwork

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        spec = backbone = None
        if config.backbone is not None:
            from softhash.model.backbones import BackboneSpec
            from softhash.model.backbones import build as build_backbone

            sizes = config.features, config.size
            spec = BackboneSpec(config.backbone, *sizes, config.mean, config.std, describe="")
            backbone = build_backbone(config.backbone, weights=weights)
        head = make_head(
            config.features,
            config.bits,
            hidden=config.hidden,
            dropout=config.dropout,
            feature_dropout=config.feature_dropout,
            activation=config.activation,
            lift=config.lift,
            embedding=config.embedding,
            words=config.words,
        )
        return HashNetwork(spec, backbone, head)


def arrays(network: "HashNetwork") -> dict[str, NDArray[Any]]:
    """Return parameters and buffers by name."""
    state = network.state_dict()
    return {name: state[name].detach().cpu().contiguous().numpy() for name in sorted(state)}


def fingerprint(network: "HashNetwork", part: str = "") -> str:
    """Return a SHA-256 of all numbers, or of a part's: training a network changes it."""
    digest = hashlib.sha256()
    for name, array in arrays(network).items():
        if not name.startswith(part):
            continue
        digest.update(f"{name} {array.shape} {array.dtype}".encode())
        digest.update(np.atleast_1d(array).view(np.uint8).data)
    return digest.hexdigest()


def to_bytes(network: "HashNetwork") -> bytes:
    """Write a network's numbers as safetensors."""
    from safetensors.numpy import save

    found = arrays(network)
    for name, array in found.items():
        if not np.isfinite(array).all():
            raise InputError(f"the network's {name} holds NaN or infinity", "did training diverge?")
    return save(found, {"format": "pt"})


def fill(network: "HashNetwork", data: bytes, name: str) -> None:
    """Read numbers that `to_bytes` wrote into a network of the same layers."""
    from safetensors.torch import load

    try:
        network.load_state_dict(load(data))
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{name} does not fit the network of config.json: {reason}") from None


def check_header(path: Path, config: ModelConfig) -> None:
    """Raise unless the file is safetensors of a model with the config's sizes; quick."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            found = tuple(file.get_slice(LAST_LAYER).get_shape())
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path} is damaged, it is no safetensors file: {error}") from None
    expected = (config.outputs, config.hidden or config.features)
    if found != expected:
        raise InputError(
            f"{path} has a last layer of {found}, but config.json says {expected}: "
            "the files are of different models"
        )
