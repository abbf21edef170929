"""Features kept with an index in a folder: what counts, what is seen as missing, what is filled."""

import os
import shutil

import numpy as np
import pytest
from memory_store import MemoryStore
from PIL import Image

from softhash.data.image_set import ImageSet
from softhash.errors import InputError, NoFeaturesError, UsageError
from softhash.hamming.cosine import quantise
from softhash.index import Entry, HammingIndex
from softhash.index.features import (
    drop_features,
    fill_features,
    item_features,
    keep_features,
    kept_features,
    missing_features,
)
from softhash.index.local import LocalStore, _derived, _features
from softhash.index.store import Meta
from softhash.model.hasher import Hasher

PICTURES = 6


@pytest.fixture(scope="module")
def hasher(tiny_model):
    return Hasher.load(tiny_model)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(PICTURES):
        draw(folder / f"{number}.png", number)
    return folder


@pytest.fixture
def index(tmp_path, hasher):
    with HammingIndex.create(tmp_path / "index", hasher) as index:
        yield index


def draw(path, seed):
    pixels = np.random.default_rng(seed).integers(0, 256, (40, 40, 3), np.uint8)
    Image.fromarray(pixels).save(path)


def update(index, folder):
    return index.update(ImageSet.read(folder), device="cpu")


def fill(index):
    return fill_features(index, device="cpu")


def path(index):
    (found,) = index.store.model_folder.parent.glob("features-*.bin")
    return found


def missing(index):
    return sorted(entry.file_name for _, entry in missing_features(index))


def check_kept(index, folder, hasher):
    """Compare every row with the features of its file, rounded."""
    for item in index.store.items():
        features = hasher.features(folder / item.file_name, device="cpu")
        rows, scales = quantise(features)
        kept = item_features(index.store, item)
        assert kept == pytest.approx(scales[0] * rows[0])


def test_features_are_kept_up_to_date_by_every_update(index, folder, hasher):
    keep_features(index)
    update(index, folder)
    assert not missing(index)
    check_kept(index, folder, hasher)
    draw(folder / "1.png", 100)
    draw(folder / "new.png", 101)
    (folder / "2.png").rename(folder / "moved.png")
    (folder / "3.png").unlink()
    os.utime(folder / "4.png", ns=(5, 5))
    update(index, folder)
    assert not missing(index)
    check_kept(index, folder, hasher)


def test_an_index_that_has_items_gets_their_features(index, folder, hasher):
    update(index, folder)
    keep_features(index)
    assert len(missing(index)) == PICTURES
    assert fill(index) == PICTURES
    assert not missing(index)
    assert fill(index) == 0
    check_kept(index, folder, hasher)
    size = path(index).stat().st_size
    assert size == PICTURES * (16 + hasher.config["features"])


def test_codes_are_the_same_with_and_without_features(index, folder, hasher, tmp_path):
    keep_features(index)
    update(index, folder)
    with HammingIndex.create(tmp_path / "plain", hasher) as plain:
        update(plain, folder)
        items = plain.store.items()
    assert [item.code for item in index.store.items()] == [item.code for item in items]


def damage(index, offset, change):
    data = bytearray(path(index).read_bytes())
    data[offset] ^= change
    path(index).write_bytes(data)


@pytest.mark.parametrize("place", [0, 3, 4, 8, 15, 16, -1])
def test_a_record_that_is_not_as_written_is_missing_and_verify_names_it(index, folder, place):
    keep_features(index)
    update(index, folder)
    assert index.store.verify() == []
    size = path(index).stat().st_size // PICTURES
    damage(index, 2 * size + place % size, 0x10)
    assert missing(index) == ["2.png"]
    (line,) = index.store.verify()
    assert "the record of item 2" in line
    assert fill(index) == 1
    assert index.store.verify() == []


def test_a_file_cut_short_lacks_what_was_cut(index, folder):
    keep_features(index)
    update(index, folder)
    size = path(index).stat().st_size // PICTURES
    os.truncate(path(index), 3 * size + 5)
    assert missing(index) == ["3.png", "4.png", "5.png"]
    assert fill(index) == 3


def test_records_of_another_content_or_model_count_as_missing(index, folder, tmp_path, hasher):
    keep_features(index)
    update(index, folder)
    before = path(index).read_bytes()
    draw(folder / "1.png", 100)
    update(index, folder)
    path(index).write_bytes(before)  # a backup that is older than the items
    assert missing(index) == ["1.png"]
    with HammingIndex.create(tmp_path / "other", bits=hasher.bits) as other:
        other.add_codes(
            np.zeros((PICTURES, 2), np.uint8),
            [entry for _, entry in index.store.scan()],
        )
        shutil.copy(path(index), tmp_path / "other")
        assert len(missing_features(other)) == PICTURES


def test_a_kill_between_items_and_features_is_made_up_for(index, folder, monkeypatch):
    keep_features(index)
    with monkeypatch.context() as patch:
        patch.setattr(_features.FeatureFile, "put", stop)
        with pytest.raises(KeyboardInterrupt):
            index.update(ImageSet.read(folder), device="cpu", batch_size=2)
    assert (len(index), len(missing(index))) == (2, 2)
    update(index, folder)
    assert missing(index) == ["0.png", "1.png"]
    assert fill(index) == 2


def stop(*given):
    raise KeyboardInterrupt


def test_files_that_are_gone_changed_or_broken_are_left_out(index, folder):
    update(index, folder)
    keep_features(index)
    (folder / "0.png").unlink()
    draw(folder / "1.png", 100)
    changed = (folder / "2.png").stat()
    draw(folder / "2.png", 101)  # a file whose time was set back
    (folder / "2.png").write_bytes((folder / "2.png").read_bytes()[: changed.st_size])
    os.utime(folder / "2.png", ns=(changed.st_atime_ns, changed.st_mtime_ns))
    assert fill(index) == PICTURES - 3
    assert missing(index) == ["0.png", "1.png", "2.png"]


def test_features_are_let_go_and_nothing_else(index, folder):
    keep_features(index)
    update(index, folder)
    items = index.store.items()
    drop_features(index)
    assert kept_features(index.store) is None
    assert not list(index.store.model_folder.parent.glob("features-*"))
    assert index.store.items() == items
    update(index, folder)
    with pytest.raises(NoFeaturesError, match="keeps no features"):
        missing_features(index)


def test_a_reader_reads_features_and_writes_none(index, folder, tmp_path):
    keep_features(index)
    update(index, folder)
    with HammingIndex.open(tmp_path / "index") as reader:
        assert not missing(reader)
        for write in (keep_features, drop_features):
            with pytest.raises(UsageError, match="open for reading"):
                write(reader)


def test_other_stores_say_that_they_cannot(hasher):
    index = HammingIndex(MemoryStore(Meta(hasher.bits, hasher.identity)), hasher)
    with pytest.raises(UsageError, match="cannot keep features; only an index in a folder"):
        keep_features(index)
    drop_features(index)
    assert kept_features(index.store) is None


def test_a_disk_that_is_full_leaves_the_items_safe(index, folder, monkeypatch):
    keep_features(index)

    def full(self, ids, rows):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_derived.Column, "put", full)
    with pytest.raises(InputError, match="No space left on device; the items are safe"):
        update(index, folder)
    monkeypatch.undo()
    assert len(index) > 0
    assert index.store.verify() == []
    update(index, folder)
    assert fill(index) > 0
    assert not missing(index)


def test_room_of_removed_items_is_given_back(tmp_path, monkeypatch):
    monkeypatch.setattr(_derived, "MIN_BYTES", 0)
    rng = np.random.default_rng(0)
    with HammingIndex.create(tmp_path / "index", bits=8) as index:
        contents = [f"{i:064x}" for i in range(1, 1001)]
        entries = [Entry(f"{i}", sha256=content) for i, content in enumerate(contents)]
        ids = index.add_codes(np.zeros((1000, 1), np.uint8), entries)
        kept = index.store.features
        kept.keep(512)
        kept.put(ids, contents, rng.normal(size=(1000, 512)))
        index.remove(*ids[10:])
        before, left = path(index).stat().st_blocks, list(index.store.scan())
        rows = kept.get(left).rows
        kept.compact(len(index), (id for id, _ in left))
        assert path(index).stat().st_blocks < before / 10
        assert (kept.get(left).rows == rows).all()
        assert len(rows) == 10


def test_a_store_without_features_writes_none(tmp_path):
    store = LocalStore.create(str(tmp_path / "index"), Meta(8))
    store.features.put([0], ["ab"], np.ones((1, 4)))
    assert store.features.width == 0
    store.close()
