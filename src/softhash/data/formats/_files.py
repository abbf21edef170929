"""Files that somebody else wrote: read with care, and never followed out of their folder."""

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from softhash.errors import InputError

IMAGE_SUFFIXES = frozenset((".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"))


def several(names: Sequence[object], most: int = 5) -> str:
    """Name the first few.

    >>> several(range(9), most=3)
    '0, 1, 2 and 6 more'
    """
    shown = ", ".join(str(name) for name in names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def read_bytes(path: Path) -> bytes:
    """Read a whole file; that it cannot be read is an InputError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def read_text(path: Path) -> str:
    """Read UTF-8, with or without a byte order mark."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"{path} line {line} is not UTF-8", "save the file as UTF-8") from None


def read_lines(path: Path) -> list[tuple[int, str]]:
    """Read the lines that are not blank, each with its number."""
    lines = (line.strip() for line in read_text(path).split("\n"))
    return [(number, line) for number, line in enumerate(lines, start=1) if line]


def read_json(path: Path) -> object:
    """Read one JSON value."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str, where: str) -> object:
    """Parse one JSON value; an error says where it stands."""
    try:
        value: object = json.loads(text)
        return value
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise InputError(f"{where} is not JSON: {error.msg} at {place}") from None
    except (ValueError, RecursionError) as error:  # endless numbers, endless nesting
        raise InputError(f"{where} is not JSON that can be read: {error}") from None


def starts_with(path: Path, mark: bytes) -> bool:
    """Tell whether the first character of a file, white space aside, is this one."""
    with path.open("rb") as file:
        return file.read(200).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == mark


def list_folder(folder: Path) -> list[str]:
    """List the names in a folder that are not hidden, sorted."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if not entry.name.startswith("."))
    except OSError as error:
        raise InputError(f"{folder} cannot be listed: {error.strerror}") from error


def clean_names(names: Iterable[str]) -> list[str]:
    """Bring relative file names into one spelling, `a/b.jpg`; refuse any that could lead elsewhere.

    >>> clean_names(["./a//b.jpg"])
    ['a/b.jpg']
    """
    cleaned, refused = [], []
    for name in names:
        parts = [part for part in name.split("/") if part not in ("", ".")]
        reason = _reason_against(name, parts)
        if reason:
            refused.append(f"{name[:80]!r} ({reason})")
        cleaned.append("/".join(parts))
    if refused:
        raise InputError(
            f"{len(refused):,} file names cannot be used: {several(refused)}",
            "they must be relative to the folder, with / between the parts",
        )
    return cleaned


def _reason_against(name: str, parts: list[str]) -> str | None:
    if not parts:
        return "names no file"
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return "is absolute"
    if ".." in parts:
        return "leads out of the folder"
    if "\\" in name:
        return "has a backslash"
    if "\0" in name or not _is_utf8(name):
        return "is no text"
    return None


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


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
