"""The numbers of a network: built, read, written and compared."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softhash.devices import require_torch
from softhash.errors import InputError
from softhash.model._safetensors import read_arrays, read_shapes
from softhash.model.config import ModelConfig

if TYPE_CHECKING:
    from softhash.model.network import HashNetwork

MAX_REASON = 500  # characters of what torch says
SAMPLES = 16  # numbers of a tensor that are looked at to notice a change


def build(config: ModelConfig, weights: Any = None) -> "HashNetwork":
    """Build a network; `weights`, as `backbones.build` takes them, are where its backbone starts.

    The rest is drawn from the config's seed, without a trace in the caller's random numbers.
    """
    require_torch()
    import torch

    from softhash.model.heads import make_head
    from softhash.model.network import HashNetwork

    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(config.seed)  # a GPU's generator is left alone
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
            skip_dropout=config.skip_dropout,
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


class CachedFingerprint:
    """The fingerprint of a network, computed again only where a quick look finds a change.

    The quick look compares each parameter's and buffer's address, torch's count of its in-place
    changes, and a few of its numbers. Training, loading and replacing layers change these. What
    goes unnoticed is a write past torch's count, through `.data` or numpy, that leaves the sampled
    numbers of a tensor as they were.
    """

    def __init__(self) -> None:
        self._seen: object = None
        self._value = ""

    def __call__(self, network: "HashNetwork") -> str:
        """Return the fingerprint of a network as it is now."""
        seen = _quick_look(network)
        if seen != self._seen:
            self._value = fingerprint(network)
            self._seen = seen
        return self._value


def _quick_look(network: "HashNetwork") -> object:
    """Return what differs when a network has changed, without reading all of its numbers."""
    import torch

    samples: dict[Any, list[Any]] = {}
    with torch.inference_mode():
        tensors = [*network.parameters(), *network.buffers()]
        for tensor in tensors:
            numbers = tensor.numel()
            # Every so many-th number in memory order, whatever the layout.
            some = tensor.as_strided((min(SAMPLES, numbers),), (numbers // SAMPLES or 1,))
            samples.setdefault((tensor.dtype, tensor.device), []).append(some)
        read = [torch.cat(some).view(torch.uint8).cpu() for some in samples.values()]
    counts = [(t.data_ptr(), -1 if t.is_inference() else t._version) for t in tensors]
    return counts, [some.numpy().tobytes() for some in read]


def to_bytes(network: "HashNetwork") -> bytes:
    """Write a network's numbers as safetensors."""
    return arrays_to_bytes(arrays(network))


def arrays_to_bytes(found: dict[str, NDArray[Any]]) -> bytes:
    """Write the numbers of a network as safetensors; their order makes no difference."""
    from safetensors.numpy import save

    for name, array in found.items():
        if not np.isfinite(array).all():
            raise InputError(f"the network's {name} holds NaN or infinity", "did training diverge?")
    return save(found, {"format": "pt"})


def fill(network: "HashNetwork", data: bytes, name: str) -> None:
    """Read numbers that `to_bytes` wrote into a network of the same layers.

    Args:
        network: what is filled.
        data: the content of a safetensors file.
        name: what errors call it.

    """
    import torch

    arrays = read_arrays(data, name)
    try:
        network.load_state_dict({key: torch.from_numpy(array) for key, array in arrays.items()})
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:MAX_REASON]
        raise InputError(f"{name} does not fit the network of config.json: {reason}") from None


def check_shapes(path: Path, config: ModelConfig) -> None:
    """Raise unless a file has a head of the config's sizes; its numbers are not read.

    So a file is as large as what the config would have built.
    """
    found = read_shapes(path)
    for name, expected in head_shapes(config).items():
        if found.get(name) != expected:
            what = f"{name} of shape {found[name]}" if name in found else f"no {name}"
            raise InputError(
                f"{path} has {what}, but config.json has {expected}: "
                "the files are of different models"
            )


def head_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a head's tensors, by name; see `softhash.model.heads`."""
    features, hidden, outputs = config.features, config.hidden, config.outputs
    shapes: dict[str, tuple[int, ...]] = {
        "mean": (features,),
        "scale": (features,),
        "output.weight": (outputs, hidden or features),
        "output.bias": (outputs,),
    }
    if hidden and config.lift == "rbf":
        shapes |= {"hidden.0.anchors": (hidden, features), "hidden.0.offset": (hidden,)}
    elif hidden:
        shapes |= {"hidden.0.weight": (hidden, features), "hidden.0.bias": (hidden,)}
    if hidden and config.skip_dropout < 1:
        shapes["skip.weight"] = (outputs, features)
    if config.embedding:
        books = config.bits // (config.words.bit_length() - 1)
        shapes["codebooks"] = (books, config.words, config.embedding)
    return {f"head.{name}": shape for name, shape in shapes.items()}
