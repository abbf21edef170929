"""Pictures of a tar archive, as webdataset lays them out, read in place and in order.

A member's name up to the first dot of its last part is the id of a sample; what follows is the
extension, and the member whose extension is that of a picture is the sample's picture. Nothing is
extracted, no link is followed, and names are only names. Python's `tarfile` parses headers; the
walk over them is ours, because `tarfile` reads extended headers of any size into memory and takes
a damaged header for the end.
"""

import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from softhash.data.names import IMAGE_SUFFIXES, clean_names, is_text
from softhash.data.shards.records import MAX_NAME, MAX_PICTURE_BYTES, Picture, Record, Unusable
from softhash.errors import InputError, ShardError

MAX_HEADER = 1 << 20  # bytes of an extended header

_BLOCK = tarfile.BLOCKSIZE
_EXTENDED = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_IGNORED = (tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK)
_REGULAR = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_EMPTY = (
    *(tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE),
    *(tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE),
)
_RECORD = re.compile(rb"(\d{1,9}) ([^=]+)=")


class Member(NamedTuple):
    """A member of an archive: its name and type, and where its content is."""

    name: str
    type: bytes
    start: int
    size: int


def read_tar(path: Path) -> Iterator[Record]:
    """Read the pictures of an archive.

    Raises:
        ShardError: it cannot be read, is damaged or incomplete.

    """
    try:
        with path.open("rb") as file:
            for member in _members(file, path):
                suffix = f".{member.name.rpartition('.')[2].lower()}"
                if suffix in IMAGE_SUFFIXES:
                    yield _record(file, member, path)
    except OSError as error:
        raise ShardError(f"{path} cannot be read: {error.strerror or error}") from error


def _record(file: BinaryIO, member: Member, path: Path) -> Record:
    shown = f"{path}: {ascii(member.name[:200])[1:-1]}"
    if not is_text(member.name) or len(member.name) > MAX_NAME:
        return Unusable(shown, f"{shown} has a name that cannot be used", "refused")
    try:
        (name,) = clean_names([member.name])
    except InputError as error:
        return Unusable(member.name, f"{path}: {error.detail}", "refused")
    folder, _, last = name.rpartition("/")
    key, _, extension = last.partition(".")
    if f".{extension.lower()}" not in IMAGE_SUFFIXES:
        reason = f"{shown} has the extension .{extension}, which is not a picture's"
        return Unusable(name, reason, "dotted")
    if member.type not in _REGULAR:
        return Unusable(name, f"{shown} is a link or a special file", "refused")
    if member.size > MAX_PICTURE_BYTES:
        limit = f"more than the limit of {MAX_PICTURE_BYTES:,}"
        return Unusable(name, f"{shown} has {member.size:,} bytes, {limit}", "refused")
    file.seek(member.start)
    content = file.read(member.size)
    if len(content) < member.size:
        raise _damaged(path, member.start, "ends in the middle of a member")
    return Picture(f"{folder}/{key}" if folder else key, name, content)


def _members(file: BinaryIO, path: Path) -> Iterator[Member]:
    """Walk over the headers; those that extend the next one are read, up to a size."""
    length = os.fstat(file.fileno()).st_size
    start = 0
    extended: dict[str, bytes] = {}
    while True:
        file.seek(start)
        info = _header(file.read(_BLOCK), path, start)
        if info is None:
            return
        start += _BLOCK
        if info.type in (*_EXTENDED, *_IGNORED, tarfile.GNUTYPE_LONGNAME):
            if not 0 <= info.size <= MAX_HEADER:
                raise _damaged(path, start, f"has a header of {info.size:,} bytes")
            content = file.read(info.size)
            if info.type in _EXTENDED:
                extended |= _extended(content, path, start)
            elif info.type == tarfile.GNUTYPE_LONGNAME:
                extended["path"] = content.partition(b"\0")[0]
            start += _padded(info.size)
            continue
        member = _member(info, extended, start)
        start += _padded(member.size)
        if member.size < 0 or member.start + member.size > length:
            raise _damaged(path, member.start, "ends in the middle of a member")
        yield member
        extended = {}


def _header(block: bytes, path: Path, start: int) -> tarfile.TarInfo | None:
    """Parse a header; None for the mark at the end."""
    if not block and start:
        raise ShardError(f"{path} ends without a mark of its end", "is it copied completely?")
    if len(block) == _BLOCK and not any(block):
        return None
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError, OverflowError):
        what = "is not a tar archive, or is compressed" if not start else "is damaged"
        raise _damaged(path, start, what) from None
    if info.type == tarfile.GNUTYPE_SPARSE:
        raise _damaged(path, start, "has sparse members")
    return info


def _member(info: tarfile.TarInfo, extended: dict[str, bytes], start: int) -> Member:
    """Put a header and what extends it together."""
    name = extended["path"].decode("utf-8", "surrogateescape") if "path" in extended else info.name
    size = 0 if info.type in _EMPTY else int(extended.get("size", info.size))
    kind = b"sparse" if any(key.startswith("GNU.sparse") for key in extended) else info.type
    return Member(name, kind, start, size)


def _extended(content: bytes, path: Path, start: int) -> dict[str, bytes]:
    """Parse the records of an extended header."""
    found, place = {}, 0
    while place < len(content) and content[place]:
        record = _RECORD.match(content, place)
        end = place + int(record[1]) if record else 0
        if record is None or not record.end() < end <= len(content):
            raise _damaged(path, start + place, "has a damaged header")
        found[record[2].decode("utf-8", "replace")] = content[record.end() : end - 1]
        place = end
    if not found.get("size", b"0").isdigit() or len(found.get("size", b"")) > 18:
        raise _damaged(path, start, "has a damaged header")
    return found


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _damaged(path: Path, place: int, what: str) -> ShardError:
    return ShardError(f"{path} {what}, at byte {place:,}", "copy it again, or leave it out")
