"""Weights from a file into a module: by name, by shape, and never by running what a file says."""

import os
import warnings
import zipfile
from collections.abc import Iterable
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from softhash.errors import InputError

_COUNTER = "num_batches_tracked"  # files older than torch 0.4.1 lack it; nothing here reads it


def load_weights(
    module: nn.Module, file: str | os.PathLike[str], *, partial: bool = False
) -> tuple[str, ...]:
    """Copy a file's weights into a module, and name the parameters that the file does not have.

    The file is `.safetensors`, or a state dict saved by torch. What belongs to the classifier that
    the module does without (its `left_out`) is passed over.

    Args:
        module: a backbone.
        file: the weights, under the module's parameter names.
        partial: accept a file with only some of the layers, such as `features.*` of AlexNet; the
            answer names what stays as it was. Otherwise the answer is empty.

    Raises:
        InputError: the file cannot be read, or its names or shapes are not the module's.

    """
    path = Path(file)
    left_out = tuple(getattr(module, "left_out", ()))
    state = {name: value for name, value in read(path).items() if not name.startswith(left_out)}
    wanted = module.state_dict()
    kind = type(module).__name__
    if unknown := [name for name in state if name not in wanted]:
        raise InputError(
            f"{path} has {len(unknown)} weights that {kind} does not: {_first(unknown)}",
            f"{kind} begins with {_first(wanted)}",
        )
    for name, value in state.items():
        if value.shape != wanted[name].shape:
            raise InputError(
                f"{path} has {name} of shape {tuple(value.shape)}, but {kind} needs "
                f"{tuple(wanted[name].shape)}",
                "is it the file of another model?",
            )
    missing = [name for name in wanted if name not in state and not name.endswith(_COUNTER)]
    if missing and (not partial or not state):
        raise InputError(
            f"{path} lacks {len(missing)} of the {len(wanted)} weights of {kind}: "
            f"{_first(missing)}",
            "to take the layers it has and leave the others random, call "
            "softhash.model.backbones.load_weights(module, file, partial=True)",
        )
    for name, value in wanted.items():
        if name not in state and name.endswith(_COUNTER):
            state[name] = torch.zeros_like(value)
    module.load_state_dict(state, strict=False)
    return tuple(missing)


def read(path: Path) -> dict[str, Tensor]:
    """Read named tensors from a `.safetensors` file or from a state dict saved by torch."""
    if not path.is_file():
        raise InputError(f"{path} is not there", "give the path of a .safetensors or .pth file")
    try:
        state = load_file(path) if path.suffix == ".safetensors" else _unpickled(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # bad bytes make torch's readers raise nearly anything
        raise InputError(
            f"{path} is no file of weights: neither .safetensors nor a state dict saved by torch "
            "with nothing but tensors in it"
        ) from error
    if not isinstance(state, dict) or not all(
        isinstance(name, str) and isinstance(value, Tensor) for name, value in state.items()
    ):
        inside = f"a dict of {_first(state)}" if isinstance(state, dict) else type(state).__name__
        raise InputError(
            f"{path} holds {inside}, not named tensors", "save the module's state_dict() alone"
        )
    return state


def _unpickled(path: Path) -> dict[str, Tensor]:
    """Read what torch.save wrote; torch's own unpickler makes tensors and refuses all else."""
    mapped = zipfile.is_zipfile(path)  # older files are one stream, which cannot be mapped
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it warns of is refused, or makes no difference
        state: dict[str, Tensor] = torch.load(
            path, map_location="cpu", weights_only=True, mmap=mapped
        )
    return state


def _first(names: Iterable[object]) -> str:
    shown = [str(name) for name in names]
    return ", ".join(shown[:3]) + (", …" if len(shown) > 3 else "")
