"""Pictures and forms that mean harm, for `test_uploads.py` and `soak.py`."""

import io
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from .samples import encoded, picture

sys.path.append(str(Path(__file__).parents[1] / "data"))
import hostile_pictures as bombs


def flat_png(side: int) -> bytes:
    """A PNG of one bit per pixel, of a few hundred bytes per megapixel."""
    packer, row = zlib.compressobj(9), bytes(side // 8 + 1)
    pixels = b"".join(packer.compress(row) for _ in range(side)) + packer.flush()
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    chunks = (b"IHDR", head), (b"IDAT", pixels), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(bombs.png_chunk(*chunk) for chunk in chunks)


def flat(format: str, side: int, mode: str = "RGB", **options: object) -> bytes:
    """A picture of one colour."""
    return encoded(Image.new(mode, (side, side)), format, **options)


def frames(count: int) -> bytes:
    """A GIF of many frames."""
    file, first = io.BytesIO(), picture(0, 64)
    more = [picture(number, 64) for number in range(1, count)]
    first.save(file, "GIF", save_all=True, append_images=more)
    return file.getvalue()


LARGE = 4_000  # pixels on a side: within the limit, and tests have to end
PICTURES: dict[str, Callable[[], bytes]] = {
    "PNG over the limit": lambda: flat_png(20_000),
    "PNG of one bit": lambda: flat_png(LARGE),
    "PNG with transparency": lambda: flat("PNG", LARGE, "LA"),
    "PNG in chunks": lambda: bombs.many_chunks(b"teXt", 200_000),
    "JPEG": lambda: flat("JPEG", LARGE),
    "JPEG, progressive": lambda: flat("JPEG", LARGE, progressive=True),
    "JPEG of 50,000 scans": lambda: bombs.many_scans(64, 64, 50_000),
    "JPEG of 200 large scans": lambda: bombs.many_scans(LARGE, LARGE, 200),
    "JPEG of 20 large scans": lambda: bombs.many_scans(LARGE, LARGE, 13),
    "JPEG in segments": lambda: bombs.with_segments(bombs.jpeg_segment(0xFE) * 200_000),
    "GIF": lambda: flat("GIF", LARGE, "P"),
    "GIF that lies": lambda: b"GIF89a\xff\xff\xff\xff\x80\x00\x00" + bytes(6) + b"," + bytes(30),
    "GIF of comments": lambda: bombs.many_comments(200_000),
    "GIF of frames": lambda: frames(100),
    "WebP": lambda: flat("WEBP", 3_000, lossless=True),
    "WebP over the limit": lambda: bombs.webp_canvas(16_383, 16_383),
    "WebP that lies": lambda: bombs.webp_canvas(LARGE, LARGE),
    "BMP in runs": lambda: bombs.runs(LARGE, LARGE, b"\x00\x01" * 500_000),
    "TIFF": lambda: flat("TIFF", LARGE, compression="tiff_deflate"),
    "TIFF, float": lambda: bombs.float_tiff(3_000),
    "TIFF in strips": lambda: bombs.many_strips(30_000),
    "TIFF in one tile": lambda: bombs.large_tile(6_000),
}


def part(name: str, data: bytes, file_name: str | None = None, more: bytes = b"") -> bytes:
    """One part of a form whose boundary is `b`."""
    file = f'; filename="{file_name}"' if file_name is not None else ""
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"{file}\r\n'.encode()
    return head + more + b"\r\n" + data + b"\r\n"


FORM = "multipart/form-data; boundary=b"
END = b"--b--\r\n"
CODE = part("code", b"00000")
FORMS: dict[str, Callable[[], tuple[str, bytes]]] = {
    "10,000 fields": lambda: (FORM, part("x", b"y") * 10_000 + END),
    "10,000 files": lambda: (FORM, part("image", b"y", "a.png") * 10_000 + END),
    "10,000 labels": lambda: (FORM, CODE + part("label", b"sea") * 900 + END),
    "long field": lambda: (FORM, part("label", b"a" * 5_000_000) + END),
    "long field name": lambda: (FORM, part("a" * 5_000_000, b"") + END),
    "long file name": lambda: (FORM, part("image", b"y", "a" * 5_000_000) + END),
    "long part header": lambda: (FORM, part("image", b"y", "a", b"A: " + b"a" * 5_000_000) + END),
    "many part headers": lambda: (FORM, part("image", b"y", "a", b"A: b\r\n" * 1_000_000) + END),
    "nested": lambda: (FORM, part("image", CODE + END, "a", f"Content-Type: {FORM}\r\n".encode())),
    "no end": lambda: (FORM, CODE),
    "boundaries": lambda: (FORM, b"--b\r\n" * 1_000_000),
    "almost boundaries": lambda: (FORM, part("image", b"\r\n--a" * 3_000_000, "a") + END),
    "long boundary": lambda: (f"multipart/form-data; boundary={'b' * 20_000}", CODE),
    "no boundary": lambda: ("multipart/form-data", CODE),
    "charset": lambda: (f"{FORM}; charset=punycode", part("label", b"-" + b"a" * 500_000) + END),
    "urlencoded": lambda: ("application/x-www-form-urlencoded", b"label=sea&" * 1_000_000),
    "escapes": lambda: ("application/x-www-form-urlencoded", b"label=" + b"%ff" * 300_000),
    "json": lambda: ("application/json", b"[" * 5_000_000),
    "xml": lambda: ("text/xml", b"<a>" * 1_000_000),
    "nothing": lambda: ("", b""),
}
