"""open_image: every kind of picture, every kind of damage."""

import io
import os
import random
import struct
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from PIL import Image, ImageOps

from softhash.data import decoding
from softhash.data.decoding import as_picture, image_size, open_image
from softhash.errors import ImageError, InputError, UsageError

RAMP = np.linspace(0, 255, 32 * 24).reshape(24, 32)
FORMATS = ["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF"]


def picture(width=32, height=24, seed=0):
    """A smooth picture, so that JPEG loses little, without any symmetry."""
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / (5 + i + seed) + i) + np.cos(y / (7 - i)) for i in range(3)]
    return Image.fromarray(
        np.stack([60 * w + 120 + y / height * 10 for w in waves], -1).astype("uint8")
    )


def encoded(image, format="PNG", **options):
    stream = io.BytesIO()
    image.save(stream, format, **options)
    return stream.getvalue()


def difference(a, b):
    return np.abs(np.asarray(a, float) - np.asarray(b, float)).mean()


@pytest.mark.parametrize("format", FORMATS)
def test_open_image_reads_each_format_as_rgb(format):
    opened = open_image(encoded(picture(), format))
    assert (opened.mode, opened.size, type(opened)) == ("RGB", (32, 24), Image.Image)
    assert difference(opened, picture()) < 6


@pytest.mark.parametrize("format", FORMATS)
def test_open_image_resizes_to_exactly_size(format):
    data = encoded(picture(301, 97), format)
    assert np.asarray(open_image(data, size=(50, 70))).shape == (50, 70, 3)  # height, width
    assert np.asarray(open_image(data, size=64)).shape == (64, 64, 3)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_open_image_takes_each_mode_of_png(mode):
    source = Image.fromarray(RAMP.astype("uint8"))
    if mode == "I;16":
        source = Image.fromarray((RAMP * 257).astype("uint16"))
    opened = open_image(encoded(source.convert(mode)))
    assert opened.mode == "RGB"
    if mode != "1":
        assert difference(opened.convert("L"), RAMP) < 2


def test_open_image_scales_16_bit_grey_and_does_not_clip():
    values = np.array([[0, 257, 32_768, 65_535]], np.uint16)
    for format in ("PNG", "TIFF"):
        opened = open_image(encoded(Image.fromarray(values), format))
        assert np.asarray(opened)[0, :, 0].tolist() == [0, 1, 128, 255]


def test_open_image_takes_32_bit_grey_of_16_bit_range_as_16_bit():
    values = np.array([[0, 257, 32_768, 65_535], [0, 0, 0, 0]], np.int32)
    opened = open_image(encoded(Image.fromarray(values), "TIFF"))
    assert np.asarray(opened)[0, :, 0].tolist() == [0, 1, 128, 255]


def test_open_image_stretches_floats_and_survives_nan():
    values = np.array([[-1.0, 0.0, 1.0, np.nan]], np.float32)
    opened = np.asarray(open_image(encoded(Image.fromarray(values), "TIFF")))[0, :, 0]
    assert opened.tolist() == [0, 128, 255, 128]


def test_open_image_puts_transparent_parts_on_white():
    layer = Image.new("RGBA", (2, 1), (200, 0, 0, 0))
    layer.putpixel((1, 0), (0, 0, 0, 128))
    left, right = np.asarray(open_image(encoded(layer)))[0]
    assert left.tolist() == [255, 255, 255]
    assert np.abs(right - 127.0).max() <= 1


def test_open_image_knows_the_transparency_of_palettes_and_key_colours():
    palette = Image.new("P", (2, 1))
    palette.putpalette([0, 0, 0, 10, 20, 30])
    palette.putpixel((1, 0), 1)
    for transparency in (0, b"\x00\xff"):
        opened = np.asarray(open_image(encoded(palette, "PNG", transparency=transparency)))
        assert opened.tolist() == [[[255, 255, 255], [10, 20, 30]]]
    key = encoded(Image.new("RGB", (1, 1), (1, 2, 3)), "PNG", transparency=(1, 2, 3))
    assert open_image(key).getpixel((0, 0)) == (255, 255, 255)
    assert open_image(encoded(palette, "GIF", transparency=0)).getpixel((0, 0)) == (255,) * 3


def test_open_image_reads_cmyk():
    opened = open_image(encoded(picture().convert("CMYK"), "JPEG", quality=95))
    assert difference(opened, picture()) < 6


@pytest.mark.parametrize("format", ["GIF", "WEBP", "TIFF", "PNG"])
def test_open_image_takes_the_first_frame(format):
    red, blue = Image.new("RGB", (8, 8), "red"), Image.new("RGB", (8, 8), "blue")
    opened = open_image(encoded(red, format, save_all=True, append_images=[blue]))
    assert difference(opened, red) < 3


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("size", [None, (20, 40)])
def test_open_image_turns_as_exif_says(format, orientation, size):
    exif = Image.Exif()
    exif[0x0112] = orientation
    source = picture(320, 200)
    data = encoded(source, format, exif=exif)
    source.getexif()[0x0112] = orientation
    upright = ImageOps.exif_transpose(source)
    opened = open_image(data, size=size)
    if size is None:
        assert image_size(data) == np.asarray(opened).shape[:2]
    else:
        upright = upright.resize(size[::-1], Image.Resampling.BICUBIC)
    assert difference(opened, upright) < 4


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_an_upright_picture_is_not_turned_again(format):
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encoded(picture(320, 200), format, exif=exif)
    for upright in (open_image(data), as_picture(Image.open(io.BytesIO(data)))):
        assert as_picture(upright).size == upright.size == (200, 320)


@pytest.mark.parametrize("wide", [(1600, 1200), (1203, 2011), (4001, 1999), (227, 227), (455, 453)])
def test_scaled_decoding_differs_little_from_full_decoding(wide):
    rng = np.random.default_rng(0)
    rough = np.asarray(picture(*wide), float) + rng.normal(0, 20, (wide[1], wide[0], 3))
    data = encoded(Image.fromarray(rough.clip(0, 255).astype("uint8")), "JPEG", quality=90)
    full = open_image(data).resize((227, 227), Image.Resampling.BICUBIC)
    quick = open_image(data, size=227)
    assert quick.size == (227, 227)
    assert difference(quick, full) < 1


def test_scaled_decoding_keeps_twice_the_pixels(monkeypatch):
    decoded = []
    resized = decoding.resized
    monkeypatch.setattr(
        decoding,
        "resized",
        lambda image, *a, **k: decoded.append(image.size) or resized(image, *a, **k),
    )
    for width, height, sides in [
        (4000, 3000, (500, 375)),
        (1000, 800, (250, 200)),
        (800, 399, None),
    ]:
        open_image(encoded(Image.new("RGB", (width, height)), "JPEG"), size=(100, 100))
        assert decoded.pop() == (sides or (width, height))


def test_image_size_reads_only_the_header():
    data = encoded(picture(300, 200), "PNG")
    assert image_size(data[:60]) == (200, 300)


def test_open_image_goes_by_content_and_takes_paths_and_streams(tmp_path):
    path = tmp_path / "wrong.jpg"
    path.write_bytes(encoded(picture()))
    assert open_image(path).tobytes() == open_image(str(path)).tobytes() == picture().tobytes()
    with path.open("rb") as stream:
        assert open_image(stream).tobytes() == picture().tobytes()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"hello" * 100, "not a picture"),
        (encoded(picture(640, 480), "JPEG")[:-300], "truncated.*; is it complete"),
        (encoded(picture())[:-200], "truncated"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a picture"),
        (b"P6 1 1 255 abc", "not a picture"),
    ],
)
def test_open_image_says_what_is_wrong_with_a_file(tmp_path, content, reason):
    path = tmp_path / "photo.jpg"
    path.write_bytes(content)
    with pytest.raises(ImageError, match=rf"photo\.jpg .*{reason}"):
        open_image(path)
    with pytest.raises(InputError, match=reason):
        open_image(content)


def test_open_image_refuses_what_is_not_a_file(tmp_path):
    with pytest.raises(ImageError, match=r"none\.jpg cannot be opened: No such file"):
        open_image(tmp_path / "none.jpg")
    with pytest.raises(ImageError, match="not a regular file"):
        open_image(tmp_path)
    os.mkfifo(tmp_path / "pipe.jpg")
    with pytest.raises(ImageError, match="not a regular file"):
        open_image(tmp_path / "pipe.jpg")


def test_open_image_refuses_bombs_before_decoding():
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    png = encoded(Image.new("RGB", (1, 1)))
    bomb = png[:16] + header + png[29:]
    bomb = bomb[:29] + struct.pack(">I", __import__("zlib").crc32(bomb[12:29])) + bomb[33:]
    with pytest.raises(ImageError, match="pixels"):
        open_image(bomb)
    with pytest.raises(ImageError, match=r"32×24 pixels, more than the limit of 700"):
        open_image(encoded(picture()), max_pixels=700)


@pytest.mark.parametrize("size", [0, (0, 5), (5, -1)])
def test_open_image_refuses_sizes_without_pixels(size):
    with pytest.raises(UsageError, match="no pixels"):
        open_image(encoded(picture()), size=size)


BROKEN_EXIF = b"Exif\0\0II*\0\x08\0\0\0\xff\xff" + b"\x12\x01\x03\0\xff\xff\xff\xff" * 4


def test_open_image_leaves_the_filters_as_they_are_while_threads_decode(monkeypatch):
    data = encoded(picture(), "JPEG", exif=BROKEN_EXIF)
    before, seen = list(warnings.filters), []
    rgb = decoding.rgb_or_grey
    monkeypatch.setattr(
        decoding, "rgb_or_grey", lambda image: seen.append(list(warnings.filters)) or rgb(image)
    )
    threads = [threading.Thread(target=open_image, args=(data,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert all(filters == before for filters in [*seen, list(warnings.filters)])


@pytest.mark.parametrize("filters", [["-W", "default"], ["-W", "error"]])
def test_importing_softhash_silences_pillow_and_nobody_else(tmp_path, filters):
    (tmp_path / "odd.jpg").write_bytes(encoded(picture(), "JPEG", exif=BROKEN_EXIF))
    code = (
        "import sys, warnings\n"
        "from softhash import open_image\n"
        "assert open_image(sys.argv[1]).size == (32, 24)\n"
        "warnings.warn('mine')\n"
    )
    command = [sys.executable, *filters, "-c", code, tmp_path / "odd.jpg"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "UserWarning: mine" in done.stderr
    assert "PIL" not in done.stderr
    assert done.returncode == (filters[1] == "error")


@pytest.mark.parametrize("format", [*FORMATS, "PNG16"])
def test_open_image_raises_nothing_but_image_errors(format):
    rng = random.Random(format)
    grey = Image.fromarray((RAMP * 257).astype("uint16"))
    exif = Image.Exif()
    exif[0x0112] = 6
    good = (
        encoded(grey)
        if format == "PNG16"
        else encoded(picture(), format, exif=exif)
        if (format in ("JPEG", "PNG", "WEBP", "TIFF"))
        else encoded(picture().quantize(8), format)
    )
    for _ in range(700):
        data = bytearray(good)
        for _ in range(rng.choice([1, 1, 2, 8, 40])):
            data[rng.randrange(min(len(data), rng.choice([40, 200, 10**6])))] = rng.randrange(256)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        for size in (None, 8):
            try:
                opened = open_image(bytes(data), size=size, max_pixels=10**6)
            except ImageError:
                continue
            assert opened.mode == "RGB"
