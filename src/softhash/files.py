"""Files that appear whole or not at all, and where what can be made again is kept."""

import errno
import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from softhash.errors import AlreadyExistsError, InputError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from filelock import BaseFileLock

WRITING = os.O_RDWR | getattr(os, "O_BINARY", 0)  # flags of os.open; Windows else changes newlines


def check_free(path: Path, *, force: bool = False) -> None:
    """Raise unless a file may be written there; to be asked before work that takes long."""
    if path.is_dir():
        raise InputError(f"{path} is a folder", "give the name of a file")
    if path.exists() and not force:
        raise AlreadyExistsError(f"{path} exists", "to overwrite it, pass force=True")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist")


def write_whole(path: Path, content: str | bytes, *, force: bool = False) -> None:
    """Write a file through a neighbour that takes its name when it is complete and on disk."""
    check_free(path, force=force)
    try:
        data = content.encode() if isinstance(content, str) else content
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except (OSError, UnicodeEncodeError) as error:  # a file's name may hold what no encoding has
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot write {path}: {reason}") from error


def hash_file(path: Path) -> str | None:
    """Return the SHA-256 of a file's content in hexadecimal, None where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on disk; Windows does so by itself."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def rename_folder(folder: Path, target: Path) -> None:
    """Rename a folder; an empty folder that has the new name already makes way."""
    if sys.platform == "win32" and target.exists():
        target.rmdir()
    folder.rename(target)


def write_at(handle: int, data: bytes, offset: int) -> None:
    """Write all of some bytes at an offset of a file that was opened with `WRITING`."""
    left = memoryview(data)
    while left:
        if sys.platform == "win32":
            os.lseek(handle, offset, os.SEEK_SET)
            written = os.write(handle, left)
        else:
            written = os.pwrite(handle, left, offset)
        left, offset = left[written:], offset + written


def sync_data(handle: int) -> None:
    """Return when the contents of an open file are on disk."""
    getattr(os, "fdatasync", os.fsync)(handle)


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


def cache_folder() -> Path:
    """Return the user's folder for what can be made again: $XDG_CACHE_HOME, or the system's own."""
    if root := os.environ.get("XDG_CACHE_HOME"):
        return Path(root) / "softhash"
    from platformdirs import user_cache_path

    return user_cache_path("softhash", appauthor=False)
