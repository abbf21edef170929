"""Bytes on disk: written for good, at an offset, hashed."""

import errno
import hashlib
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

WRITING = os.O_RDWR | getattr(os, "O_BINARY", 0)  # flags of os.open; Windows else changes newlines


def write_synced(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file that is not there yet, and return when its contents are on disk."""
    with path.open("xb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())


def remove_synced(path: Path) -> None:
    """Remove a file, where it is there, for good: a crash does not bring it back."""
    path.unlink(missing_ok=True)
    with suppress(OSError):  # it is gone, if perhaps not after a crash
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on disk; Windows does so by itself."""
    if sys.platform == "win32":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # a folder that may be written to and not be read
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system without such a call
            raise
    finally:
        os.close(handle)


def sync_data(handle: int) -> None:
    """Return when the contents of an open file are on disk."""
    getattr(os, "fdatasync", os.fsync)(handle)


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


def modified_ns(status: os.stat_result) -> int:
    """Return the time of the last change in nanoseconds, as a number of 64 bits.

    It wraps around where these end, in 1677 and 2262: it tells two times apart, as it is meant to.
    """
    return (status.st_mtime_ns + 2**63) % 2**64 - 2**63


def hash_file(path: Path) -> str | None:
    """Return the SHA-256 of a file's content in hexadecimal, None where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
