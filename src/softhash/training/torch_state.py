"""Settings of torch that belong to the whole process: changed for a run, and put back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def preserve_torch_state(device: torch.device) -> Iterator[None]:
    """Leave the caller's random generators and cuDNN's setting as they were, whatever is done.

    A run seeds torch's generators at every step, and lets cuDNN try algorithms on a GPU.
    """
    if device.type == "cuda":
        torch.cuda.init()  # type: ignore[no-untyped-call]
    in_use = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    devices = range(torch.cuda.device_count()) if in_use else ()
    benchmark = torch.backends.cudnn.benchmark
    with torch.random.fork_rng(list(devices)):
        try:
            yield
        finally:
            torch.backends.cudnn.benchmark = benchmark


@contextmanager
def repeatable(device: torch.device) -> Iterator[None]:
    """Sum in one order: on a processor whatever its threads do, on a GPU in cuDNN's kernels."""
    before = torch.are_deterministic_algorithms_enabled()
    warns = torch.is_deterministic_algorithms_warn_only_enabled()
    memory: Any = torch.utils.deterministic
    fills = memory.fill_uninitialized_memory  # which takes time, and changes nothing
    cudnn = torch.backends.cudnn.deterministic
    if device.type == "cpu":
        torch.use_deterministic_algorithms(True)
        memory.fill_uninitialized_memory = False
    else:
        torch.backends.cudnn.deterministic = True
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warns)
        memory.fill_uninitialized_memory = fills
        torch.backends.cudnn.deterministic = cudnn
