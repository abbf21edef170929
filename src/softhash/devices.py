"""Where work runs: the processor, or a CUDA device through torch."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from softhash.errors import UsageError, unknown_name

DEVICES = ("auto", "cpu", "cuda")


def usable_cores() -> int:
    """Count the processor cores this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pick_device(name: str) -> str:
    """Resolve ``auto``, and fail early when the asked-for device is not there."""
    kind = name.split(":")[0]
    if kind not in DEVICES:
        raise unknown_name("device", name, DEVICES)
    if kind == "cpu" or (kind == "auto" and not _has_nvidia_driver()):
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return "cuda" if kind == "auto" else name
    if kind == "cuda":
        raise UsageError("no CUDA device is available", "use the device cpu, or auto")
    return "cpu"


def _has_nvidia_driver() -> bool:
    """Look for the driver: importing torch only to be told that there is no GPU takes seconds."""
    return any(Path(file).exists() for file in ("/dev/nvidiactl", "/dev/dxg"))


def to_device(array: npt.NDArray[np.uint8], device: str) -> Any:
    """Return the array itself for the processor, or a tensor of it on the device."""
    if device == "cpu":
        return array
    import torch

    return torch.from_numpy(np.array(array)).to(device)
