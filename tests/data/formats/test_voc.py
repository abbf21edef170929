"""PASCAL VOC: where it may lie, both sources of labels, hostile XML."""

import layouts
import pytest

from softhash.data.formats.voc import CLASSES
from softhash.data.image_set import ImageSet
from softhash.errors import InputError, UsageError

HOME = "VOCdevkit/VOC2012"
ENTITIES = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;&b;&b;">]><annotation>&c;</annotation>'
EXTERNAL = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><annotation>&b;</annotation>'


def find_labels(images: ImageSet) -> list[set[str]]:
    return [{images.classes[i] for i in row.nonzero()[0]} for row in images.labels]


@pytest.mark.parametrize("inside", ["", "VOCdevkit", HOME])
def test_voc_may_be_given_at_any_depth(tmp_path, inside):
    images = ImageSet.read(layouts.voc(tmp_path) / inside)
    assert images.root == tmp_path / HOME
    assert images.file_names[0] == "JPEGImages/2007_000027.jpg"
    assert images.classes == CLASSES
    assert find_labels(images) == [{"person"}, {"person", "tvmonitor"}, {"person", "train"}, set()]
    assert {name: part.tolist() for name, part in images.partition.items()} == {
        "train": [1],
        "val": [2],
        "trainval": [1, 2],
    }


def test_voc_drops_difficult_objects_on_request(tmp_path):
    layouts.voc(tmp_path)
    images = ImageSet.read(tmp_path, difficult="drop")
    assert find_labels(images) == [{"person"}, {"tvmonitor"}, {"person", "train"}, set()]


@pytest.mark.parametrize("difficult", ["keep", "drop"])
def test_voc_main_agrees_with_xml(tmp_path, difficult):
    layouts.voc(tmp_path)
    images = ImageSet.read(tmp_path, source="main", difficult=difficult)
    xml = ImageSet.read(tmp_path, difficult=difficult).select([1, 2])
    assert images.file_names == xml.file_names
    assert find_labels(images) == find_labels(xml)
    assert "2 pictures without annotation left out" in images.notes[0]


def test_voc_with_other_names_has_their_classes(tmp_path):
    layouts.voc(tmp_path)
    layouts.put(tmp_path / HOME / "Annotations/2009_000001.xml", layouts.voc_xml(("zebra", 0)))
    assert ImageSet.read(tmp_path).classes == ("person", "train", "tvmonitor", "zebra")


def test_voc_names_pictures_that_lack_files_or_annotations(tmp_path):
    home = layouts.voc(tmp_path) / HOME
    (home / "JPEGImages/2007_000027.jpg").unlink()
    (home / "Annotations/2008_000002.xml").unlink()
    images = ImageSet.read(tmp_path)
    assert images.missing == ("JPEGImages/2007_000027.jpg",)
    assert images.partition["trainval"].tolist() == [0]
    assert images.notes == (
        "1 pictures of train.txt have no annotation: 2008_000002",
        "1 pictures of trainval.txt have no annotation: 2008_000002",
        "1 pictures without annotation left out: 2008_000002",
    )


def test_voc_asks_which_year(tmp_path):
    layouts.voc(layouts.voc(tmp_path), 2007)
    with pytest.raises(UsageError, match=r"several years; give one of .*VOC2007, .*VOC2012"):
        ImageSet.read(tmp_path)


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<annotation>", "not the XML of VOC"),
        ("", "not the XML of VOC"),
        (ENTITIES, "not the XML of VOC: DTDForbidden"),
        (EXTERNAL, "not the XML of VOC: DTDForbidden"),
        ("<?xml version='1.0' encoding='x-none'?><annotation/>", "not the XML of VOC"),
        ("<annotation><object/></annotation>", "an object without a name"),
    ],
)
def test_voc_refuses_bad_and_hostile_xml(tmp_path, xml, message):
    layouts.voc(tmp_path)
    layouts.put(tmp_path / HOME / "Annotations/2008_000002.xml", xml)
    with pytest.raises(InputError, match=rf"2008_000002\.xml .*{message}|{message}"):
        ImageSet.read(tmp_path)


@pytest.mark.parametrize("line", ["2008_000002 5", "unknown 1", "2008_000002"])
def test_voc_main_refuses_lines_it_does_not_know(tmp_path, line):
    layouts.voc(tmp_path)
    layouts.put(tmp_path / HOME / "ImageSets/Main/dog_trainval.txt", f"{line}\n")
    with pytest.raises(InputError, match=r"dog_trainval\.txt line 1 .*1, 0 or -1"):
        ImageSet.read(tmp_path, source="main")
