"""When, with what and where a picture was taken."""

import io
import random
import struct

import photographs
import pytest
from photographs import photograph

from softhash.data._exif import read_exif
from softhash.data.photo_facts import PhotoFacts, read_facts

WHOLE = photographs.exif(
    taken="2024:05:17 14:03:22",
    make="NIKON CORPORATION",
    model="NIKON D90",
    latitude=((48.0, 51.0, 30.0), "N"),
    longitude=((2.0, 17.0, 40.2), "W"),
)


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
def test_facts_are_read_from_each_format(format):
    facts = read_facts(photograph(format, exif=WHOLE))
    assert facts == PhotoFacts("2024-05-17T14:03:22", "NIKON D90", 48.858333, -2.2945)
    assert "2024-05" <= facts.taken < "2024-06"


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("2024:05:17 14:03:22", "2024-05-17T14:03:22"),
        ("2024-05-17T14:03:22+02:00", "2024-05-17T14:03:22"),
        ("2024:05:17", "2024-05-17T00:00:00"),
        ("0000:00:00 00:00:00", ""),
        ("2023:02:31 10:00:00", ""),
        ("1024:05:17 14:03:22", ""),
        ("yesterday", ""),
    ],
)
def test_a_time_that_makes_no_sense_is_none(given, taken):
    assert read_facts(photograph(exif=photographs.exif(taken=given))).taken == taken


@pytest.mark.parametrize(
    ("make", "model", "camera"),
    [
        ("Canon", "Canon EOS 5D", "Canon EOS 5D"),
        ("Apple", "iPhone 15", "Apple iPhone 15"),
        (None, "X100", "X100"),
        ("SONY", None, "SONY"),
        ("a\x1b[2Jb", None, "a [2Jb"),
        ("x" * 200, None, "x" * 80),
        ("y" * 300, "Z", "Z"),
    ],
)
def test_a_camera_is_named_once_in_one_short_line(make, model, camera):
    assert read_facts(photograph(exif=photographs.exif(make=make, model=model))).camera == camera


@pytest.mark.parametrize(
    ("latitude", "longitude"),
    [
        (((0.0, 0.0, 0.0), "N"), ((0.0, 0.0, 0.0), "E")),
        (((91.0, 0.0, 0.0), "N"), ((2.0, 0.0, 0.0), "E")),
        (((48.0, 0.0, 0.0), "X"), ((2.0, 0.0, 0.0), "E")),
        (((48.0, 0.0, 0.0), "N"), None),
    ],
)
def test_a_place_that_makes_no_sense_is_none(latitude, longitude):
    facts = read_facts(photograph(exif=photographs.exif(latitude=latitude, longitude=longitude)))
    assert (facts.latitude, facts.longitude) == (None, None)


def test_what_is_not_a_picture_has_no_facts(tmp_path):
    assert read_facts(tmp_path / "none.jpg") == read_facts(b"text") == PhotoFacts()
    assert read_facts(photograph()) == PhotoFacts()


def test_exif_that_leads_nowhere_or_in_circles_is_passed_over():
    entry = struct.pack("<HHLL", 0x8769, 4, 1, 8)  # its directory of details is itself
    circle = b"II*\0" + struct.pack("<LH", 8, 1) + entry + bytes(4)
    assert read_exif(io.BytesIO(circle)) == {}
    many = b"II*\0" + struct.pack("<LH", 8, 65_535) + struct.pack("<HHLL", 0x10F, 2, 1 << 31, 8) * 9
    assert read_exif(io.BytesIO(many)) == {}


def test_mutated_exif_raises_nothing():
    dice = random.Random(0)
    block = WHOLE.tobytes().removeprefix(b"Exif\0\0")
    for _ in range(500):
        data = bytearray(block)
        for _ in range(dice.randint(1, 8)):
            data[dice.randrange(len(data))] = dice.choice((0, 1, 2, 255, dice.randrange(256)))
        read_exif(io.BytesIO(bytes(data[: dice.randint(0, len(data))])))
