"""Ways to spoil bytes, whatever they mean.

Everything is drawn from a `random.Random`, so that a seed is enough to make a file again.
"""

import struct
from collections.abc import Callable
from random import Random

MAX_BYTES = 1 << 22  # of a mutated file
_NUMBERS = (0, 1, -1, 2, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63)
TOKENS = (
    b"-1", b"0", b"1e999", b"nan", b"-inf", b"9" * 400, b"99999999999", b"4294967296", b"\x00",
    b"\xff\xfe", b"\xed\xa0\x80", b"../../x.jpg", b"/etc/passwd", b"\x1b[2J", b"true", b"null",
    b"[]",
    b"{}", b'"', b"'", b",", b";", b"\n", b"\r", b"\t", b"=", b"[" * 3000, b'{"a":' * 3000, b" ",
    "١".encode(), "é\u2028".encode(), b"x" * 70_000, b"()", b"0x10",
    b"1_0", b"1e400", b"#", b"\\u0000",
)  # fmt: skip


def spoiled(data: bytes, dice: Random, *, text: bool = False) -> bytes:
    """Return a copy with a few changes, whatever the bytes mean."""
    ways = TEXT_WAYS if text else BYTE_WAYS
    for _ in range(dice.choice((1, 1, 1, 2, 3, 5))):
        data = dice.choice(ways)(data, dice)[:MAX_BYTES]
    return data


def _span(data: bytes, dice: Random, most: int = 64) -> tuple[int, int]:
    start = dice.randrange(len(data) + 1)
    return start, min(len(data), start + dice.randint(1, most))


def flip_bit(data: bytes, dice: Random) -> bytes:
    """Change one bit."""
    if not data:
        return b"\x01"
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]


def set_byte(data: bytes, dice: Random) -> bytes:
    """Replace one byte by one that is often special."""
    at = dice.randrange(len(data) + 1)
    return data[:at] + bytes([dice.choice((0, 1, 9, 10, 32, 0x7F, 0x80, 0xFF))]) + data[at + 1 :]


def overwrite(data: bytes, dice: Random) -> bytes:
    """Replace a run by random bytes, zeros or ones."""
    start, end = _span(data, dice)
    run = dice.choice((dice.randbytes(end - start), bytes(end - start), b"\xff" * (end - start)))
    return data[:start] + run + data[end:]


def set_number(data: bytes, dice: Random) -> bytes:
    """Write an integer as binary formats have them."""
    code = dice.choice("BHIQ")
    value = dice.choice(_NUMBERS) & (2 ** (8 * struct.calcsize(f"<{code}")) - 1)
    run = struct.pack(dice.choice("<>") + code, value)
    at = dice.randrange(len(data) + 1)
    return data[:at] + run + data[at + len(run) :]


def cut_end(data: bytes, dice: Random) -> bytes:
    """Leave the beginning alone."""
    return data[: dice.randrange(len(data) + 1)]


def cut_out(data: bytes, dice: Random) -> bytes:
    """Take a run out of the middle."""
    start, end = _span(data, dice, 1000)
    return data[:start] + data[end:]


def insert(data: bytes, dice: Random) -> bytes:
    """Put random bytes in between."""
    at = dice.randrange(len(data) + 1)
    return data[:at] + dice.randbytes(dice.randint(1, 40)) + data[at:]


def repeat(data: bytes, dice: Random) -> bytes:
    """Repeat a run, sometimes often."""
    start, end = _span(data, dice, 200)
    return data[:end] + data[start:end] * dice.choice((1, 2, 2000)) + data[end:]


def swap_runs(data: bytes, dice: Random) -> bytes:
    """Exchange two neighbouring runs."""
    if len(data) < 3:
        return data[::-1]
    a, b, c = sorted(dice.sample(range(len(data) + 1), 3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def extend(data: bytes, dice: Random) -> bytes:
    """Add to the end."""
    return data + dice.choice((bytes(64), dice.randbytes(64), data))


def put_token(data: bytes, dice: Random) -> bytes:
    """Put a token that parsers stumble over in place of a word, or in between."""
    start = dice.randrange(len(data) + 1)
    end = start
    if dice.random() < 0.7:
        while end < len(data) and data[end : end + 1] not in b' \t\r\n,;:"[]{}<>=/':
            end += 1
    return data[:start] + dice.choice(TOKENS) + data[end:]


def shuffle_lines(data: bytes, dice: Random) -> bytes:
    """Delete, repeat or move a line."""
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    moved = lines.pop(at)
    for _ in range(dice.choice((0, 1, 2))):
        lines.insert(dice.randrange(len(lines) + 1), moved)
    return b"\n".join(lines)


BYTE_WAYS: tuple[Callable[[bytes, Random], bytes], ...] = (
    flip_bit, flip_bit, set_byte, overwrite, set_number, set_number, cut_end, cut_out, insert,
    repeat, swap_runs, extend,
)  # fmt: skip
TEXT_WAYS = (*BYTE_WAYS, put_token, put_token, put_token, shuffle_lines, shuffle_lines)
