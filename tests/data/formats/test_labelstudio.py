"""Label Studio's exports."""

import json

import layouts
import pytest

from softhash.data.image_set import ImageSet
from softhash.errors import InputError


def find_labels(images: ImageSet) -> dict[str, set[str]]:
    rows = zip(images.file_names, images.labels, strict=True)
    return {name: {images.classes[i] for i in row.nonzero()[0]} for name, row in rows}


def test_labelstudio_reads_choices_regions_and_taxonomies(tmp_path):
    images = ImageSet.read(layouts.labelstudio(tmp_path))
    assert find_labels(images) == {
        "cat.jpg": {"indoor", "cat"},
        "photos/my dog.jpg": {"animal", "dog"},
        "images/none.jpg": set(),
    }


@pytest.mark.parametrize("kind", ["polygon", "brush", "keypoint", "ellipse", "rectangle"])
def test_labelstudio_reads_each_kind_of_region(tmp_path, kind):
    layouts.jpeg(tmp_path / "a.jpg")
    region = {"type": f"{kind}labels", "value": {f"{kind}labels": ["x", "y"], "points": [[1, 2]]}}
    task = {"data": {"photo": "https://host/p/a.jpg?w=3"}, "annotations": [{"result": [region]}]}
    path = layouts.put(tmp_path / "project-1-at-2024.json", json.dumps([task]))
    assert find_labels(ImageSet.read(path)) == {"a.jpg": {"x", "y"}}


def test_labelstudio_reads_json_min(tmp_path):
    layouts.jpeg(*(tmp_path / f"{name}.jpg" for name in "abc"))
    rows = [
        {"image": "/data/upload/9/a.jpg", "choice": "sky", "id": 1, "annotator": 1, "text": "no"},
        {"image": "/data/upload/9/b.jpg", "choice": {"choices": ["sky", "sea"]}},
        {"image": "/data/upload/9/c.jpg", "label": [{"x": 1, "rectanglelabels": ["boat"]}]},
    ]
    path = layouts.put(tmp_path / "min.json", json.dumps(rows))
    expected = {"a.jpg": {"sky"}, "b.jpg": {"sky", "sea"}, "c.jpg": {"boat"}}
    assert find_labels(ImageSet.read(path)) == expected


def test_labelstudio_names_missing_pictures(tmp_path):
    layouts.labelstudio(tmp_path)
    (tmp_path / "cat.jpg").unlink()
    assert ImageSet.read(tmp_path).missing == ("3f2a9c01-cat.jpg",)


def test_labelstudio_takes_the_key_of_the_picture(tmp_path):
    layouts.jpeg(tmp_path / "a.jpg", tmp_path / "b.jpg")
    path = layouts.put(
        tmp_path / "x.json", json.dumps([{"data": {"left": "a.jpg", "right": "b.jpg"}}])
    )
    assert ImageSet.read(path).file_names == ("a.jpg",)
    assert ImageSet.read(path, key="right").file_names == ("b.jpg",)
    with pytest.raises(InputError, match="task 0 has no 'up'"):
        ImageSet.read(path, key="up")


@pytest.mark.parametrize("depth", [300, 700, 850, 900, 950, 5000])
def test_labelstudio_survives_nesting(tmp_path, depth):
    layouts.jpeg(tmp_path / "a.jpg")
    nested = "[" * depth + '"x"' + "]" * depth
    path = layouts.put(tmp_path / "x.json", f'[{{"image": "a.jpg", "taxonomy": {nested}}}]')
    try:
        assert ImageSet.read(path).classes == ("x",)
    except InputError:
        assert depth > 300


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "not a list of tasks"),
        ("[1]", "not a list of tasks"),
        ("[", "not JSON"),
        ("[{}]", "no 'image'"),
        ('[{"data": {"image": "/data/local-files/?d=../../etc/x.jpg"}}]', "leads out"),
        ('[{"data": {"image": "http://[bad"}}]', "none of the 1 images"),
        ("[]", "they name none"),
    ],
)
def test_labelstudio_says_what_is_wrong(tmp_path, content, message):
    layouts.put(tmp_path / "tasks.json", content)
    with pytest.raises(InputError, match=message):
        ImageSet.read(tmp_path, format="labelstudio")
