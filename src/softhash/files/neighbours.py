"""What is written under another name first: in a hidden folder beside the name it will take.

::

    .NAME.softhash-0123456789abcdef/
        lock    locked while the process that made the folder uses it
        new     the file or folder that is being written
        old     what had the name before, while one takes the other's place

A process that is killed leaves such a folder, and nothing has its lock. The next one that writes
beside it removes it, and brings `old` back where nothing has the name.
"""

import errno
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from softhash.files.contents import sync_folder
from softhash.files.exchange import exchange
from softhash.files.locks import take_lock

if TYPE_CHECKING:
    from filelock import BaseFileLock

NAME = re.compile(r"\.(?P<of>.+)\.softhash-[0-9a-f]{16}", re.DOTALL)
LOCK, NEW, OLD = "lock", "new", "old"
# of disks that have no locks; a NotImplementedError has no number
NO_LOCKS = (None, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)


@contextmanager
def neighbour(path: Path) -> Iterator[Path]:
    """Lend a free name for a file or folder that is to be renamed to `path` when it is complete.

    What is left of it at the end is removed. Permissions are up to who writes it: to `open` and
    `mkdir`, and so to the umask.

    Raises:
        OSError: the folder of `path` cannot be written to.

    """
    _sweep_once(path.parent.absolute())
    folder, lock = _make_folder(path)
    try:
        yield folder / NEW
    finally:
        if lock is not None:
            lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def _make_folder(path: Path) -> "tuple[Path, BaseFileLock | None]":
    """Make the folder and lock it; another one, where a sweep came between the two."""
    while True:
        folder = path.with_name(f".{path.name}.softhash-{token_hex(8)}")
        folder.mkdir()
        try:
            lock = take_lock(folder / LOCK)
        except (FileNotFoundError, FileExistsError):  # it went while it was looked for
            continue
        except (OSError, NotImplementedError) as error:
            if getattr(error, "errno", None) in NO_LOCKS:
                return folder, None  # nor is anything swept then
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if lock is not None:
            return folder, lock


def rename_folder(folder: Path, target: Path) -> None:
    """Rename a folder for good; an empty folder that has the new name already makes way."""
    if sys.platform == "win32" and target.exists():
        target.rmdir()
    folder.rename(target)
    sync_folder(target.parent)


def replace_folder(new: Path, folder: Path) -> None:
    """Let a folder from `neighbour` take a name, whether or not another folder has it.

    Where the system can swap two names at once, something has the name all the time. Elsewhere the
    old one steps aside: it comes back if the second renaming fails, and `sweep` brings it back if
    the process is killed before it.
    """
    if exchange(new, folder):
        sync_folder(folder.parent)
        return
    old = new.with_name(OLD)
    try:
        with suppress(FileNotFoundError):
            folder.rename(old)
        rename_folder(new, folder)
    except BaseException:  # an interrupt too must not leave the place empty
        with suppress(OSError):
            if not folder.exists():
                old.rename(folder)
        raise


def sweep(folder: Path) -> None:
    """Remove what processes of this user that were killed left in a folder, as far as it can be."""
    with suppress(OSError):
        with os.scandir(folder) as entries:
            left = [Path(entry) for entry in entries if NAME.fullmatch(entry.name) and _own(entry)]
        for path in left:
            _remove_unused(path)


_sweep_once = cache(sweep)  # in a process: a folder of pictures may be long


def _own(entry: "os.DirEntry[str]") -> bool:
    """Return whether it is a folder of this user: in a shared one, others may set traps."""
    user = getattr(os, "geteuid", lambda: 0)()
    return entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == user


def _remove_unused(path: Path) -> None:
    with suppress(OSError, NotImplementedError):
        lock = take_lock(path / LOCK)
        if lock is None:
            return
        try:
            _bring_back(path)
            shutil.rmtree(path, ignore_errors=True)
        finally:
            lock.release()
        if sys.platform == "win32":  # an open file cannot be removed there
            (path / LOCK).unlink()
        path.rmdir()  # where it is still there: network disks keep open files for a while


def _bring_back(path: Path) -> None:
    found = NAME.fullmatch(path.name)
    target = path.with_name(found["of"]) if found else path
    if (path / OLD).exists() and not target.exists():
        (path / OLD).rename(target)
        sync_folder(target.parent)
