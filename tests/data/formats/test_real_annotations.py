"""The published annotations, to the last picture; SOFTHASH_TEST_DATA says where they lie."""

import lzma
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest

from softhash.data.decoding import open_image
from softhash.data.formats._matlab import read_matrices
from softhash.data.image_set import ImageSet

DATA = Path(os.environ.get("SOFTHASH_TEST_DATA", ""))
pytestmark = pytest.mark.skipif(
    "SOFTHASH_TEST_DATA" not in os.environ, reason="SOFTHASH_TEST_DATA is not set"
)


def touch(root: Path, names: list[str]) -> None:
    """Make empty files, which is all that reading annotations needs."""
    for folder in {os.path.dirname(name) for name in names}:  # noqa: PTH120
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name in names:
        (root / name).touch()


def labels_an_image(images: ImageSet) -> list[int]:
    return np.bincount(images.labels.sum(axis=1)).tolist()


@pytest.fixture(scope="module")
def voc2012(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("voc") / "VOCdevkit" / "VOC2012"
    with tarfile.open(DATA / "voc2012/annotations.tar.xz") as archive:
        archive.extractall(root, filter="data")
    stems = [path.stem for path in (root / "Annotations").iterdir()]
    touch(root, [f"JPEGImages/{stem}.jpg" for stem in stems])
    return root


def test_voc2012_has_its_17125_pictures(voc2012):
    images = ImageSet.read(voc2012)
    assert len(images) == 17_125
    assert labels_an_image(images) == [18, 12_314, 3_448, 1_065, 228, 48, 4]
    sizes = {name: len(part) for name, part in images.partition.items()}
    assert sizes == {"train": 5_717, "val": 5_823, "trainval": 11_540}
    assert (images.missing, images.notes) == ((), ())


def test_voc2012_main_has_its_11540_pictures(voc2012):
    images = ImageSet.read(voc2012, source="main")
    assert len(images) == 11_540
    xml = ImageSet.read(voc2012)
    row = {name: i for i, name in enumerate(xml.file_names)}
    same = images.labels == xml.labels[[row[name] for name in images.file_names]]
    assert (~same).sum() == 152  # the two disagree in the original


@pytest.mark.parametrize(
    ("name", "parts", "columns", "counts"),
    [
        ("mirflickr", {"train": 4_000, "test": 1_000, "database": 20_000}, 38, None),
        ("nuswide_21", {"train": 10_500, "test": 2_100}, 21,
         [0, 2793, 3092, 2583, 1876, 1197, 713, 260, 73, 12, 1]),
        ("coco", {"train": 10_000, "test": 5_000}, 80, None),
    ],
)  # fmt: skip
def test_published_lists_have_their_counts(tmp_path, name, parts, columns, counts):
    total = np.zeros(0, int)
    for part in parts:
        text = lzma.decompress((DATA / "labels" / name / f"{part}.txt.xz").read_bytes()).decode()
        (tmp_path / f"{part}.txt").write_text(text)
        rows = [line.split() for line in text.splitlines()]
        touch(tmp_path, [row[0] for row in rows])
        total = np.append(total, [row[1:].count("1") for row in rows])
    images = ImageSet.read(tmp_path)
    assert images.format == "lists"
    assert {part: len(images.partition[part]) for part in parts} == parts
    assert images.labels.shape == (sum(parts.values()), columns)
    assert labels_an_image(images) == (counts or np.bincount(total).tolist())
    if name == "mirflickr":
        assert images.without_labels.sum() == 419
    assert (images.missing, images.notes) == ((), ())


def test_iaprtc12_has_its_words(tmp_path):
    from scipy.io import loadmat

    source = DATA / "labels/iaprtc12"
    for path in source.iterdir():
        (tmp_path / path.name).symlink_to(path)
    names = [
        f"images/{line}.jpg"
        for part in ("train", "test")
        for line in (source / f"iapr_{part}_list.txt").read_text().split()
    ]
    touch(tmp_path, names)
    images = ImageSet.read(tmp_path)
    assert images.format == "iaprtc12"
    assert images.labels.shape == (19_627, 291)
    assert {name: len(part) for name, part in images.partition.items()} == {
        "train": 17_665,
        "test": 1_962,
    }
    assert images.labels.sum() == 101_188 + 11_053
    for part, key in (("Train", "I_z_tr"), ("Test", "I_z_te")):
        path = source / f"IAPRTC-12_{part}Labels.mat"
        (ours, twice), oracle = read_matrices(path), loadmat(path)[key]
        assert (ours == oracle[0, 0]).all()
        assert (twice == oracle[0, 1]).all()


def test_iaprtc12_samples_open():
    images = ImageSet.read(DATA / "samples/iaprtc12")
    assert len(images) == 18
    assert images.file_names[0] == "images/00/25.jpg"
    for i in range(len(images)):
        full = open_image(images.path(i)).resize((112, 112), 3)
        quick = np.asarray(images.open(i, size=112), float)
        assert np.abs(quick - np.asarray(full, float)).mean() < 1
