"""JSON of a stranger: long, deep, damaged, or text that no encoding has."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from softhash.errors import InputError

MAX_BYTES = 16 << 20
MAX_NESTING = 32  # of lists and mappings


def parse_json(text: str | bytes, name: str) -> Any:
    """Read JSON that can be written again; `name` is what errors call it.

    Raises:
        InputError: it is not JSON, or beyond the limits.

    """
    if len(text) > MAX_BYTES:
        raise InputError(f"{name} has more than {MAX_BYTES:,} bytes")
    try:
        content = json.loads(text)
        json.dumps(content, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is damaged, it is not JSON: {error}") from None
    if _is_deeper(content, MAX_NESTING):
        raise InputError(f"{name} is nested more than {MAX_NESTING} deep")
    return content


def _is_deeper(content: Any, levels: int) -> bool:
    inside = [content]
    for _ in range(levels + 1):
        inside = [one for one in inside if isinstance(one, dict | list)]
        lists = (one.values() if isinstance(one, dict) else one for one in inside)
        inside = [value for one in lists for value in one]
    return bool(inside)


def checksum(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of JSON in one spelling, whatever the order of its keys.

    >>> checksum({"a": 1, "b": 2.0}) == checksum({"b": 2.0, "a": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
