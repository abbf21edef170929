"""The layout of a collection: its fields, its description, and items as rows."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from softhash.codes import Codes, row_bytes
from softhash.errors import IndexDamagedError, InputError
from softhash.index.items import Entry, Item
from softhash.index.milvus._address import Address
from softhash.index.milvus._server import pymilvus
from softhash.index.store import Meta

FORMAT, FORMAT_VERSION = "softhash index", 2
ROOT, CHANGED = "softhash.root", "softhash.changed"  # properties: what may change later
UPLOADED = "uploaded"  # collections of format version 1 have no such field
ENTRY_FIELDS = ["id", "file_name", "labels", "size", "modified", "sha256", UPLOADED]
ITEM_FIELDS = [*ENTRY_FIELDS, "code"]
MAX_TEXT_BYTES, MAX_LABELS = 65_535, 4_096  # limits of Milvus
KINDS = {
    "id": "INT64",
    "code": "BINARY_VECTOR",
    "file_name": "VARCHAR",
    "labels": "ARRAY",
    "size": "INT64",
    "modified": "INT64",
    "sha256": "VARCHAR",
    UPLOADED: "BOOL",
}


def schema(meta: Meta) -> Any:
    """Build the schema: fields, and a description with format, version, bits and model."""
    library = pymilvus()
    described = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "bits": meta.bits,
        "model": meta.model,
    }
    made = library.MilvusClient.create_schema(
        auto_id=False, enable_dynamic_field=False, description=json.dumps(described)
    )
    limits: dict[str, dict[str, Any]] = {
        "id": {"is_primary": True},
        "code": {"dim": 8 * row_bytes(meta.bits)},
        "file_name": {"max_length": MAX_TEXT_BYTES},
        "labels": {
            "element_type": library.DataType.VARCHAR,
            "max_capacity": MAX_LABELS,
            "max_length": MAX_TEXT_BYTES,
        },
        "sha256": {"max_length": MAX_TEXT_BYTES},
    }
    for name, kind in KINDS.items():
        made.add_field(name, library.DataType[kind], **limits.get(name, {}))
    return made


def read_meta(address: Address, description: Mapping[str, Any]) -> Meta:
    """Read bits, model and root; raise InputError for a collection that softhash did not make."""
    try:
        found = json.loads(description["description"])
        if found["format"] != FORMAT:
            raise ValueError
        version, bits, model = int(found["version"]), int(found["bits"]), str(found["model"])
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"{address} was not made by softhash", "give the name of another collection"
        ) from None
    if version > FORMAT_VERSION:
        raise InputError(
            f"{address} was made by a newer softhash (format {version}, known: {FORMAT_VERSION})",
            "update softhash",
        )
    wrong = wrong_fields(description, bits)
    if wrong:
        raise IndexDamagedError(f"{address}: {wrong[0]}", "make the index again")
    return Meta(bits, model, _property(description, ROOT, ""))


def read_changed(description: Mapping[str, Any]) -> int:
    """Read when the contents were last changed, in microseconds since 1970."""
    return int(_property(description, CHANGED, "0"))


def has_uploaded(description: Mapping[str, Any]) -> bool:
    """Return whether there is a field for `Entry.uploaded`."""
    return any(field["name"] == UPLOADED for field in description["fields"])


def wrong_fields(description: Mapping[str, Any], bits: int) -> list[str]:
    """Name each field that is not as `schema` makes it; `uploaded` may be missing."""
    found = {field["name"]: field for field in description["fields"]}
    kinds = (
        KINDS if UPLOADED in found else {name: KINDS[name] for name in KINDS if name != UPLOADED}
    )
    wrong = [
        f"the field {name} is missing or not of type {kind}"
        for name, kind in kinds.items()
        if name not in found or getattr(found[name]["type"], "name", "") != kind
    ]
    if not wrong and int(found["code"]["params"]["dim"]) != 8 * row_bytes(bits):
        wrong.append(
            f"its vectors have {found['code']['params']['dim']} bits, but codes of {bits} bits "
            f"take {8 * row_bytes(bits)}"
        )
    return wrong


def check_entries(entries: Sequence[Entry]) -> None:
    """Raise InputError where Milvus cannot keep one of these."""
    for entry in entries:
        for text in (entry.file_name, entry.sha256, *entry.labels):
            if not is_unicode(text):
                raise InputError(f"{text!a} is not Unicode", "rename the file")
            if len(text.encode()) > MAX_TEXT_BYTES:
                raise InputError(
                    f"'{text[:40]}…' takes {len(text.encode()):,} bytes",
                    f"Milvus keeps up to {MAX_TEXT_BYTES:,}",
                )
        if len(entry.labels) > MAX_LABELS:
            raise InputError(
                f"{entry.file_name} has {len(entry.labels):,} labels",
                f"Milvus keeps up to {MAX_LABELS:,} per item",
            )


def is_unicode(text: str) -> bool:
    r"""Return whether a text can be sent: without surrogates, which stand for invalid UTF-8.

    >>> is_unicode("é"), is_unicode("\udce9")
    (True, False)
    """
    return not any("\ud800" <= character <= "\udfff" for character in text)


def encode_row(id: int, code: bytes, entry: Entry) -> dict[str, Any]:
    """Build the row of an item."""
    return {"id": id, "code": code} | entry._asdict() | {"labels": list(entry.labels)}


def encode_rows(ids: Sequence[int], codes: Codes, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Build the rows of items, given as three sequences of one length."""
    triples = zip(ids, codes, entries, strict=True)
    return [encode_row(id, code.tobytes(), entry) for id, code, entry in triples]


def decode_entry(row: Mapping[str, Any]) -> Entry:
    """Read an entry from a row."""
    return Entry(
        row["file_name"],
        tuple(row["labels"]),
        row["size"],
        row["modified"],
        row["sha256"],
        uploaded=bool(row.get(UPLOADED)),
    )


def decode_item(row: Mapping[str, Any]) -> Item:
    """Read an item from a row."""
    return Item(row["id"], decode_entry(row), decode_code(row))


def decode_code(row: Mapping[str, Any]) -> bytes:
    """Read the code from a row; pymilvus wraps it in a list."""
    code = row["code"]
    return bytes(code[0] if isinstance(code, list) else code)


def _property(description: Mapping[str, Any], name: str, missing: str) -> str:
    return str((description.get("properties") or {}).get(name, missing))
