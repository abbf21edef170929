"""Small files that take long or much to decode, built in code."""

import io
import struct
import zlib

import numpy as np
from PIL import Image


def encoded(image, format, **options):
    stream = io.BytesIO()
    image.save(stream, format, **options)
    return stream.getvalue()


def jpeg_segment(marker, body=b""):
    return b"\xff" + bytes([marker]) + struct.pack(">H", len(body) + 2) + body


def with_segments(segments):
    """A JPEG of 8×8 pixels with something in front of its own segments."""
    data = encoded(Image.new("RGB", (8, 8)), "JPEG")
    return data[:2] + segments + data[2:]


def many_scans(width, height, count, mode="L"):
    """A progressive JPEG whose last scan is repeated: five bytes of data go over all pixels."""
    data = encoded(Image.new(mode, (width, height), 128), "JPEG", progressive=True)
    start, end = data.rindex(b"\xff\xda"), data.rindex(b"\xff\xd9")
    return data[:end] + data[start:end] * count + data[end:]


def png_chunk(kind, body=b""):
    crc = struct.pack(">I", zlib.crc32(kind + body))
    return struct.pack(">I", len(body)) + kind + body + crc


def many_chunks(kind, count):
    data = encoded(Image.new("RGB", (8, 8)), "PNG")
    return data[:33] + png_chunk(kind) * count + data[33:]


def many_comments(count):
    data = encoded(Image.new("P", (8, 8)), "GIF")
    at = 13 + (3 << 1 + (data[10] & 7) if data[10] & 0x80 else 0)
    return data[:at] + b"\x21\xfe\x01a\x00" * count + data[at:]


def many_strips(count):
    """A TIFF of one column, each row a strip, all strips one byte."""
    tags = [(256, 4, 1, 1), (257, 4, 1, count), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1)]
    tags += [(273, 4, count, 8), (277, 3, 1, 1), (278, 4, 1, 1), (279, 4, count, 8)]
    return tiff(tags, struct.pack("<L", 8) * count)


def tiff(tags, body):
    entries = b"".join(struct.pack("<HHLL", *tag) for tag in tags)
    head = b"II*\0" + struct.pack("<L", 8 + len(body))
    return head + body + struct.pack("<H", len(tags)) + entries + bytes(4)


def large_tile(side):
    """A TIFF of 8×8 pixels in a tile of side × side, which unpacks whole."""
    packed = zlib.compress(bytes(side * side))
    tags = [(256, 4, 1, 8), (257, 4, 1, 8), (258, 3, 1, 8), (259, 3, 1, 8), (262, 3, 1, 1)]
    tags += [(277, 3, 1, 1), (322, 4, 1, side), (323, 4, 1, side)]
    tags += [(324, 4, 1, 8), (325, 4, 1, len(packed))]
    return tiff(tags, packed)


def runs(width, height, data):
    """A BMP in runs."""
    head = struct.pack("<IHHI", 1078 + len(data), 0, 0, 1078)
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 1, len(data), 0, 0, 256, 0)
    return b"BM" + head + info + bytes(1024) + data


def webp_canvas(width, height):
    """The header of a WebP, and nothing in it."""
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + size
    return b"RIFF" + struct.pack("<I", len(body)) + body


def float_tiff(side):
    image = Image.fromarray(np.zeros((side, side), np.float32))
    return encoded(image, "TIFF", compression="tiff_deflate")
