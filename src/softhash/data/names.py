"""File names as annotations spell them: relative, with `/` between the parts, never leading out."""

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

from softhash.errors import InputError

_SUFFIXES = "avif bmp gif heic heif hif jpeg jpg png tif tiff webp"
IMAGE_SUFFIXES = frozenset(f".{suffix}" for suffix in _SUFFIXES.split())


def several(names: Sequence[object], most: int = 5) -> str:
    """Join the first few names, and count the others.

    >>> several(range(9), most=3)
    '0, 1, 2 and 6 more'
    """
    shown = ", ".join(str(name) for name in names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def as_line(name: str) -> str:
    r"""Write a name as one line of a text file: as it is, or as a JSON string where it is odd.

    Odd is a name that a line could not hold: with line breaks or other control characters, with
    white space at its ends, or one that starts like a JSON string.

    >>> print(as_line("sea/a.jpg"), as_line("two\nlines.jpg"))
    sea/a.jpg "two\nlines.jpg"
    """
    plain = name.isprintable() and name == name.strip() and not name.startswith('"')
    return name if plain else json.dumps(name)


def from_line(line: str) -> str:
    r"""Read a name that `as_line` wrote; any other line is a name as it is.

    >>> from_line(r'"two\nlines.jpg"')
    'two\nlines.jpg'
    """
    if line.startswith('"'):
        with suppress(ValueError):
            return str(json.loads(line))
    return line


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
    if not is_text(name):
        return "is not text"
    return None


def is_text(name: str) -> bool:
    """Return whether a name can be written as UTF-8, without the character 0."""
    if "\0" in name:
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
