"""A split unpacks, is known by its hash, and comes back from its file or not at all."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from softhash.data.image_set import ImageSet
from softhash.data.splits.split import ROLES, Split, load_split
from softhash.errors import InputError, UsageError

NAMES = tuple(f"sub/é {i}.jpg" for i in range(60))


@pytest.fixture
def images() -> ImageSet:
    return ImageSet(Path("photos"), NAMES, np.ones((60, 2)), ("sky", "sea"))


@pytest.fixture
def split(images) -> Split:
    return images.split("random", seed=3, query=10, train=20)


def test_split_unpacks_into_three_image_sets(split, images):
    train, query, database = split
    assert [len(part) for part in split] == [20, 10, 30]
    assert query.file_names == tuple(NAMES[i] for i in split.positions["query"])
    assert set(train.file_names + query.file_names + database.file_names) == set(NAMES)
    assert all(split.positions[role].dtype == np.int64 for role in ROLES)
    assert (split.protocol, split.seed) == ("random", 3)
    assert repr(split).startswith("Split(random, seed 3: 20 train, 10 query, 30 database; sha256 ")


def test_sha256_is_that_of_names_and_roles(split):
    lines = [f"{name}\0{role}\n" for role in ROLES for name in split.members[role]]
    assert split.sha256 == hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def test_sha256_depends_on_the_split_alone(split, images):
    elsewhere = ImageSet(Path("/other"), NAMES[::-1], images.labels, images.classes)
    again = elsewhere.split("random", seed=3, query=10, train=20)
    assert again.sha256 == split.sha256
    assert again.members == split.members
    hashes = {images.split("random", seed=seed, query=10, train=20).sha256 for seed in range(20)}
    assert len(hashes) == 20
    other = images.split("random", seed=3, query=10, train=20, train_in_database=True)
    assert other.sha256 != split.sha256


def test_save_and_load_give_the_same_split(split, images, tmp_path):
    path = split.save(tmp_path / "split.json")
    turned = images.select(np.arange(60)[::-1])
    for again in (load_split(path, turned), turned.split(path), turned.split(str(path), seed=9)):
        assert again.members == split.members
        assert again.sha256 == split.sha256
        assert (again.protocol, again.seed, again.notes) == ("random", 3, split.notes)
        assert again.options == {"query": 10, "train": 20, "train_in_database": False}
    same = images.split(again.protocol, seed=again.seed, **again.options)
    assert same.sha256 == split.sha256
    with pytest.raises(UsageError, match="takes no options, but 'query'"):
        images.split(path, query=5)


def test_save_overwrites_only_with_force(split, tmp_path):
    path = split.save(tmp_path / "split.json")
    with pytest.raises(InputError, match="force=True"):
        split.save(path)
    assert split.save(path, force=True) == path
    with pytest.raises(InputError, match="cannot write"):
        split.save(tmp_path / "no" / "split.json")
    assert [p.name for p in tmp_path.iterdir()] == ["split.json"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "other"}, "not a split that softhash saved"),
        ({"sha256": "0" * 64}, "changed after it was saved"),
        ({"query": []}, "changed after it was saved"),
        ({"query": None}, "has no query"),
        ({"train": [1]}, "train has something in it that is not a file name"),
        ({"seed": "x"}, "has no seed, or it is not of type int"),
    ],
)
def test_load_refuses_a_changed_file(split, images, tmp_path, change, message):
    path = split.save(tmp_path / "split.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=message):
        load_split(path, images)


@pytest.mark.parametrize(("text", "message"), [("[]", "not a split"), ("{", "not JSON")])
def test_load_refuses_what_is_no_split(images, tmp_path, text, message):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError, match=message):
        load_split(tmp_path / "x.json", images)
    with pytest.raises(InputError, match="cannot be read"):
        load_split(tmp_path / "none.json", images)


def test_load_refuses_another_collection(split, images, tmp_path):
    path = split.save(tmp_path / "split.json")
    with pytest.raises(InputError, match=r"names 2 files that the collection in photos lacks"):
        load_split(path, images.select(np.arange(58)))


@pytest.mark.parametrize(
    ("train", "database", "message"),
    [([0], [2], "queries are in train"), ([1], [0], "queries are in database"),
     ([1, 1], [2], "in train twice")],
)  # fmt: skip
def test_split_refuses_queries_in_other_parts(images, train, database, message):
    parts = {"query": np.array([0]), "train": np.array(train), "database": np.array(database)}
    with pytest.raises(InputError, match=message):
        Split(images, "mine", 0, parts)


@pytest.mark.parametrize("in_database", [False, True])
def test_validation_stays_within_the_train_set(images, in_database, tmp_path):
    split = images.split("random", query=10, train=30, train_in_database=in_database)
    inner = split.validation(seed=1)
    train, query, database = inner
    assert (len(train), len(query), len(database)) == (18, 6, 24 if in_database else 6)
    used = set(train.file_names + query.file_names + database.file_names)
    assert used == set(split.train.file_names)
    assert set(query.file_names).isdisjoint(train.file_names + database.file_names)
    assert inner.protocol == "validation"
    assert split.validation(seed=2).sha256 != inner.sha256 == split.validation(0.2, seed=1).sha256
    assert len(split.validation(count=14).query) == 14
    path = inner.save(tmp_path / "inner.json")
    assert load_split(path, images).sha256 == load_split(path, split.train).sha256 == inner.sha256


@pytest.mark.parametrize("wrong", [{"fraction": 0.5}, {"fraction": 0}, {"count": 15}, {"count": 0},
                                   {"count": 2.0}, {"seed": "x"}])  # fmt: skip
def test_validation_refuses_what_does_not_fit(images, wrong):
    with pytest.raises(UsageError, match=f"{next(iter(wrong))}|15 queries"):
        images.split("random", query=10, train=30).validation(**wrong)
