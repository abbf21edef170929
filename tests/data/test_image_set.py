"""ImageSet: what it checks, selects, saves and says."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from softhash.data.image_set import ImageSet
from softhash.errors import InputError, UsageError

LABELS = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0]], np.uint8)


@pytest.fixture
def images(tmp_path) -> ImageSet:
    names = ("a.jpg", "sub/b, 2.jpg", "c.jpg", 'd"é.jpg')
    (tmp_path / "set/sub").mkdir(parents=True)
    for i, name in enumerate(names):
        Image.new("RGB", (20, 10), (i, 0, 0)).save(tmp_path / "set" / name)
    return ImageSet(
        tmp_path / "set",
        names,
        LABELS,
        ("sky", "a;b", "never"),
        partition={"train": np.array([3, 0]), "all": np.arange(4)},
    )


def assert_same(a: ImageSet, b: ImageSet) -> None:
    assert a.file_names == b.file_names
    assert a.classes == b.classes
    assert a.labels.tolist() == b.labels.tolist()
    assert (a.partition is None) == (b.partition is None)
    for name, part in (a.partition or {}).items():
        assert sorted(part.tolist()) == sorted(b.partition[name].tolist())


def test_image_set_opens_pictures_and_says_what_it_is(images):
    assert len(images) == 4
    assert images.open(1, size=(5, 6)).size == (6, 5)  # Pillow has the width first
    assert images.label_names(0) == ("sky", "a;b")
    assert images.label_names(2) == ()
    assert images.path(1).name == "b, 2.jpg"
    assert images.without_labels.tolist() == [False, False, True, False]
    assert repr(images).startswith("ImageSet(4 images, 3 classes, 1.00 labels per image, 1 without")


def test_select_takes_positions_and_masks(images):
    chosen = images.select([3, 1])
    assert chosen.file_names == ('d"é.jpg', "sub/b, 2.jpg")
    assert chosen.labels.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert chosen.partition["train"].tolist() == [0]
    assert chosen.partition["all"].tolist() == [0, 1]
    assert images.select(~images.without_labels).file_names[-1] == 'd"é.jpg'
    assert len(images.select([])) == 0
    assert images.select(images.partition["train"]).file_names == ('d"é.jpg', "a.jpg")


@pytest.mark.parametrize("which", [[4], [-1], np.array([True])])
def test_select_refuses_what_is_outside(images, which):
    with pytest.raises(InputError, match=r"position|mask"):
        images.select(which)


@pytest.mark.parametrize("where", ["", "metadata.csv", "mine.csv", "../above.csv"])
def test_save_and_read_give_the_same_set(images, where):
    path = images.save(images.root / where)
    again = ImageSet.read(path)
    if where.startswith(".."):
        assert again.file_names[0] == "set/a.jpg"
        again = ImageSet(**{**vars(again), "file_names": images.file_names})
    assert_same(images, again)


def test_save_as_jsonl_keeps_what_pictures_have(images):
    again = ImageSet.read(images.save(images.root / "metadata.jsonl"))
    assert again.classes == ("a;b", "sky")
    assert again.labels.tolist() == LABELS[:, [1, 0]].tolist()
    assert_same(ImageSet.read(again.save(again.root / "twice.jsonl")), again)


def test_save_overwrites_only_with_force_and_leaves_nothing_half_done(images, monkeypatch):
    path = images.save(images.root)
    before = path.read_bytes()
    with pytest.raises(InputError, match="force"):
        images.save(images.root)
    assert images.select([0]).save(images.root, force=True) == path
    assert path.read_bytes() != before
    content = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(InputError, match="No space left"):
        images.save(images.root, force=True)
    assert path.read_bytes() == content
    assert [p.name for p in images.root.iterdir() if "metadata" in p.name] == ["metadata.csv"]


def test_save_refuses_places_from_which_the_pictures_cannot_be_named(images, tmp_path):
    (tmp_path / "other").mkdir()
    with pytest.raises(UsageError, match="cannot name pictures in"):
        images.save(tmp_path / "other")
    odd = ImageSet(images.root, ("a.jpg",), np.ones((1, 1)), ("labels",))
    with pytest.raises(UsageError, match=r"save to a \.jsonl"):
        odd.save(images.root)
    assert ImageSet.read(odd.save(images.root / "x.jsonl")).classes == ("labels",)


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        (np.zeros((2, 2)), ("x", "y"), r"the shape \(2, 2\)"),
        (np.full((1, 2), 2), ("x", "y"), "other values than 0 and 1"),
        (np.zeros((1, 2)), ("x", "x"), "named twice: x"),
        (np.zeros((1, 2)), ("x", "\ud800"), "not text: '.ud800'"),
        (np.zeros((1, 2)), ("x", "y\0"), "not text: 'y.x00'"),
    ],
)
def test_image_set_refuses_labels_that_do_not_fit(labels, classes, message):
    with pytest.raises(InputError, match=message):
        ImageSet(Path(), ("a.jpg",), labels, classes)
