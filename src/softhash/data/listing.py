"""Which files are in a folder; links are never followed out of it."""

import os
from pathlib import Path

from softhash.errors import InputError


def list_folder(folder: Path) -> list[str]:
    """List the names in a folder that are not hidden, sorted."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if not entry.name.startswith("."))
    except OSError as error:
        raise InputError(f"{folder} cannot be listed: {error.strerror}") from error


class Listing:
    """The regular files under a folder; a subfolder is listed once, when a name in it is asked for.

    >>> "no/such/file.jpg" in Listing(Path("."))
    False
    """

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._folders: dict[str, dict[str, bool]] = {}

    def __contains__(self, name: object) -> bool:
        folder, _, base = str(name).rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = self._list(folder)
        is_link = self._folders[folder].get(base)
        return is_link is not None and (not is_link or self._leads_to_a_file(str(name)))

    def _list(self, folder: str) -> dict[str, bool]:
        path = self._root / folder
        try:
            self._check_inside(path)
            with os.scandir(path) as entries:
                return {
                    entry.name: entry.is_symlink()
                    for entry in entries
                    if entry.is_symlink() or entry.is_file()
                }
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise InputError(f"{path} cannot be listed: {error.strerror}") from error

    def _leads_to_a_file(self, name: str) -> bool:
        path = self._root / name
        self._check_inside(path)
        return path.is_file()

    def _check_inside(self, path: Path) -> None:
        # Path.resolve fails at links in a circle; these are files that are not there.
        if not Path(os.path.realpath(path)).is_relative_to(self._root):
            raise InputError(
                f"{path} is a link out of {self._root}", "move or copy the files there"
            )
