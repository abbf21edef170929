"""Tags of people's own: in pictures, beside them, and the folders they are in."""

import random

import photographs
import pytest
from photographs import photograph

from softhash.data._keywords import MAX_KEYWORDS, iptc_keywords, xmp_keywords
from softhash.data.image_set import ImageSet
from softhash.data.labelling import add_labels, has_tags
from softhash.data.listing import Listing
from softhash.data.tags import read_tags
from softhash.errors import InputError

SEA = photographs.xmp(subject=["sea", "Küste"])


def tags_of(path):
    return read_tags(path.parent, path.name, Listing(path.parent))


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
def test_xmp_keywords_are_read_from_each_format(format, tmp_path):
    path = tmp_path / "a.jpg"
    path.write_bytes(photograph(format, xmp=SEA))
    assert tags_of(path) == ["sea", "Küste"]


@pytest.mark.parametrize("format", ["JPEG", "TIFF"])
def test_iptc_keywords_are_read(format, tmp_path):
    path = tmp_path / "a.jpg"
    path.write_bytes(photograph(format, iptc=photographs.iptc("sea", "Küste")))
    assert tags_of(path) == ["sea", "Küste"]


def test_iptc_without_a_character_set_is_latin_1_where_it_is_not_utf_8():
    block = photographs.iptc("Küste", utf_8=False, encoding="latin-1")
    assert iptc_keywords(block) == ["Küste"]
    assert iptc_keywords(block + b"\x1c\x02\x19\x00\x09cut") == ["Küste"]


def test_each_level_of_a_hierarchy_is_a_keyword():
    lightroom = photographs.xmp(subject=["Rome"], hierarchicalSubject=["Places|Italy|Rome"])
    assert xmp_keywords(lightroom) == ["Rome", "Places", "Italy"]
    assert xmp_keywords(photographs.xmp(TagsList=["Places/Italy"])) == ["Places", "Italy"]


@pytest.mark.parametrize("sidecar", ["a.xmp", "a.jpg.xmp", "a.XMP"])
def test_sidecars_add_to_the_tags_of_a_picture(sidecar, tmp_path):
    path = tmp_path / "a.jpg"
    path.write_bytes(photograph(xmp=SEA, iptc=photographs.iptc("sea")))
    (tmp_path / sidecar).write_bytes(photographs.xmp(subject=["sky", "sea"]))
    assert tags_of(path) == ["sea", "Küste", "sky"]


def test_keywords_that_are_no_words_are_left_out():
    odd = ["", "  ", "x" * 201, "two\nlines", "bell\u009b", "sea"]
    assert xmp_keywords(photographs.xmp(subject=odd)) == ["two lines", "sea"]
    many = photographs.xmp(subject=[f"tag{i}" for i in range(MAX_KEYWORDS + 5)])
    assert len(xmp_keywords(many)) == MAX_KEYWORDS


@pytest.mark.parametrize(
    "block",
    [
        b"<x>",
        b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        b"\xff\xfe",
        b"<a>" * 50_000,
    ],
)
def test_hostile_xmp_is_an_error_that_has_a_reason(block):
    with pytest.raises(InputError, match="its XMP cannot be read"):
        xmp_keywords(block)


def test_xmp_nested_without_end_is_survived():
    assert xmp_keywords(b"<a>" * 50_000 + b"</a>" * 50_000) == []


def test_mutated_blocks_raise_nothing_but_input_errors():
    dice = random.Random(0)
    for block, read in ((SEA, xmp_keywords), (photographs.iptc("sea", "sky"), iptc_keywords)):
        for _ in range(300):
            data = bytearray(block)
            for _ in range(dice.randint(1, 6)):
                data[dice.randrange(len(data))] = dice.randrange(256)
            try:
                found = read(bytes(data))
            except InputError:
                continue
            assert all(isinstance(word, str) and word.isprintable() for word in found)


@pytest.fixture
def holidays(tmp_path):
    """Two tagged pictures and one without tags, in folders within folders."""
    for name, block in (
        ("2019/Italy/a.jpg", {"xmp": SEA}),
        ("2019/b.jpg", {"iptc": photographs.iptc("sea", "sky")}),
        ("c.jpg", {}),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(photograph(**block))
    return tmp_path


def labels(images):
    return {name: set(images.label_names(i)) for i, name in enumerate(images.file_names)}


def test_folders_tags_or_both_become_labels(holidays):
    folders = {"2019/Italy/a.jpg": {"2019", "Italy"}, "2019/b.jpg": {"2019"}, "c.jpg": set()}
    tags = {"2019/Italy/a.jpg": {"sea", "Küste"}, "2019/b.jpg": {"sea", "sky"}, "c.jpg": set()}
    assert labels(ImageSet.read(holidays, labels_from="folders")) == folders
    images = ImageSet.read(holidays, labels_from=["tags"])
    assert labels(images) == tags
    assert images.notes == ("2 of 3 pictures have labels from tags, 3 different ones",)
    both = {name: folders[name] | tags[name] for name in tags}
    assert labels(ImageSet.read(holidays, labels_from="folders,tags")) == both
    assert ImageSet.read(holidays).classes == ()


def test_labels_of_a_layout_stay_where_others_are_added(holidays):
    (holidays / "metadata.csv").write_text("file_name,boat,sea\nc.jpg,1,0\n2019/b.jpg,1,0\n")
    images = ImageSet.read(holidays, labels_from="tags")
    assert images.classes == ("boat", "sea", "Küste", "sky")
    assert labels(images)["2019/b.jpg"] == {"boat", "sea", "sky"}
    assert labels(images)["c.jpg"] == {"boat"}


def test_tags_that_cannot_be_read_are_named_and_the_picture_stays(holidays):
    (holidays / "c.xmp").write_bytes(b"<x>")
    (holidays / "2019/b.jpg").write_bytes(b"broken")
    calls = []
    images = add_labels(
        ImageSet.read(holidays), ["tags"], progress=lambda *done: calls.append(done)
    )
    assert len(images) == 3
    assert images.notes[1].startswith("the tags of 1 pictures cannot be read: c.jpg (its XMP")
    assert calls == [(3, 3)]


def test_a_sidecar_that_leads_out_of_the_folder_is_not_read(holidays, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "c.xmp"
    outside.write_bytes(SEA)
    (holidays / "c.xmp").symlink_to(outside)
    assert tags_of(holidays / "c.jpg") == []


def test_tags_are_found_by_a_look_at_some_pictures(holidays):
    images = ImageSet.read(holidays)
    assert has_tags(images)
    assert not has_tags(images.select([2]))
    assert not has_tags(images.select([]))
