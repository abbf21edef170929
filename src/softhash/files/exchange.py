"""Two names that swap what they stand for in one step, where the system can."""

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path

_SWAPS: dict[str, Callable[[ctypes.CDLL, bytes, bytes], int]] = {
    # AT_FDCWD is -100, RENAME_EXCHANGE and RENAME_SWAP are 2
    "linux": lambda system, one, other: int(system.renameat2(-100, one, -100, other, 2)),
    "darwin": lambda system, one, other: int(system.renamex_np(one, other, 2)),
}


def exchange(one: Path, other: Path) -> bool:
    """Swap two names; return False, and change nothing, where that cannot be done in one step."""
    swap = _SWAPS.get(sys.platform)
    if swap is None:
        return False
    try:
        return swap(ctypes.CDLL(None), os.fsencode(one), os.fsencode(other)) == 0
    except (AttributeError, OSError):  # a library without the call
        return False
