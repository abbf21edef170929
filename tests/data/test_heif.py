"""HEIC and AVIF: read within the limits, and named where the decoder is missing."""

import io
import struct
import sys

import pytest
from PIL import Image

from softhash.data import _heif, decoding
from softhash.data.decoding import image_size, open_image
from softhash.data.image_set import ImageSet
from softhash.data.inspection import inspect
from softhash.errors import ImageError


def box(kind, body):
    return struct.pack(">L", 8 + len(body)) + kind + body


def heif(*sizes, brand=b"heic", others=b"mif1", extra=b""):
    """The boxes of a HEIC or AVIF that declare pictures of these sizes, and nothing in them."""
    properties = b"".join(box(b"ispe", bytes(4) + struct.pack(">LL", *size)) for size in sizes)
    meta = bytes(4) + box(b"iprp", box(b"ipco", properties)) + extra
    return box(b"ftyp", brand + bytes(4) + others) + box(b"free", bytes(20)) + box(b"meta", meta)


def avif(width, height, **options):
    stream = io.BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(stream, "AVIF", speed=10, **options)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (heif(), "HEIC"),
        (heif(brand=b"mif1", others=b"heic"), "HEIC"),
        (heif(brand=b"mif1", others=b"avif"), "AVIF"),
        (avif(8, 8), "AVIF"),
        (heif(brand=b"mp42"), "video"),
        (b"\xff\xd8\xff\xe0", None),
    ],
)
def test_boxes_are_told_apart_by_their_brands(data, kind):
    assert _heif.container_kind(io.BytesIO(data)) == kind


def test_avif_is_read_upright_and_resized():
    exif = Image.Exif()
    exif[0x0112] = 6
    data = avif(40, 20, exif=exif)
    assert open_image(data).size == (20, 40)
    assert image_size(data) == (40, 20)
    picture = open_image(data, size=8)
    assert picture.size == (8, 8)
    assert abs(picture.getpixel((4, 4))[0] - 200) < 10


def test_a_video_by_another_name_is_called_one():
    with pytest.raises(ImageError, match="is a video") as error:
        open_image(heif(brand=b"isom"))
    assert error.value.kind == "video"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (heif((20_000, 20_000)), "20000×20000 pixels, more than the limit"),
        (heif((8, 8), (9_000, 10_000)), "takes 1.4 GB of memory to decode"),
        (heif(brand=b"avis"), "is an animation"),
        (heif((8, 8), extra=box(b"iovl", b"")), "put together of overlays"),
        (box(b"ftyp", b"heic" + bytes(8)) + box(b"free", b"") * 2_000, "too many pieces"),
    ],
)
def test_boxes_over_a_limit_are_refused_before_a_library_opens_them(data, reason, monkeypatch):
    monkeypatch.setattr(decoding, "can_read_heic", lambda: True)
    monkeypatch.setattr(decoding.budget, "total", 1 << 30)
    with pytest.raises(ImageError, match=reason) as error:
        open_image(data)
    assert error.value.kind == "refused"


def test_an_avif_takes_the_whole_budget_since_its_frame_may_be_larger_than_declared(monkeypatch):
    data = avif(64, 48)
    at = data.index(b"ispe") + 8
    taken = []
    monkeypatch.setattr(decoding.budget, "check", taken.append)
    open_image(data[:at] + struct.pack(">LL", 8, 8) + data[at + 8 :])
    assert taken[-1] == decoding.budget.total


def test_a_heic_without_its_decoder_is_skipped_and_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(decoding, "can_read_heic", lambda: False)
    (tmp_path / "a.HEIC").write_bytes(heif((8, 8)))
    (tmp_path / "b.avif").write_bytes(avif(8, 8))
    (tmp_path / "c.jpg").write_bytes(b"broken")
    (tmp_path / "d.mov").write_bytes(b"x")
    found = inspect(ImageSet.read(tmp_path))
    assert found.skipped == {"damaged": 1, "heic": 1, "video": 1}
    assert "install it with: pip install 'softhash[heic]'" in found.broken[0].reason
    assert found.as_dict()["skipped"] == found.skipped


def test_the_decoder_of_heic_is_looked_for_once_and_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    monkeypatch.delitem(Image.OPEN, "HEIF", raising=False)
    _heif.can_read_heic.cache_clear()
    assert not _heif.can_read_heic()
    _heif.can_read_heic.cache_clear()


def heic(width, height, **options):
    pytest.importorskip("pillow_heif")
    assert _heif.can_read_heic()
    stream = io.BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(stream, "HEIF", **options)
    return stream.getvalue()


@pytest.mark.parametrize("options", [{}, {"tile_size": 64}])
def test_heic_is_read_upright_whole_and_in_tiles(options):
    exif = Image.Exif()
    exif[0x0112] = 6
    data = heic(160, 80, exif=exif.tobytes(), **options)
    assert open_image(data).size == (80, 160)
    assert abs(open_image(data, size=8).getpixel((4, 4))[0] - 200) < 10


def test_a_heic_that_is_larger_than_it_declares_is_refused():
    whole = heic(300, 300)
    at = whole.index(b"ispe") + 8
    with pytest.raises(ImageError, match="cannot be opened"):
        open_image(whole[:at] + struct.pack(">LL", 8, 8) + whole[at + 8 :])
    tiles = heic(160, 80, tile_size=64)
    tiles = tiles.replace(struct.pack(">LL", 160, 80), struct.pack(">LL", 8, 8))
    with pytest.raises(ImageError, match="more tiles than it declares"):
        open_image(tiles)
