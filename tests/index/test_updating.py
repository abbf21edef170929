"""Indexes brought up to date: the same as made anew, and nothing is decoded twice."""

import os

import numpy as np
import pytest
from memory_store import MemoryStore
from PIL import Image

from softhash.data.image_set import ImageSet
from softhash.errors import InputError
from softhash.index import HammingIndex
from softhash.index.changes import plan
from softhash.index.entries import file_status, read_entry
from softhash.index.store import Meta
from softhash.model.hasher import Hasher


class Counting:
    """A hasher that remembers which pictures it was given."""

    def __init__(self, hasher):
        self._hasher = hasher
        self.bits, self.identity = hasher.bits, hasher.identity
        self.given: list[str] = []

    def stream(self, images, **options):
        self.given += images.file_names
        return self._hasher.stream(images, device="cpu", batch_size=2, **options)


@pytest.fixture
def hasher(tiny_model):
    return Counting(Hasher.load(tiny_model))


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(5):
        _draw(folder / f"{number}.png", number)
    return folder


@pytest.fixture
def index(hasher):
    return HammingIndex(MemoryStore(Meta(12, hasher.identity)), hasher)


def _draw(path, seed):
    pixels = np.random.default_rng(seed).integers(0, 256, (40, 40, 3), np.uint8)
    Image.fromarray(pixels).save(path)


def _counts(summary):
    names = ("added", "changed", "renamed", "revised", "removed", "unchanged")
    return {name: n for name in names if (n := getattr(summary, name))}


def _contents(index):
    return {item.entry: item.code for item in index.store.items(limit=10**9)}


def test_a_second_update_decodes_nothing(index, folder, hasher):
    assert _counts(index.update(ImageSet.read(folder))) == {"added": 5}
    assert len(hasher.given) == 5
    version = index.store.version
    summary = index.update(ImageSet.read(folder))
    assert _counts(summary) == {"unchanged": 5}
    assert (summary.items, len(hasher.given), index.store.version) == (5, 5, version)


def test_only_new_and_changed_files_are_encoded_and_the_result_is_as_if_made_anew(
    index, folder, hasher
):
    index.update(ImageSet.read(folder))
    ids = {item.entry.file_name: item.id for item in index.store.items()}
    hasher.given.clear()
    _draw(folder / "1.png", 101)
    _draw(folder / "new.png", 102)
    (folder / "2.png").rename(folder / "moved.png")
    (folder / "3.png").unlink()
    os.utime(folder / "4.png", ns=(5, 5))
    rows = ["file_name,labels", "0.png,sea;sky", "1.png,", "moved.png,", "4.png,", "new.png,sun"]
    (folder / "metadata.csv").write_text("\n".join(rows))
    summary = index.update(ImageSet.read(folder))
    assert hasher.given == ["1.png", "new.png"]
    assert _counts(summary) == {
        "added": 1, "changed": 1, "renamed": 1, "revised": 2, "removed": 1,
    }  # fmt: skip
    now = {item.entry.file_name: item.id for item in index.store.items()}
    assert now["moved.png"] == ids["2.png"]
    assert now["1.png"] == ids["1.png"]
    anew = HammingIndex(MemoryStore(Meta(12, hasher.identity)), hasher)
    anew.update(ImageSet.read(folder))
    assert _contents(index) == _contents(anew)


def test_what_is_broken_is_named_and_its_old_item_goes(index, folder):
    index.update(ImageSet.read(folder))
    (folder / "1.png").write_bytes(b"no picture any more")
    (folder / "9.png").write_bytes(b"never was one")
    summary = index.update(ImageSet.read(folder))
    assert [one.file_name for one in summary.broken] == ["1.png", "9.png"]
    assert _counts(summary) == {"removed": 1, "unchanged": 4}
    assert summary.items == 4
    assert [one["file_name"] for one in summary.as_dict()["broken"]] == ["1.png", "9.png"]


def test_a_file_that_changes_while_it_is_encoded_is_encoded_again(index, folder, hasher):
    class Slow(Counting):
        def stream(self, images, **options):
            for part in super().stream(images, **options):
                if part.positions[0] == 0:
                    _draw(folder / "0.png", 77)
                    os.utime(folder / "0.png", ns=(9, 9))
                yield part

    slow = HammingIndex(index.store, Slow(hasher._hasher))
    slow.update(ImageSet.read(folder))
    assert _counts(index.update(ImageSet.read(folder))) == {"changed": 1, "unchanged": 4}
    assert hasher.given == ["0.png"]


@pytest.mark.parametrize("verb", ["add", "upsert"])
def test_a_file_that_changes_while_it_is_added_is_encoded_by_the_next_update(
    index, folder, hasher, verb
):
    class Slow(Counting):
        def stream(self, images, **options):
            for part in super().stream(images, **options):
                if part.positions[0] == 0:
                    _draw(folder / "0.png", 77)
                    os.utime(folder / "0.png", ns=(9, 9))
                yield part

    slow = HammingIndex(index.store, Slow(hasher._hasher))
    getattr(slow, verb)(ImageSet.read(folder))
    assert _counts(index.update(ImageSet.read(folder))) == {"changed": 1, "unchanged": 4}
    assert hasher.given == ["0.png"]


def test_a_plan_that_was_made_before_is_what_is_done(index, folder, hasher):
    images = ImageSet.read(folder)
    work = plan(index.store.scan(), images)
    (folder / "0.png").unlink()  # after the plan
    summary = index.update(images, plan=work)
    assert (_counts(summary), len(summary.broken)) == ({"added": 4}, 1)


def test_an_update_with_nothing_to_encode_needs_no_model(index, folder):
    index.update(ImageSet.read(folder))
    without = HammingIndex(index.store)
    (folder / "0.png").unlink()
    assert _counts(without.update(ImageSet.read(folder))) == {"removed": 1, "unchanged": 4}


def test_an_interrupted_update_keeps_what_is_done_and_goes_on(index, folder, hasher):
    def interrupt(done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.update(ImageSet.read(folder), progress=interrupt)
    assert len(index) == 2
    hasher.given.clear()
    assert _counts(index.update(ImageSet.read(folder))) == {"added": 3, "unchanged": 2}
    assert hasher.given == ["2.png", "3.png", "4.png"]


def test_an_index_is_not_emptied_by_accident(index, folder):
    index.update(ImageSet.read(folder))
    for file in folder.iterdir():
        file.unlink()
    _draw(folder / "other.png", 9)
    with pytest.raises(InputError, match="none of the 5 pictures in memory is in"):
        index.update(ImageSet.read(folder))
    assert len(index) == 5
    assert _counts(index.update(ImageSet.read(folder), keep_missing=True)) == {"added": 1}
    assert len(index) == 6
    assert _counts(index.update(ImageSet.read(folder))) == {"removed": 5, "unchanged": 1}
    (folder / "other.png").unlink()
    _draw(folder / "another.png", 10)
    assert _counts(index.update(ImageSet.read(folder), force=True)) == {"added": 1, "removed": 1}


def test_a_folder_that_moved_as_a_whole_keeps_its_index(index, folder, hasher):
    index.update(ImageSet.read(folder))
    elsewhere = folder.rename(folder.with_name("elsewhere"))
    hasher.given.clear()
    assert _counts(index.update(ImageSet.read(elsewhere))) == {"unchanged": 5}
    assert index.root == elsewhere
    folder.mkdir()
    _draw(folder / "0.png", 0)
    with pytest.raises(InputError, match="holds pictures of"):
        index.update(ImageSet.read(folder))


def _upload(index, folder, name="up.png", labels=("dragon",)):
    """Add a picture as the server does."""
    _draw(folder / name, 50)
    entry = read_entry(folder / name, name, labels, file_status(folder / name))
    return index.add_codes(np.zeros((1, 2), np.uint8), [entry._replace(uploaded=True)])[0]


def _table(folder):
    rows = ["file_name,labels", *(f"{number}.png,sea" for number in range(5))]
    table = folder / "metadata.csv"
    table.write_text("\n".join(rows))
    return table


@pytest.mark.parametrize("table", [True, False])
def test_what_was_uploaded_is_kept_until_it_is_let_go(index, folder, hasher, table):
    source = _table(folder) if table else folder
    index.update(ImageSet.read(source))
    id = _upload(index, folder)
    hasher.given.clear()
    summary = index.update(ImageSet.read(source))
    assert (_counts(summary), summary.kept, summary.items) == ({"unchanged": 6}, 1, 6)
    assert summary.as_dict()["kept"] == 1
    assert index.get(id).entry.labels == ("dragon",)

    _draw(folder / "up.png", 51)
    summary = index.update(ImageSet.read(source))
    assert (_counts(summary), summary.kept) == ({"changed": 1, "unchanged": 5}, 1)
    assert hasher.given == ["up.png"]
    entry = index.get(id).entry
    assert (entry.labels, entry.uploaded) == (("dragon",), True)

    summary = index.update(ImageSet.read(source), drop_uploads=True)
    let_go = {"removed": 1, "unchanged": 5} if table else {"revised": 1, "unchanged": 5}
    assert (_counts(summary), summary.kept) == (let_go, 0)
    assert (folder / "up.png").exists()
    assert "dragon" not in index.store.labels()
    assert index.update(ImageSet.read(source)).unchanged == (5 if table else 6)


def test_an_uploaded_file_that_is_no_picture_any_more_is_removed(index, folder):
    _table(folder)
    index.update(ImageSet.read(folder))
    _upload(index, folder)
    (folder / "up.png").write_bytes(b"no picture any more")
    summary = index.update(ImageSet.read(folder))
    assert (_counts(summary), summary.kept) == ({"removed": 1, "unchanged": 5}, 0)
    assert [one.file_name for one in summary.broken] == ["up.png"]


def test_uploaded_items_do_not_hide_that_an_index_would_be_emptied(index, folder):
    table = _table(folder)
    index.update(ImageSet.read(table))
    _upload(index, folder)
    _draw(folder / "other.png", 9)
    table.write_text("file_name,labels\nother.png,sea\n")
    with pytest.raises(InputError, match=r"none of the 6 .* but for 1 uploaded"):
        index.update(ImageSet.read(table))
    summary = index.update(ImageSet.read(table), force=True)
    assert (_counts(summary), summary.kept) == ({"added": 1, "removed": 5, "unchanged": 1}, 1)


def test_replacing_an_uploaded_item_makes_it_one_of_the_collection(index, folder):
    index.update(ImageSet.read(folder))
    id = _upload(index, folder)
    with pytest.raises(InputError, match="use upsert"):
        index.add(ImageSet.read(folder))
    index.upsert(ImageSet.read(folder))
    assert (index.get(id).entry.labels, index.get(id).entry.uploaded) == ((), False)
