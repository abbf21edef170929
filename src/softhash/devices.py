"""Where work runs: the processor, or a CUDA device through torch."""

import os
import platform
import sys
from ctypes.util import find_library
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from softhash.errors import MissingExtraError, UsageError, unknown_name

DEVICES = ("auto", "cpu", "cuda")
CPU_FACTS = Path("/proc/cpuinfo")
GROUP, GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
VNNI = {"avx512_vnni", "avx_vnni"}  # instructions for products of 8 bits
_limits = [1 << 30]  # of cores, as far as somebody has set them
DRIVER_FILES = ("/dev/nvidiactl", "/dev/dxg")  # of Linux, and of Linux under Windows


def usable_cores() -> int:
    """Count the processor cores this process may use, which can be fewer than the machine has.

    A container may have all cores, but only so much time on them: then as many as fit that time.
    """
    if hasattr(os, "sched_getaffinity"):
        found = len(os.sched_getaffinity(0))
    else:
        found = os.cpu_count() or 1
    return min(found, _cores_of_group(), *_limits)


@cache
def _cores_of_group() -> int:
    """Return how many cores the control groups of Linux leave to this process."""
    try:
        lines = GROUP.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return _limits[0]
    shares = [_limits[0]]
    for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") >= 2):
        if "cpu" in controllers.split(","):
            root, names = GROUPS / "cpu", ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
        elif not controllers:
            root, names = GROUPS, ["cpu.max"]
        else:
            continue
        group = root / path.lstrip("/")
        for place in (group, *group.parents):  # in a container, its own group may be the root
            if place.is_relative_to(root):
                shares += _share(place, names)
    return min(shares)


def _share(group: Path, names: list[str]) -> list[int]:
    """Return the cores that a control group allows, nothing where it sets no limit."""
    try:
        quota, period = " ".join((group / name).read_text() for name in names).split()
        share = -(-int(quota) // int(period))
    except (OSError, ValueError, ZeroDivisionError):  # "max" is no number
        return []
    return [max(1, share)] if int(quota) > 0 else []


def limit_cores(count: int) -> None:
    """Use no more cores in this process from now on, as one of several on a machine does."""
    _limits.append(count)


@cache
def has_vnni() -> bool:
    """Return whether the processor is known to multiply 8 bits fast; Linux alone can be asked."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    try:
        lines = CPU_FACTS.read_text().splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.startswith("flags")), "")
    return not VNNI.isdisjoint(flags.split())


def require_torch() -> None:
    """Raise unless torch is installed; it is not imported, which takes seconds.

    Raises:
        MissingExtraError: it is not; the message names the extra that brings it.

    """
    if not has_torch():
        raise MissingExtraError("torch", "train")


def has_torch() -> bool:
    """Return whether torch is installed; it is not imported."""
    return find_spec("torch") is not None


def pick_device(name: str) -> str:
    """Resolve ``auto``, and fail early when the asked-for device is not there."""
    kind = name.split(":")[0]
    if kind not in DEVICES:
        raise unknown_name("device", name, DEVICES)
    if kind == "cpu" or (kind == "auto" and not (_has_nvidia_driver() and has_torch())):
        return "cpu"
    require_torch()
    import torch

    if torch.cuda.is_available():
        return "cuda" if kind == "auto" else name
    if kind == "cuda":
        raise UsageError("no CUDA device is available", "use the device cpu, or auto")
    return "cpu"


def _has_nvidia_driver() -> bool:
    """Look for the driver: importing torch only to learn that there is no GPU takes seconds."""
    if sys.platform == "win32":
        return find_library("nvcuda") is not None
    return any(Path(file).exists() for file in DRIVER_FILES)


def to_device(array: npt.NDArray[np.uint8], device: str) -> Any:
    """Return the array itself for the processor, or a tensor of it on the device."""
    if device == "cpu":
        return array
    import torch

    return torch.from_numpy(np.array(array)).to(device)
