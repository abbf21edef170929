"""Locks that the system releases when a process ends."""

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from filelock import BaseFileLock


def take_lock(path: Path) -> "BaseFileLock | None":
    """Lock a file until `release()` or the end of the process; None where another has locked it.

    The file is made where it is not there, and stays. Its contents are nobody's: to lock it may
    empty it, and on Windows it cannot be read meanwhile.

    Raises:
        OSError: the file cannot be made or opened.

    """
    from filelock import Timeout

    lock = _file_lock(path, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        return None
    return lock


def held_lock(path: Path) -> "AbstractContextManager[object]":
    """Hold the lock of a file within a `with`; wait where another has locked it."""
    return _file_lock(path, blocking=True)


def _file_lock(path: Path, *, blocking: bool) -> "BaseFileLock":
    from filelock import FileLock

    if not path.parent.is_dir():  # filelock would make it
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return FileLock(path, blocking=blocking, thread_local=False)
