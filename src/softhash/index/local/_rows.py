"""An item as a row of items.sqlite, and back."""

import json
from contextlib import suppress
from functools import lru_cache
from zlib import crc32

from softhash.index.items import Entry, Item

Text = str | bytes
Row = tuple[int, Text, str, int, int, Text, int, bytes, int]  # as `Columns` of `_database` has them

DIGITS = 64  # of a SHA-256 in hexadecimal
MAX_SETS = 1 << 13  # of labels that are remembered; a client may send sets of 10 kB


def encode_text(text: str) -> Text:
    r"""Return what SQLite can keep: text, or bytes where UTF-8 cannot represent it.

    >>> encode_text("Zürich.jpg"), encode_text("Z\udcfcrich.jpg")
    ('Zürich.jpg', b'Z\xed\xb3\xbcrich.jpg')
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def decode_text(kept: Text) -> str:
    """Undo `encode_text`."""
    return kept if isinstance(kept, str) else kept.decode("utf-8", "surrogatepass")


def encode_content(sha256: str) -> Text:
    """Return half as many bytes as there are digits, or text where it is not 64 digits.

    >>> len(encode_content("5e" * 32)), encode_content("")
    (32, '')
    """
    if len(sha256) == DIGITS:
        with suppress(ValueError):
            kept = bytes.fromhex(sha256)
            if kept.hex() == sha256:
                return kept
    return sha256


def decode_content(kept: Text) -> str:
    """Undo `encode_content`; older rows have text."""
    return kept if isinstance(kept, str) else kept.hex()


@lru_cache(maxsize=MAX_SETS)
def encode_labels(labels: tuple[str, ...]) -> str:
    """Encode labels as a JSON list."""
    return json.dumps(labels)


@lru_cache(maxsize=MAX_SETS)
def decode_labels(kept: str) -> tuple[str, ...]:
    """Undo `encode_labels`."""
    return tuple(json.loads(kept))


def encode_row(id: int, entry: Entry, code: bytes) -> tuple[object, ...]:
    """Return an item's values in the order of `Row`, a checksum last.

    Args:
        id: of the item.
        entry: what is kept of it.
        code: in packed bytes.

    """
    name, labels, size, modified, sha256, uploaded = entry
    kept = encode_labels(labels)
    checksum = _checksum(id, name, kept, size, modified, sha256, uploaded, code)
    text = name if name.isascii() else encode_text(name)
    content = encode_content(sha256)
    return id, text, kept, size, modified, content, int(uploaded), code, checksum


def decode_entry(row: Row) -> Entry:
    """Read the entry from the columns of `items`."""
    content = decode_content(row[5])
    labels = decode_labels(row[2])
    return Entry(decode_text(row[1]), labels, row[3], row[4], content, uploaded=bool(row[6]))


def decode_item(row: Row) -> Item:
    """Read an item from the columns of `items`."""
    return Item(row[0], decode_entry(row), row[7])


def is_sound(row: Row) -> bool:
    """Return whether a row matches its checksum."""
    id, name, labels, size, modified, sha256, uploaded, code, checksum = row
    try:
        text = name if type(name) is str else decode_text(name)
        content = sha256 if type(sha256) is str else decode_content(sha256)
        found = _checksum(id, text, labels, size, modified, content, uploaded, code)
    except (AttributeError, TypeError, ValueError):  # not even the types are right
        return False
    return found == checksum


def _checksum(
    id: int,
    name: str,
    labels: str,
    size: int,
    modified: int,
    sha256: str,
    uploaded: int,
    code: bytes,
) -> int:
    text = f"{id}\0{name}\0{labels}\0{size}\0{modified}\0{sha256}\0"
    if uploaded:  # rows of format version 1 have no such column, and stay as they are
        text += f"{int(uploaded)}\0"
    return crc32(code, crc32(text.encode("utf-8", "surrogatepass")))
