"""Text, lines and JSON out of files that somebody else wrote; what is wrong is an InputError."""

import codecs
import json
import os
from pathlib import Path

from softhash.errors import InputError

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

MAX_BYTES = 1 << 31  # of a file of annotations; the largest of COCO has 448 MB


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """Read a whole file; raise an InputError where it cannot be read, or has too many bytes."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1) if os.fstat(file.fileno()).st_size > most else file.read()
    except (OSError, MemoryError) as error:
        raise InputError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or 'not enough memory'}"
        ) from error
    if len(data) > most:
        raise InputError(f"{path} has more than {most:,} bytes", "is it the right file?")
    return data


def read_text(path: Path) -> str:
    """Read UTF-8, with or without a byte order mark, or UTF-16 with one, as Excel writes it."""
    data = read_bytes(path)
    try:
        return data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8-sig")
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
    """Parse one JSON value; errors name `where` and the place in the text."""
    try:
        value: object = json.loads(text)
        return value
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise InputError(f"{where} is not JSON: {error.msg} at {place}") from None
    except (ValueError, RecursionError) as error:  # endless numbers, endless nesting
        raise InputError(f"{where} is not JSON that can be read: {error}") from None


def starts_with(path: Path, mark: bytes) -> bool:
    """Return whether the first character of a file, white space aside, is this one."""
    with path.open("rb") as file:
        return file.read(200).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == mark
