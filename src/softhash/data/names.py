"""File names as annotations spell them: relative, with `/` between the parts, never leading out."""

import re
from collections.abc import Iterable, Sequence

from softhash.errors import InputError

IMAGE_SUFFIXES = frozenset((".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"))


def several(names: Sequence[object], most: int = 5) -> str:
    """Join the first few names, and count the others.

    >>> several(range(9), most=3)
    '0, 1, 2 and 6 more'
    """
    shown = ", ".join(str(name) for name in names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


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
        return "is not text"
    return None


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
