"""Ways to spoil a file by what it means: one value of a JSON, one cell of a table, one header.

The rest of the file stays sound, so that readers go further before they notice.
"""

import json
import struct
import tomllib
from collections.abc import Callable
from random import Random
from typing import Any

import tomli_w

from .containers import spoiled_onnx, spoiled_sqlite, spoiled_zip
from .mutations import MAX_BYTES, TOKENS, put_token, spoiled

TEXT = ("text", "json", "jsonl", "toml", "csv")
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**400, -(10**25), 0.5, 1e308, -1e308,
    float("nan"), float("inf"), "", "x", "x" * 70_000, "\ud800", "\x00", "../..", "a\nb", [], {},
    [[]], [None], ["x"], [1, 2, 3], {"x": 1}, {"": {}}, [1.5] * 3, ["x", "x"], "5/q", "1", "nan",
)  # fmt: skip


def mutated(data: bytes, kind: str, dice: Random) -> bytes:
    """Return a spoiled copy of a file.

    Args:
        data: the file.
        kind: what it is: a key of `KNOWING`, `text`, or anything else for bytes.
        dice: what is done depends on.

    """
    knowing = KNOWING.get(kind)
    if knowing and dice.random() < 0.6:
        try:
            return knowing(data, dice)[:MAX_BYTES]
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, struct.error):
            pass  # the value cannot be written in this format
    return spoiled(data, dice, text=kind in TEXT)


def _mutated_value(value: Any, dice: Random) -> Any:
    """Change one place of a nested value: another value, another key, one more, one less."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        changed = dict(value)
        key = dice.choice(list(changed))
        way = dice.random()
        if way < 0.75:
            changed[key] = _mutated_value(changed[key], dice)
        elif way < 0.9:
            del changed[key]
        else:
            changed[dice.choice(("", "x", key + "x", "labels", "__class__"))] = changed.pop(key)
        return changed
    if isinstance(value, list) and value and dice.random() < 0.9:
        at = dice.randrange(len(value))
        new = _mutated_value(value[at], dice)
        return dice.choice(
            ([*value[:at], new, *value[at + 1 :]], value[:at] + value[at + 1 :], value * 2)
        )
    if dice.random() < 0.03:
        return _deep(dice.choice((50, 900, 3000)))
    return dice.choice(_VALUES)


def _deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def _json(data: bytes, dice: Random) -> bytes:
    return json.dumps(_mutated_value(json.loads(data), dice)).encode()


def _jsonl(data: bytes, dice: Random) -> bytes:
    lines = data.splitlines()
    at = dice.randrange(len(lines))
    lines[at] = _json(lines[at], dice)
    return b"\n".join(lines) + b"\n"


def _toml(data: bytes, dice: Random) -> bytes:
    changed = _mutated_value(tomllib.loads(data.decode()), dice)
    return tomli_w.dumps(changed).encode()


def _csv(data: bytes, dice: Random) -> bytes:
    rows = [line.split(b",") for line in data.split(b"\n")]
    row = dice.choice(rows)
    row[dice.randrange(len(row))] = dice.choice(TOKENS)
    return b"\n".join(b",".join(cells) for cells in rows)


def _safetensors(data: bytes, dice: Random) -> bytes:
    size = int.from_bytes(data[:8], "little")
    header = _json(data[8 : 8 + size], dice)
    return len(header).to_bytes(8, "little") + header + data[8 + size :]


def _npy(data: bytes, dice: Random) -> bytes:
    size = int.from_bytes(data[8:10], "little")
    header = put_token(data[10 : 10 + size], dice)[:65_000]
    return data[:8] + len(header).to_bytes(2, "little") + header + data[10 + size :]


KNOWING: dict[str, Callable[[bytes, Random], bytes]] = {
    "json": _json,
    "jsonl": _jsonl,
    "toml": _toml,
    "csv": _csv,
    "safetensors": _safetensors,
    "npy": _npy,
    "zip": spoiled_zip,
    "sqlite": spoiled_sqlite,
    "onnx": spoiled_onnx,
}
