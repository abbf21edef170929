"""COCO: both years, one file, references that lead nowhere."""

import json

import layouts
import pytest

from softhash.data.image_set import ImageSet
from softhash.errors import InputError, UsageError


@pytest.mark.parametrize("year", [2014, 2017])
def test_coco_reads_both_parts(tmp_path, year):
    images = ImageSet.read(layouts.coco(tmp_path, year))
    assert images.classes == ("person", "dog")
    assert images.file_names[0] == f"train{year}/train-0.jpg"
    assert images.labels.tolist() == [[1, 1], [0, 0], [0, 1], [0, 0]]
    assert images.partition["train"].tolist() == [0, 1]
    assert images.partition["val"].tolist() == [2, 3]


def test_coco_asks_which_year(tmp_path):
    layouts.coco(layouts.coco(tmp_path, 2014), 2017)
    with pytest.raises(UsageError, match="both years; choose year=2014 or year=2017"):
        ImageSet.read(tmp_path)
    assert ImageSet.read(tmp_path, year=2014).file_names[0] == "train2014/train-0.jpg"
    with pytest.raises(UsageError, match="unknown year '2015'"):
        ImageSet.read(tmp_path, year=2015)


@pytest.mark.parametrize("place", ["", "images", "images/val2017"])
def test_coco_reads_one_file_and_finds_its_pictures(tmp_path, place):
    layouts.jpeg(tmp_path / place / "x.jpg")
    path = tmp_path / "annotations/instances_val2017.json"
    layouts.put(path, json.dumps(layouts.instances(["x.jpg"], [(0, 18)])))
    images = ImageSet.read(path)
    assert images.path(0) == tmp_path / place / "x.jpg"
    assert images.labels.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"annotations": [{"image_id": 99, "category_id": 1}] * 7},
            "7 annotations .* images .* ids 99$",
        ),
        (
            {"annotations": [{"image_id": 10, "category_id": 5}]},
            "1 annotations .* categories .* ids 5$",
        ),
        ({"annotations": [{"image_id": "10", "category_id": 5}]}, "image_id is not of type int"),
        ({"images": None}, "no list 'images'"),
        ({"images": [{"id": 1}]}, "file_name is not of type str"),
        ({"categories": [3]}, "id is not of type int"),
        ({"images": [{"id": 10, "file_name": "../x.jpg"}]}, "leads out"),
    ],
)
def test_coco_says_what_is_wrong(tmp_path, change, message):
    layouts.coco(tmp_path)
    path = tmp_path / "annotations/instances_val2017.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=message):
        ImageSet.read(tmp_path)


def test_coco_refuses_what_is_no_json(tmp_path):
    layouts.coco(tmp_path)
    path = layouts.put(tmp_path / "annotations/instances_val2017.json", '{"images": [}')
    with pytest.raises(InputError, match=r"val2017\.json is not JSON: .* line 1 column 13"):
        ImageSet.read(path)
    path.write_text("[]")
    with pytest.raises(InputError, match="no list 'categories'"):
        ImageSet.read(path, format="coco")


def test_coco_parts_must_agree_on_the_categories(tmp_path):
    layouts.coco(tmp_path)
    path = tmp_path / "annotations/instances_val2017.json"
    path.write_text(path.read_text().replace("dog", "cat"))
    with pytest.raises(InputError, match="other categories"):
        ImageSet.read(tmp_path)
