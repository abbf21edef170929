"""The user's folders: for what can be made again, and for what is kept."""

import os
import stat
import sys
from pathlib import Path

from softhash.errors import InputError


def cache_folder() -> Path:
    """Return the user's folder for what can be made again: $XDG_CACHE_HOME, or the system's own."""
    if root := os.environ.get("XDG_CACHE_HOME"):
        return Path(root) / "softhash"
    from platformdirs import user_cache_path

    return user_cache_path("softhash", appauthor=False)


def data_folder() -> Path:
    """Return the user's folder for what is kept: $XDG_DATA_HOME, or the system's own."""
    if root := os.environ.get("XDG_DATA_HOME"):
        return Path(root) / "softhash"
    from platformdirs import user_data_path

    return user_data_path("softhash", appauthor=False)


def make_private(folder: Path) -> bool:
    """Make a folder that this user alone can write to, or make one so that is there.

    Returns:
        Whether it was so: others may have put things into a folder that was not.

    Raises:
        InputError: it is another user's, who could put anything into it.
        OSError: it cannot be made.

    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform == "win32":
        return True
    user, found = os.geteuid(), folder.stat()
    open_to_others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    owners = {found.st_uid, folder.lstat().st_uid}  # also of a link to it
    if not owners <= {user, 0} or (open_to_others and found.st_uid != user):
        raise InputError(
            f"the cache folder {folder} can be written to by other users",
            "set XDG_CACHE_HOME to a folder of your own",
        )
    if open_to_others:
        folder.chmod(stat.S_IMODE(found.st_mode) & ~open_to_others)
    return not open_to_others
