"""cameras.json: the names of cameras, which records refer to by their places; it only grows."""

import json
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

from softhash.files import write_parts

CAMERAS = "cameras.json"
MAX_CAMERAS = 4096  # those that come later are unknown
MAX_BYTES = 1 << 22
NO_CAMERA = 65_535


def read_cameras(folder: Path) -> tuple[str, ...]:
    """Return the names; none where the file is not there, or damaged."""
    try:
        with (folder / CAMERAS).open("rb") as file:
            names = json.loads(file.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return ()
    sound = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return tuple(names) if sound and len(names) <= MAX_CAMERAS else ()


def add_cameras(folder: Path, names: Iterable[str]) -> dict[str, int]:
    """Return the places of all names, after adding those that are new; "" has none."""
    known = dict.fromkeys(read_cameras(folder))
    before = len(known)
    for name in names:
        if name and len(known) < MAX_CAMERAS:
            known.setdefault(name)
    if len(known) > before:  # whole or not at all, before a record refers to it
        write_parts(folder / CAMERAS, [json.dumps(list(known)).encode()])
    return {name: place for place, name in enumerate(known)}


def name_sum(name: str) -> int:
    """Return a checksum of two bytes."""
    return crc32(name.encode("utf-8", "surrogatepass")) & 0xFFFF
