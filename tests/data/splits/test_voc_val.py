"""HyP²'s protocol of VOC2012: train is the database too, val the queries."""

import os
import tarfile
from pathlib import Path

import pytest

from softhash.data.image_set import ImageSet
from softhash.data.splits.split import ROLES
from softhash.errors import UsageError

DATA = Path(os.environ.get("SOFTHASH_TEST_DATA", ""))
with_data = pytest.mark.skipif(
    "SOFTHASH_TEST_DATA" not in os.environ, reason="SOFTHASH_TEST_DATA is not set"
)
OBJECTS = {
    "a": ["dog"],
    "b": ["dog", "person"],
    "c": [],
    "d": ["person"],
    "e": ["cat"],
    "f": [],
    "g": ["cow"],
}
LISTS = {"train": "bac", "val": "edf", "trainval": "abcdef"}


def lay_out(root: Path, objects: dict[str, list[str]], lists: dict[str, str]) -> Path:
    """Write a collection in VOC's layout; the second object of a picture is a difficult one."""
    for folder in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (root / folder).mkdir(parents=True)
    for stem, names in objects.items():
        things = "".join(
            f"<object><name>{name}</name><difficult>{int(i == 1)}</difficult></object>"
            for i, name in enumerate(names)
        )
        (root / "Annotations" / f"{stem}.xml").write_text(f"<annotation>{things}</annotation>")
        (root / "JPEGImages" / f"{stem}.jpg").write_bytes(stem.encode())
    for name, stems in lists.items():
        (root / "ImageSets" / "Main" / f"{name}.txt").write_text("\n".join(stems) + "\n")
    return root


def stems(split, role: str) -> str:
    return "".join(Path(name).stem for name in split.members[role])


def test_voc_val_has_the_train_list_as_train_set_and_as_database(tmp_path):
    split = ImageSet.read(lay_out(tmp_path, OBJECTS, LISTS)).split("voc-val")
    assert [stems(split, role) for role in ROLES] == ["ba", "ed", "bac"]
    assert split.notes == (
        "2 train pictures are the database too, as in HyP²",
        "2 pictures outside these two lists, or of val.txt without labels, are left out",
        "1 pictures without labels are left out of train and query; in the database they are "
        "never relevant",
    )
    assert split.query.label_names(1) == ("person",)
    assert split.train.label_names(0) == ("dog", "person")  # difficult objects count


def test_voc_val_does_not_depend_on_the_seed(tmp_path):
    images = ImageSet.read(lay_out(tmp_path, OBJECTS, LISTS))
    assert len({images.split("voc-val", seed=seed).sha256 for seed in range(5)}) == 1
    both = [images.split("voc-val", train_in_database=some) for some in (False, True)]
    assert both[0].sha256 == both[1].sha256


def test_a_picture_of_both_lists_is_a_query_alone(tmp_path):
    lists = LISTS | {"train": "bacd"}
    split = ImageSet.read(lay_out(tmp_path, OBJECTS, lists)).split("voc-val")
    assert [stems(split, role) for role in ROLES] == ["ba", "ed", "bac"]
    assert split.notes[1] == "1 pictures of train.txt are in val.txt too; they are queries alone"


def test_copies_of_queries_are_not_in_the_database_of_voc_val(tmp_path):
    lay_out(tmp_path, OBJECTS, LISTS)
    (tmp_path / "JPEGImages" / "a.jpg").write_bytes(b"e")
    split = ImageSet.read(tmp_path).split("voc-val")
    assert [stems(split, role) for role in ROLES] == ["b", "ed", "bc"]
    assert "1 byte-identical copies of queries are left out" in " ".join(split.notes)


def test_validation_of_voc_val_has_its_train_set_in_the_database_too(tmp_path):
    objects = {name: ["dog"] for name in "abcdefghijklmn"}
    lists = {"train": "abcdefghijkl", "val": "mn"}
    inner = ImageSet.read(lay_out(tmp_path, objects, lists)).split("voc-val").validation(count=2)
    assert [len(inner.positions[role]) for role in ROLES] == [8, 2, 10]
    assert set(inner.positions["train"]) <= set(inner.positions["database"])
    assert inner.options["train_in_database"] is True


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"train": "ab"}, r"needs ImageSets/Main/train\.txt and val\.txt; use 'given'"),
        ({"trainval": "ab"}, r"needs ImageSets/Main/train\.txt and val\.txt"),
        ({"train": "ab", "val": "cf"}, r"val\.txt names no picture with labels"),
        ({"train": "d", "val": "de"}, r"train\.txt names no picture with labels"),
    ],
)
def test_voc_val_refuses_collections_without_these_lists(tmp_path, lists, message):
    with pytest.raises(UsageError, match=message):
        ImageSet.read(lay_out(tmp_path, OBJECTS, lists)).split("voc-val")


@with_data
def test_voc2012_is_split_as_the_authors_of_hyp2_count_it(tmp_path):
    with tarfile.open(DATA / "voc2012/annotations.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "JPEGImages").mkdir()
    for path in (tmp_path / "Annotations").iterdir():
        (tmp_path / "JPEGImages" / f"{path.stem}.jpg").touch()
    main = tmp_path / "ImageSets" / "Main"
    listed = {name: (main / f"{name}.txt").read_text().split() for name in ("train", "val")}
    assert [len(part) for part in listed.values()] == [5_717, 5_823]
    split = ImageSet.read(tmp_path).split("voc-val")
    assert [len(split.positions[role]) for role in ROLES] == [5_715, 5_821, 5_717]
    assert [Path(name).stem for name in split.members["database"]] == listed["train"]
    objects = {
        stem: (tmp_path / "Annotations" / f"{stem}.xml").read_text().count("<object>")
        for stem in (*listed["train"], *listed["val"])
    }
    bare = {stem for stem, count in objects.items() if not count}
    assert len(bare) == 4  # two of each list: nothing can be relevant to them
    queries = {Path(name).stem for name in split.members["query"]}
    assert queries == set(listed["val"]) - bare
    assert split.database.without_labels.sum() == 2
