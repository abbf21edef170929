"""Classes held out of training: who is where, what is judged, and what is refused."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from softhash.data.image_set import ImageSet
from softhash.data.splits.split import ROLES, Split, load_split
from softhash.errors import InputError, SofthashError, UsageError
from softhash.evaluation.evaluate import evaluate_codes
from softhash.experiments.feature_file import load_features, save_features
from softhash.experiments.inputs import arrange_inputs
from softhash.training.recipe import Recipe


def collection(labels: np.ndarray, root: Path | str = "photos") -> ImageSet:
    names = tuple(f"{i}.jpg" for i in range(len(labels)))
    return ImageSet(Path(root), names, labels, tuple(f"c{i}" for i in range(labels.shape[1])))


def one_label_each(pictures: int, classes: int) -> np.ndarray:
    return np.eye(classes, dtype=np.uint8)[np.arange(pictures) % classes]


def label_sets(images: ImageSet) -> dict[str, set[str]]:
    return {name: set(images.label_names(i)) for i, name in enumerate(images.file_names)}


@given(st.integers(0, 10_000), st.integers(2, 9), st.floats(0.05, 0.6), st.integers())
def test_parts_follow_from_the_labels_and_the_seed(chance, classes, share, seed):
    labels = (np.random.default_rng(chance).random((60, classes)) < 0.2).astype(np.uint8)
    labels[0] = 0
    images = collection(labels)
    given_labels = label_sets(images)
    present = sorted(set().union(*given_labels.values()))
    count = max(round(share * len(present)), 1)
    by_hash = sorted(present, key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).digest())
    unseen = set(by_hash[:count])
    train = {name for name, own in given_labels.items() if own and not own & unseen}
    judged = {name for name, own in given_labels.items() if own & unseen}
    assume(count < len(present) and train and len(judged) > 1)

    split = images.split("unseen-classes", seed=seed, share=share)
    assert set(split.unseen) == unseen
    assert set(split.members["train"]) == train
    assert set(split.members["query"]) | set(split.members["database"]) == judged
    assert len(split.members["query"]) == max(len(judged) // 4, 1)
    for part in (split.query, split.database):
        for name, own in label_sets(part).items():
            assert own == given_labels[name] & unseen
    assert all(own == given_labels[name] for name, own in label_sets(split.train).items())


def test_relevance_is_by_unseen_classes_alone():
    # Both queries share c0 with every item; only the unseen c1 counts.
    labels = np.array([[1, 0, 0]] * 8 + [[1, 1, 0]] * 6 + [[1, 0, 1]] * 6, dtype=np.uint8)
    split = collection(labels).split("unseen-classes", unseen=["c1", "c2"], query=4)
    codes = [np.zeros((len(part), 1), np.uint8) for part in (split.query, split.database)]
    report = evaluate_codes(*codes, split.query.labels, split.database.labels, bits=8, at=["all"])
    has_c1 = [{"c1"} == own for own in label_sets(split.query).values()]
    items = [{"c1"} == own for own in label_sets(split.database).values()]
    expected = np.mean([np.mean([q == i for i in items]) for q in has_c1])
    assert 0 < expected < 1
    assert report.metrics["precision@all"] == pytest.approx(expected)


def test_the_train_set_in_the_database_is_never_relevant():
    images = collection(one_label_each(200, 8))
    split = images.split("unseen-classes", train_in_database=True)
    assert set(split.members["train"]) <= set(split.members["database"])
    shared = split.query.labels.astype(int) @ split.database.labels.T.astype(int)
    from_train = np.isin(split.positions["database"], split.positions["train"])
    assert shared[:, ~from_train].any()
    assert not shared[:, from_train].any()


def test_there_are_1000_queries_or_a_quarter_of_the_pictures():
    sizes = []
    for pictures, options in ((20_000, {}), (1_200, {}), (1_200, {"query": 7})):
        split = collection(one_label_each(pictures, 4)).split("unseen-classes", **options)
        sizes.append(tuple(len(split.positions[role]) for role in ROLES))
    assert sizes == [(15_000, 1_000, 4_000), (900, 75, 225), (900, 7, 293)]


def test_the_same_seed_draws_the_same_split_in_any_reading_order():
    images = collection((np.arange(400 * 9).reshape(400, 9) % 11 < 2).astype(np.uint8))
    turned = images.select(np.random.default_rng(0).permutation(400))
    a, b = (some.split("unseen-classes", seed=5) for some in (images, turned))
    assert (a.sha256, a.unseen) == (b.sha256, b.unseen)
    assert a.members == b.members
    hashes = {images.split("unseen-classes", seed=seed).sha256 for seed in range(8)}
    assert len(hashes) == 8


def test_sha256_covers_the_classes_that_are_judged_by():
    images = collection(one_label_each(80, 4))
    split = images.split("unseen-classes")
    lines = [f"{name}\0{role}\n" for role in ROLES for name in split.members[role]]
    lines += [f"{name}\0unseen\n" for name in split.unseen]
    assert split.sha256 == hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()
    assert Split(images, "mine", 0, split.positions).sha256 != split.sha256


def test_copies_of_queries_are_not_trained_on(tmp_path):
    images = collection(one_label_each(80, 4), tmp_path)
    for i in range(80):
        (tmp_path / f"{i}.jpg").write_bytes(b"%d" % (i // 4))  # one copy in each class
    split = images.split("unseen-classes")
    content = {role: {int(n.split(".")[0]) // 4 for n in split.members[role]} for role in ROLES}
    assert content["query"].isdisjoint(content["train"] | content["database"])
    assert len(content["query"]) == 5
    assert "15 byte-identical copies of queries" in " ".join(split.notes)


def test_notes_name_the_classes_and_count_pictures_without_labels():
    labels = one_label_each(80, 4)
    labels[:3] = 0
    split = collection(labels).split("unseen-classes", unseen=["c2"])
    assert split.notes[:2] == (
        "1 of 4 classes are unseen: c2",
        "3 pictures without labels are left out",
    )
    assert not set(split.images.file_names[:3]) & set().union(*split.members.values())


def test_a_saved_split_is_judged_by_the_same_classes_when_it_comes_back(tmp_path):
    labels = (np.random.default_rng(3).random((90, 6)) < 0.25).astype(np.uint8)
    images = collection(labels)
    split = images.split("unseen-classes", seed=2, share=0.4, query=6)
    path = split.save(tmp_path / "split.json")
    for again in (
        load_split(path, images),
        load_split(path, split.images),
        images.split("unseen-classes", seed=2, **split.options),
    ):
        assert (again.sha256, again.unseen, again.options) == (
            split.sha256, split.unseen, split.options,
        )  # fmt: skip
        for ours, theirs in zip(split, again, strict=True):
            assert ours.file_names == theirs.file_names
            assert np.array_equal(ours.labels, theirs.labels)
    assert not np.array_equal(split.images.labels, images.labels)


@pytest.mark.parametrize(
    ("unseen", "message"),
    [
        (["c1", "c2"], "changed after it was saved"),
        ([], "changed after it was saved"),
        ("c1", "unseen is not a list of class names"),
        ([1], "unseen is not a list of class names"),
    ],
)
def test_load_refuses_changed_classes(tmp_path, unseen, message):
    images = collection(one_label_each(80, 4))
    path = images.split("unseen-classes", unseen=["c1"]).save(tmp_path / "split.json")
    content = json.loads(path.read_text())
    content["options"]["unseen"] = unseen
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message):
        load_split(path, images)


def test_load_refuses_a_collection_without_the_unseen_classes(tmp_path):
    images = collection(one_label_each(80, 4))
    path = images.split("unseen-classes", unseen=["c1"]).save(tmp_path / "split.json")
    other = ImageSet(images.root, images.file_names, images.labels, ("a", "b", "c", "d"))
    with pytest.raises(InputError, match=r"names unseen classes .* lacks: c1"):
        load_split(path, other)


def test_a_file_of_features_keeps_what_is_judged(tmp_path):
    labels = (np.random.default_rng(4).random((90, 6)) < 0.25).astype(np.uint8)
    split = collection(labels).split("unseen-classes")
    inputs = arrange_inputs(torch.rand(90, 3), np.arange(90), split)
    save_features(inputs, Recipe(), tmp_path / "features.npz")
    again = load_features(tmp_path / "features.npz").inputs
    assert again.split.sha256 == split.sha256
    assert again.split.unseen == split.unseen
    assert torch.equal(again.labels, inputs.labels)


def test_validation_is_by_the_classes_of_the_train_set():
    split = collection(one_label_each(200, 4)).split("unseen-classes")
    inner = split.validation()
    assert inner.unseen == ()
    assert not {name for own in label_sets(inner.database).values() for name in own} & {
        *split.unseen
    }


@pytest.mark.parametrize(
    ("classes", "options", "message"),
    [
        (1, {}, "needs 2 classes or more, and pictures here have 1; use 'random'"),
        (4, {"share": 0.9}, r"share=0\.9 of 4 classes leaves none to train on"),
        (4, {"unseen": ["c0", "c1", "c2", "c3"]}, "all 80 pictures .* nothing to train on"),
        (4, {"unseen": ["c8"]}, "unknown class 'c8'"),
        (4, {"unseen": "c1"}, "unseen is 'c1'; give a list of class names"),
        (4, {"unseen": []}, r"unseen is \[\]; give a list of class names"),
        (4, {"query": 20}, "query=20 leaves no database of 20 pictures"),
        (4, {"share": 0}, "share is 0; give a number between 0 and 1"),
        (4, {"share": 1.0}, r"share is 1\.0; give"),
        (4, {"share": True}, "share is True; give"),
        (4, {"share": float("nan")}, "share is nan; give"),
        (4, {"share": "half"}, "share is 'half'; give"),
        (4, {"train": 5}, "unknown option of protocol 'unseen-classes' 'train'"),
    ],
)
def test_unseen_classes_refuses_what_does_not_fit(classes, options, message):
    with pytest.raises(UsageError, match=message):
        collection(one_label_each(80, classes)).split("unseen-classes", **options)


def test_a_collection_without_labels_has_no_classes_to_hold_out():
    with pytest.raises(SofthashError, match="pictures here have 0"):
        collection(np.zeros((9, 3), np.uint8)).split("unseen-classes")
