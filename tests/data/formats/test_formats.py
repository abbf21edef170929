"""What holds for every format: detection, options, only our own errors on damaged files."""

import json
import random
import shutil

import layouts
import pytest

from softhash.data import formats
from softhash.data.image_set import ImageSet
from softhash.errors import InputError, SofthashError, UsageError

ANNOTATIONS = (".txt", ".csv", ".jsonl", ".json", ".xml", ".mat")
CASES = {name: (name, build) for name, build in layouts.LAYOUTS.items() if name != "folder"}
CASES["jsonl"] = ("table", layouts.jsonl)


def test_every_format_has_a_layout_and_a_description():
    assert layouts.LAYOUTS.keys() == formats.FORMATS.keys()
    for line in formats.describe().values():
        assert 20 < len(line) <= 100


@pytest.mark.parametrize("name", layouts.LAYOUTS)
def test_detect_finds_the_format(tmp_path, name):
    layouts.LAYOUTS[name](tmp_path)
    assert formats.detect(tmp_path) == name
    images = ImageSet.read(tmp_path)
    assert images.format == name
    assert images.labels.shape == (len(images), len(images.classes))
    assert images.open(0, size=8).size == (8, 8)
    assert all(images.path(i).is_file() for i in range(len(images)))


@pytest.mark.parametrize("name", [name for name in layouts.LAYOUTS if name != "folder"])
def test_reading_as_another_format_is_an_input_error(tmp_path, name):
    layouts.jpeg(tmp_path / "a.jpg")
    with pytest.raises(InputError):
        ImageSet.read(tmp_path, format=name)


def test_detect_lists_what_it_looked_for(tmp_path):
    with pytest.raises(InputError, match=r"no layout.*metadata\.csv.*COCO.*folder"):
        ImageSet.read(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        ImageSet.read(tmp_path / "none")
    with pytest.raises(InputError, match="does not exist"):
        ImageSet.read(tmp_path / "none", format="voc")


def test_a_wrong_name_is_a_usage_error_with_a_guess(tmp_path):
    layouts.voc(tmp_path)
    with pytest.raises(UsageError, match="did you mean 'voc'"):
        ImageSet.read(tmp_path, format="vok")
    with pytest.raises(UsageError, match="did you mean 'difficult'"):
        ImageSet.read(tmp_path, dificult="drop")
    with pytest.raises(UsageError, match="unknown difficult 'maybe'"):
        ImageSet.read(tmp_path, difficult="maybe")
    with pytest.raises(UsageError, match="takes no options"):
        ImageSet.read(tmp_path, format="folder", deep=True)


def test_labels_are_not_lost_in_silence_beside_plain_pictures(tmp_path):
    layouts.folder(tmp_path)
    layouts.put(tmp_path / "project-1.json", "[]")
    assert "project-1.json" in " ".join(ImageSet.read(tmp_path).notes)


STRANGE = [
    b"\xff",
    b"\0",
    b"-1",
    b"9" * 21,
    b'"',
    b"../",
    b"/etc/",
    b"\\",
    b"\n",
    b"[",
    b"{}",
    b"null",
]
STRANGE += [b"NaN", b"1e999", b";", b",", b"\t", b"\xef\xbb\xbf", b"<", b"&x;", b"<!DOCTYPE x>"]


def damage(data: bytes, rng: random.Random) -> bytes:
    """Change, cut, double or insert something."""
    at, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    insert = rng.choice(STRANGE)
    return rng.choice(
        [
            data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :],
            data[:at] + insert + data[at:],
            data[:at] + insert + data[end:],
            data[:at] + data[end:],
            data[:at],
            data[:end] + data[at:],
            b"",
        ]
    )


@pytest.mark.parametrize("name", CASES)
def test_damaged_annotations_raise_only_our_errors(tmp_path, name):
    format, build = CASES[name]
    build(tmp_path)
    files = sorted(path for path in tmp_path.rglob("*") if path.suffix in ANNOTATIONS)
    rng = random.Random(name)
    refused = 0
    for _ in range(600):
        path = rng.choice(files)
        good = path.read_bytes()
        path.write_bytes(damage(good, rng))
        try:
            images = ImageSet.read(tmp_path, format=format)
            assert len(images) > 0
            repr(images)
        except SofthashError:
            refused += 1
        path.write_bytes(good)
    assert refused > 20


def damage_json(value: object, rng: random.Random) -> object:
    """Put something of another type at one place in a tree."""
    strange = [
        None,
        True,
        -1,
        10**30,
        1.5,
        float("nan"),
        "",
        "\ud800",
        "a\0b",
        [],
        {},
        [[]],
        {"id": []},
    ]
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        return value | {key: damage_json(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        return [*value[:at], damage_json(value[at], rng), *value[at + 1 :]]
    return rng.choice(strange)


@pytest.mark.parametrize("name", ["coco", "labelstudio", "jsonl"])
def test_json_of_another_shape_raises_only_our_errors(tmp_path, name):
    format, build = CASES[name]
    build(tmp_path)
    path = min(path for path in tmp_path.rglob("*") if path.suffix in (".json", ".jsonl"))
    good = path.read_text()
    rng = random.Random(name)
    for _ in range(600):
        values = [json.loads(line) for line in good.splitlines()]
        path.write_text("\n".join(json.dumps(damage_json(value, rng)) for value in values))
        try:
            ImageSet.read(tmp_path, format=format)
        except SofthashError:
            continue


def test_a_folder_that_may_not_be_read_is_an_input_error(tmp_path):
    layouts.voc(tmp_path)
    shutil.rmtree(tmp_path / "VOCdevkit/VOC2012/JPEGImages")
    with pytest.raises(InputError, match="JPEGImages cannot be listed"):
        ImageSet.read(tmp_path)
