"""How a picture's file is laid out, before a library opens it.

A decoder walks through a file piece by piece: JPEG segments and scans, PNG chunks, GIF blocks, TIFF
strips. Some walks are in Python, and each scan of a JPEG goes over all its pixels, so that a small
file can take minutes. Here the pieces are counted in a few microseconds, and too many are refused.
"""

import os
import re
import struct
from typing import BinaryIO

import numpy as np

MAX_FILE_BYTES = 1 << 30
MAX_PIECES = 1 << 16  # the slowest walk, strips of a TIFF, then takes two seconds
MAX_VALUES = 1 << 16  # of one TIFF tag that holds numbers
MAX_SCANNED = 1_000_000_000  # pixels times scans; two seconds of the slowest kind
ALWAYS_SCANS = 20  # what encoders write by themselves: 10 for colours, 18 for CMYK
MIN_SCANNED = 1 << 16  # the fixed cost of a scan, as pixels

_BLOCK = 1 << 20
_MARKER = re.compile(rb"\xff([^\x00\x01\xff\xd0-\xd7])")
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9
_WITHOUT_LENGTH = frozenset((0x01, 0xC8, *range(0xD0, 0xDA), *range(0xF0, 0xFE)))
_TEXT_TYPES = (1, 2, 7)  # of TIFF tags: bytes, which stay one object


class RefusedError(ValueError):
    """A file that would take too much; the text goes on after its name."""


def check_layout(stream: BinaryIO) -> int:
    """Raise a RefusedError where the file is too large or in too many pieces.

    Returns:
        Where the first scan of a JPEG starts; 0 for any other file.

    """
    scan = 0
    size = stream.seek(0, os.SEEK_END)
    if size > MAX_FILE_BYTES:
        raise RefusedError(f"has {size:,} bytes, more than the limit of {MAX_FILE_BYTES:,}")
    start = _read(stream, 0, 16)
    if start.startswith(b"\xff\xd8"):
        scan = _first_scan(stream)
    elif start.startswith(b"\x89PNG"):
        _check_chunks(stream)
    elif start.startswith(b"GIF8"):
        _check_blocks(stream)
    elif start[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        _check_tags(stream, start)
    stream.seek(0)
    return scan


def webp_size(stream: BinaryIO) -> tuple[int, int] | None:
    """Return (width, height) of a WebP, whose decoder takes its memory when it is opened."""
    start = _read(stream, 0, 30).ljust(30, b"\0")
    stream.seek(0)
    if start[:4] != b"RIFF" or start[8:12] != b"WEBP":
        return None
    if start[12:16] == b"VP8X":
        return 1 + int.from_bytes(start[24:27], "little"), 1 + int.from_bytes(start[27:], "little")
    if start[12:16] == b"VP8L":
        bits = int.from_bytes(start[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", start, 26)
    return width & 0x3FFF, height & 0x3FFF


def is_progressive(stream: BinaryIO) -> bool:
    """Return whether JPEGs within a TIFF may be progressive: their frames start with these."""
    return any(_occurrences(stream, 0, mark) for mark in (b"\xff\xc2", b"\xff\xca"))


def count_scans(stream: BinaryIO, first: int, pixels: int) -> int:
    """Count the scans of a JPEG; raise a RefusedError where they are too many for its pixels.

    In the data of a scan 0xFF is always followed by a zero or a restart. All starts of scans
    behind the first are thus found by their two bytes, at the speed of memory. Those bytes can
    also be in segments between scans, or in a second picture: where there are too many, the
    segments are walked through.

    Args:
        stream: the file.
        first: where its first scan starts.
        pixels: of the picture.

    """
    allowed = max(ALWAYS_SCANS, MAX_SCANNED // max(pixels, MIN_SCANNED))
    scans = _occurrences(stream, first, b"\xff\xda")
    if scans > allowed:
        scans = _walk_scans(_read(stream, first), allowed)
    stream.seek(0)
    if scans > allowed:
        raise RefusedError(f"has more than {allowed:,} scans of {pixels:,} pixels each")
    return max(scans, 1)


def _first_scan(stream: BinaryIO) -> int:
    """Find where the first scan of a JPEG starts."""
    at = 2
    for _ in range(MAX_PIECES):
        head = _read(stream, at, 4)
        if len(head) < 4 or head[:2] == b"\xff\xda":
            return at
        if head[0] != 0xFF or head[1] in (0, 0xFF):  # between segments
            at += 1
        else:
            bare = head[1] in _WITHOUT_LENGTH
            at += 2 if bare else 2 + int.from_bytes(head[2:], "big")
    raise _in_pieces("segments")


def _walk_scans(data: bytes, allowed: int) -> int:
    """Count the scans from the first on, until there are more than allowed."""
    at = scans = pieces = 0
    while scans <= allowed and (found := _MARKER.search(data, at)):
        marker, end = data[found.end() - 1], found.end()
        if marker == _END_OF_IMAGE:
            break
        scans, pieces = scans + (marker == _START_OF_SCAN), pieces + 1
        if pieces - scans > MAX_PIECES:
            raise _in_pieces("segments")
        at = end + int.from_bytes(data[end : end + 2], "big")
    return scans


def _check_chunks(stream: BinaryIO) -> None:
    """Walk through the chunks of a PNG."""
    at = 8
    for _ in range(2 * MAX_PIECES):
        head = _read(stream, at, 8)
        if len(head) < 8 or head[4:] == b"IEND":
            return
        at += 12 + int.from_bytes(head[:4], "big")
    raise _in_pieces("chunks")


def _check_blocks(stream: BinaryIO) -> None:
    """Walk through the blocks of a GIF up to its first frame."""
    flags = _read(stream, 10, 1).ljust(1, b"\0")[0]
    at = 13 + (3 << 1 + (flags & 7) if flags & 0x80 else 0)
    inside = False
    for _ in range(2 * MAX_PIECES):
        byte = _read(stream, at, 1)
        if not byte or (not inside and byte in b",;"):
            return
        if inside:
            inside, at = byte != b"\0", at + 1 + byte[0]
        else:
            inside, at = byte == b"!", at + (2 if byte == b"!" else 1)
    raise _in_pieces("blocks")


def _check_tags(stream: BinaryIO, start: bytes) -> None:
    """Look through the first directory of a TIFF: how many tags, and how many numbers in each."""
    order = "<" if start[:1] == b"I" else ">"
    big = 43 in (start[2], start[3])
    number, entry = (order + "Q", order + "HHQ8x") if big else (order + "H", order + "HHL4x")
    (at,) = struct.unpack_from(order + ("Q" if big else "L"), start, 8 if big else 4)
    head = _read(stream, at, struct.calcsize(number))
    if len(head) < struct.calcsize(number):
        return
    (count,) = struct.unpack(number, head)
    if count > MAX_PIECES:
        raise _in_pieces("tags")
    data = stream.read(count * struct.calcsize(entry))
    whole = len(data) - len(data) % struct.calcsize(entry)
    for tag, kind, values in struct.iter_unpack(entry, data[:whole]):
        if values > MAX_VALUES and kind not in _TEXT_TYPES:
            raise RefusedError(
                f"has {values:,} values in tag {tag}, more than the limit of {MAX_VALUES:,}"
            )


def _in_pieces(what: str) -> RefusedError:
    return RefusedError(f"is in too many pieces to be a picture: {MAX_PIECES:,} {what} and more")


def _read(stream: BinaryIO, at: int, size: int = -1) -> bytes:
    try:
        stream.seek(at)
    except (OverflowError, ValueError, OSError):  # an offset that no file has
        return b""
    return stream.read(size)


def _occurrences(stream: BinaryIO, at: int, mark: bytes) -> int:
    """Count two different bytes from a place on, a block at a time, without Python's lock."""
    stream.seek(at)
    count, last = 0, b""
    while block := stream.read(_BLOCK):
        data = np.frombuffer(last + block, np.uint8)
        count += int(np.count_nonzero((data[:-1] == mark[0]) & (data[1:] == mark[1])))
        last = block[-1:]
    return count
