"""The few EXIF tags that are used, out of bytes that anybody may have written.

Pillow reads every tag, and many tags may share one large value. Here each wanted tag is read once,
up to a few bytes, and whatever does not fit is passed over.
"""

import struct
from typing import BinaryIO

MAX_TAGS = 1_000  # of one directory; cameras write fewer than a hundred
MAX_VALUE_BYTES = 256

MAKE, MODEL, CHANGED = 0x010F, 0x0110, 0x0132
TAKEN, DIGITISED = 0x9003, 0x9004
LATITUDE_REF, LATITUDE, LONGITUDE_REF, LONGITUDE = 1, 2, 3, 4
_DETAILS, _PLACE = 0x8769, 0x8825  # where the other two directories start
_DIRECTORIES = (
    (_DETAILS, (TAKEN, DIGITISED)),
    (_PLACE, (LATITUDE_REF, LATITUDE, LONGITUDE_REF, LONGITUDE)),
)
_TEXT, _SHORT, _LONG, _RATIONAL = 2, 3, 4, 5
_SIZES = {_TEXT: 1, _SHORT: 2, _LONG: 4, _RATIONAL: 8}

Value = str | tuple[float, ...]


def read_exif(stream: BinaryIO) -> dict[int, Value]:
    """Return the wanted tags that a TIFF, or a block of EXIF data, has in the form they should."""
    start = _read(stream, 0, 8)
    order = {b"II": "<", b"MM": ">"}.get(start[:2])
    if order is None or len(start) < 8:
        return {}
    (at,) = struct.unpack(order + "L", start[4:])
    wanted = (MAKE, MODEL, CHANGED, *(pointer for pointer, _ in _DIRECTORIES))
    found = _directory(stream, at, order, wanted)
    for pointer, tags in _DIRECTORIES:
        place = found.pop(pointer, None)
        if isinstance(place, tuple):
            found |= _directory(stream, int(place[0]), order, tags)
    return found


def _directory(stream: BinaryIO, at: int, order: str, wanted: tuple[int, ...]) -> dict[int, Value]:
    head = _read(stream, at, 2)
    if len(head) < 2:
        return {}
    count = min(struct.unpack(order + "H", head)[0], MAX_TAGS)
    data = _read(stream, at + 2, 12 * count)
    found = {}
    for tag, kind, values, inside in struct.iter_unpack(
        order + "HHL4s", data[: len(data) // 12 * 12]
    ):
        size = _SIZES.get(kind, 0) * values
        if tag in wanted and tag not in found and 0 < size <= MAX_VALUE_BYTES:
            (place,) = struct.unpack(order + "L", inside)
            value = inside[:size] if size <= 4 else _read(stream, place, size)
            if len(value) == size:
                found[tag] = _decode(value, kind, values, order)
    return found


def _decode(value: bytes, kind: int, values: int, order: str) -> Value:
    if kind == _TEXT:
        return value.partition(b"\0")[0].decode("utf-8", "replace")
    if kind == _RATIONAL:
        parts = struct.unpack(f"{order}{2 * values}L", value)
        pairs = zip(parts[::2], parts[1::2], strict=True)
        return tuple(above / below if below else 0.0 for above, below in pairs)
    return struct.unpack(f"{order}{values}{'H' if kind == _SHORT else 'L'}", value)


def _read(stream: BinaryIO, at: int, size: int) -> bytes:
    stream.seek(at)
    return stream.read(size)
