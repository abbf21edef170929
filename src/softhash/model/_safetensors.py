"""Safetensors files of a stranger: their header is bounded, and every error is one of ours."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softhash.errors import InputError

MAX_HEADER = 4 << 20  # bytes; a thousand tensors take a twentieth of it
HINT = "copy the folder again"


def read_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Read the shape of each tensor in a file, and none of its numbers.

    Raises:
        InputError: it is not a safetensors file, or cut short.

    """
    from safetensors import SafetensorError, safe_open

    try:
        with path.open("rb") as file:
            _check_header(file.read(8), str(path))
        with safe_open(path, framework="numpy") as found:
            return {name: tuple(found.get_slice(name).get_shape()) for name in found.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise _damaged(str(path), error) from None


def read_arrays(data: bytes, name: str) -> dict[str, NDArray[Any]]:
    """Read the content of a safetensors file, all of it finite numbers.

    Args:
        data: the content.
        name: what errors call it.

    Raises:
        InputError: it is not a safetensors file, or holds anything else.

    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    _check_header(data[:8], name)
    try:
        arrays: dict[str, NDArray[Any]] = load(data)
    # Of a type that numpy does not have, a KeyError or TypeError comes.
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(name, error) from None
    for key, array in arrays.items():
        if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise InputError(f"{key[:80]!r} of {name} holds NaN or infinity, or no numbers", HINT)
    return arrays


def _check_header(start: bytes, name: str) -> None:
    size = int.from_bytes(start, "little")
    if len(start) < 8 or size > MAX_HEADER:
        what = f"its header has {size:,} bytes" if len(start) == 8 else "it is cut short"
        raise _damaged(name, what)


def _damaged(name: str, reason: object) -> InputError:
    return InputError(f"{name} is damaged, it is not a safetensors file: {str(reason)[:200]}", HINT)
