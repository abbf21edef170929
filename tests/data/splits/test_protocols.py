"""Every protocol: counts, quotas, disjoint parts, what is left out, and what is refused."""

import hashlib
import lzma
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softhash.data.image_set import ImageSet
from softhash.data.splits import PROTOCOLS, describe, list_options
from softhash.data.splits.split import ROLES, Split
from softhash.errors import InputError, UsageError

DATA = Path(os.environ.get("SOFTHASH_TEST_DATA", ""))
with_data = pytest.mark.skipif(
    "SOFTHASH_TEST_DATA" not in os.environ, reason="SOFTHASH_TEST_DATA is not set"
)


def collection(labels: np.ndarray, root: Path | str = "photos", **partition: list[int]) -> ImageSet:
    names = tuple(f"{i}.jpg" for i in range(len(labels)))
    classes = tuple(f"c{i}" for i in range(labels.shape[1]))
    parts = {name: np.array(part, dtype=np.int64) for name, part in partition.items()}
    return ImageSet(Path(root), names, labels, classes, partition=parts or None)


def members(split: Split) -> dict[str, set[int]]:
    return {role: set(split.positions[role].tolist()) for role in ROLES}


def sizes(split: Split) -> tuple[int, ...]:
    return tuple(len(split.positions[role]) for role in ROLES)


ONES = np.ones((100, 1), np.uint8)


def drawn_labels(seed: int, rows: int, columns: int) -> np.ndarray:
    """About half of the labels, and none in the first row."""
    labels = np.random.default_rng(seed).integers(0, 2, (rows, columns), dtype=np.uint8)
    labels[0] = 0
    return labels


SEEDS = st.integers(0, 10_000)


@given(SEEDS, st.integers(1, 6), st.integers(0, 9), st.integers(), st.booleans())
def test_random_takes_the_first_of_the_seeded_order(chance, query, train, seed, in_database):
    labels = drawn_labels(chance, 40, 2)
    images = collection(labels)
    key = {i: hashlib.sha256(f"{seed}:{i}.jpg".encode()).hexdigest() for i in range(len(labels))}
    usable = sorted((i for i in key if labels[i].any()), key=key.__getitem__)
    split = images.split(
        "random", seed=seed, query=query, train=train, train_in_database=in_database
    )
    assert split.positions["query"].tolist() == usable[:query]
    assert split.positions["train"].tolist() == usable[query : query + train]
    out = set(usable[:query] if in_database else usable[: query + train])
    assert split.positions["database"].tolist() == sorted(set(key) - out, key=key.__getitem__)


def test_random_takes_shares_of_a_small_collection_and_says_so():
    split = collection(np.ones((3000, 1), np.uint8)).split()
    assert sizes(split) == (1200, 300, 1500)
    assert "3,000 pictures with labels are fewer than twice 1,000 queries" in split.notes[0]
    assert sizes(collection(np.ones((9_999, 1), np.uint8)).split()) == (3999, 999, 5001)
    large = collection(np.ones((10_000, 1), np.uint8)).split()
    assert sizes(large) == (4000, 1000, 5000)
    assert not any("fewer" in note for note in large.notes)
    assert sizes(collection(ONES).split(query=50)) == (40, 50, 10)
    assert sizes(collection(ONES).split(query=5, train=0)) == (0, 5, 95)


def test_pictures_without_labels_stay_in_the_database_and_are_counted_once():
    labels = np.repeat(ONES, 2, axis=1)
    labels[::4] = 0
    for protocol in ("random", "per-class"):
        split = collection(labels).split(protocol, query=10, train=20)
        assert set(range(0, 100, 4)) <= members(split)["database"]
        assert [note for note in split.notes if "without labels" in note] == [
            "25 pictures without labels are left out of train and query; in the database they are "
            "never relevant"
        ]


@pytest.mark.parametrize("in_database", [False, True])
def test_copies_of_queries_are_in_no_other_part(tmp_path, in_database):
    lists = {"train": list(range(20)), "test": list(range(20, 40))}
    images = collection(ONES[:60], tmp_path, **lists)
    for i in range(60):
        (tmp_path / f"{i}.jpg").write_bytes(b"%d" % (i % 30))
    counted = {"query": 12, "train": 20}
    for protocol, counts in (("random", counted), ("per-class", counted), ("given", {})):
        split = images.split(protocol, **counts, train_in_database=in_database)
        parts = members(split)
        content = {role: {i % 30 for i in parts[role]} for role in ROLES}
        assert content["query"].isdisjoint(content["train"] | content["database"])
        copies = {i for i in range(60) if i % 30 in content["query"]} - parts["query"]
        assert f"{len(copies)} byte-identical copies of queries are left out" in " ".join(
            split.notes
        )
        if protocol != "given":
            assert sizes(split)[:2] == (20, 12)
            assert copies | parts["train"] | parts["query"] | parts["database"] == set(range(60))
    with pytest.raises(UsageError, match="nor copies of queries; lower it"):
        images.split("random", query=20, train=40)


def test_copies_that_could_not_be_looked_for_are_said():
    assert "100 files are empty or not on disk" in collection(ONES).split().notes[-1]


@given(SEEDS, st.integers(1, 3), st.integers(0, 5), st.integers(0, 50), st.booleans())
def test_per_class_meets_its_quotas(chance, query, train, seed, once):
    labels = drawn_labels(chance, 90, 3)
    images = collection(labels)
    split = images.split("per-class", seed=seed, query=query, train=train, count_once=once)
    parts = members(split)
    assert sum(map(len, parts.values())) == len(set().union(*parts.values())) == 90
    for part, count in ((split.query, query), (split.train, train)):
        assert (part.labels.sum(axis=0) >= count).all()
        assert not part.without_labels.any()
        if once:
            assert len(part) == 3 * count


def test_per_class_names_the_classes_that_have_too_few():
    labels = np.zeros((30, 3), np.uint8)
    labels[:, 0] = 1
    labels[:4, 1] = 1
    with pytest.raises(UsageError, match=r"query=5 pictures .* of 1 classes: c1 \(4\); lower"):
        collection(labels).split("per-class", query=5, train=5)
    with pytest.raises(UsageError, match=r"train=5 pictures .* of 1 classes: c1 \(2\)"):
        collection(labels).split("per-class", query=2, train=5)
    split = collection(labels).split("per-class", query=2, train=2)
    assert split.notes[0] == "1 classes that no picture has: c2"
    with pytest.raises(UsageError, match="for 21 classes, and here are 3; use 'per-class'"):
        collection(labels).split("nuswide21")
    with pytest.raises(UsageError, match="no picture has a label"):
        collection(labels * 0).split("per-class")


def test_pictures_without_any_label_are_met_with_the_way_out():
    with pytest.raises(UsageError, match=r"none of the 100 pictures has a label.*metadata\.csv"):
        collection(ONES * 0).split("random")


def test_nuswide21_draws_2100_queries_and_10500_to_train():
    rng = np.random.default_rng(0)
    labels = (rng.random((30_000, 21)) < 0.1).astype(np.uint8)
    split = collection(labels).split("nuswide21")
    assert sizes(split)[:2] == (10_500, 2_100)
    for part, count in ((split.query, 100), (split.train, 500)):
        assert (part.labels.sum(axis=0) >= count).all()


def test_voc_main_stays_within_trainval():
    images = collection(ONES, trainval=list(range(50)), train=[0], val=[1])
    split = images.split("voc-main", query=5, train=20)
    assert sizes(split) == (20, 5, 25)
    assert set().union(*members(split).values()) == set(range(50))
    assert split.notes[0] == "50 pictures outside ImageSets/Main/trainval.txt are left out"
    with pytest.raises(UsageError, match="use 'random'"):
        collection(ONES).split("voc-main")


def test_given_follows_the_lists_in_their_order():
    images = collection(ONES, train=[9, 1, 5], test=[3, 2], database=[8, 7, 9])
    split = images.split("given")
    assert [split.positions[role].tolist() for role in ROLES] == [[9, 1, 5], [3, 2], [8, 7, 9]]
    assert "1 train pictures are in the database" in split.notes[0]
    added = images.split("given", train_in_database=True)
    assert members(added)["database"] == {1, 5, 7, 8, 9}


@pytest.mark.parametrize(
    ("lists", "expected", "note"),
    [
        ({"train": [0, 1], "query": [2]}, ({0, 1}, {2}, {3, 4, 5}), ""),
        ({"train": [0, 1], "val": [2]}, ({0, 1}, {2}, {3, 4, 5}), ""),
        ({"train": [0, 1], "val": [3], "test": [2]}, ({0, 1}, {2}, {4, 5}), "1 pictures of val"),
        ({"train": [0], "val": [3], "trainval": [0, 3], "test": [2]}, ({0, 3}, {2}, {1, 4, 5}), ""),
        ({"train": [0], "val": [3], "trainval": [0, 3]}, ({0}, {3}, {1, 2, 4, 5}), ""),
        ({"train": [0, 1, 2, 3], "test": [4, 5]}, ({0, 1, 2, 3}, {4, 5}, {0, 1, 2, 3}), "is the"),
        ({"train": [0, 1, 2], "test": [2, 3]}, ({0, 1}, {2, 3}, {4, 5}), "1 queries are listed"),
    ],
)  # fmt: skip
def test_given_finds_a_database_where_none_is_listed(lists, expected, note):
    split = collection(ONES[:6], **lists).split("given")
    assert tuple(members(split).values()) == expected
    assert note in split.notes[0]
    assert len(split.notes) == 1 + bool(note)


def test_given_moves_pictures_without_labels_into_the_database():
    labels = ONES[:6].copy()
    labels[[0, 3]] = 0
    split = collection(labels, train=[0, 1, 2], test=[3, 4, 5]).split("given")
    assert members(split) == {"train": {1, 2}, "query": {4, 5}, "database": {0, 1, 2, 3}}


def test_same_split_in_any_reading_order():
    labels = (np.arange(400 * 3).reshape(400, 3) % 7 < 3).astype(np.uint8)
    images = collection(labels, train=list(range(50)), test=list(range(50, 70)))
    turned = images.select(np.random.default_rng(0).permutation(400))
    quota = {"query": 9, "train": 40}
    for protocol, counts in (("random", {}), ("per-class", quota), ("given", {})):
        a, b = (some.split(protocol, seed=5, **counts) for some in (images, turned))
        assert a.sha256 == b.sha256
        assert a.members["database"] == b.members["database"]


def test_protocols_describe_themselves():
    assert list(PROTOCOLS) == [
        "random", "nuswide21", "per-class", "voc-main", "voc-val", "unseen-classes", "given",
    ]  # fmt: skip
    assert describe() == PROTOCOLS
    assert all(line.endswith(".") and len(line) < 100 for line in PROTOCOLS.values())
    assert list_options("given") == list_options("voc-val") == ("train_in_database",)
    assert list_options("unseen-classes") == ("share", "unseen", "query", "train_in_database")


@pytest.mark.parametrize(
    ("protocol", "options", "message"),
    [
        ("randm", {}, "unknown protocol 'randm'; did you mean 'random'"),
        ("random", {"querry": 5}, "option of protocol 'random' 'querry'; did you mean 'query'"),
        ("nuswide21", {"query": 5}, "unknown option of protocol 'nuswide21' 'query'"),
        ("random", {"query": -5}, "query is -5; give at least 1"),
        ("random", {"query": 0}, "query is 0; give at least 1"),
        ("random", {"train": -1}, "train is -1; give at least 0"),
        ("random", {"train": 2.5}, r"train is 2\.5; give a whole number"),
        ("random", {"train": True}, "train is True; give a whole number"),
        ("random", {"train_in_database": 1}, "train_in_database is 1; give True or False"),
        ("random", {"query": 60, "train": 41}, "query=60 and train=41 do not fit 100 pictures"),
        ("random", {"query": 60, "train": 40}, "leaves no picture for the database"),
        ("random", {"seed": "0"}, "seed is '0'; give a whole number"),
        ("random", {"seed": 1.0}, r"seed is 1\.0; give a whole number"),
        ("given", {}, "this collection has no lists of its own; use 'random'"),
    ],
)  # fmt: skip
def test_split_refuses_what_does_not_fit(protocol, options, message):
    with pytest.raises(UsageError, match=message):
        collection(ONES).split(protocol, **options)


def test_split_refuses_lists_and_names_it_cannot_use():
    with pytest.raises(UsageError, match="has only train, other"):
        collection(ONES, train=[0], other=[1]).split("given")
    with pytest.raises(UsageError, match="needs a list 'train' with labelled pictures"):
        collection(ONES, test=[0]).split("given")
    twice = ImageSet(Path(), ("a.jpg", "a.jpg"), ONES[:2], ("sky",))
    with pytest.raises(InputError, match=r"listed twice: a\.jpg"):
        twice.split()


def test_split_takes_numpy_numbers(tmp_path):
    split = collection(ONES).split(query=np.int64(5), train=np.uint8(7), seed=np.int32(2))
    assert (split.seed, split.options["query"]) == (2, 5)
    assert split.save(tmp_path / "split.json").exists()


@with_data
@pytest.mark.parametrize("seed", range(5))
def test_nuswide21_reaches_its_quotas_on_the_published_labels(seed):
    text = b"".join(
        lzma.decompress((DATA / f"labels/nuswide_21/{part}.txt.xz").read_bytes())
        for part in ("train", "test")
    )
    rows = [line.split() for line in text.decode().splitlines()]
    labels = np.array([row[1:] for row in rows]).astype(np.uint8)
    split = collection(labels).split("nuswide21", seed=seed, count_once=False)
    for part, count in ((split.query, 100), (split.train, 500)):
        reached = part.labels.sum(axis=0, dtype=int)
        assert reached.min() == count
        assert ((part.labels == 1) & (reached == count)).any(axis=1).all()
    assert sum(sizes(split)) == 12_600
    once = collection(labels).split("per-class", seed=seed, query=100, train=300, count_once=True)
    assert sizes(once) == (6_300, 2_100, 4_200)


@with_data
def test_voc2012_is_split_as_in_the_paper(tmp_path):
    with tarfile.open(DATA / "voc2012/annotations.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "JPEGImages").mkdir()
    for path in (tmp_path / "Annotations").iterdir():
        (tmp_path / "JPEGImages" / f"{path.stem}.jpg").touch()
    images = ImageSet.read(tmp_path)
    assert sizes(images.split("random")) == (4_000, 1_000, 12_125)
    assert images.split("random").sha256.startswith("3997765a63f0")
    assert sizes(images.split("random", train_in_database=True)) == (4_000, 1_000, 16_125)
    assert sizes(images.split("voc-main")) == (4_000, 1_000, 6_540)
    assert "18 pictures without labels" in " ".join(images.split("random").notes)
