"""The one way in which commands read collections: what was left out is said on stderr."""

import pytest

from softhash.cli import _collection
from softhash.data import scenes
from softhash.data.loading import Broken
from softhash.errors import UsageError


@pytest.fixture
def folder(tmp_path):
    """Twenty scenes: one file gone, one picture without labels."""
    folder = tmp_path / "photos"
    scenes.write(folder, count=20, size=16, workers=1)
    (folder / "scene-00001.png").unlink()
    table = (folder / "metadata.csv").read_text().splitlines()
    table[6] = table[6].split(",")[0] + ","
    (folder / "metadata.csv").write_text("\n".join(table) + "\n")
    return folder


@pytest.fixture
def notes(monkeypatch):
    notes = []
    monkeypatch.setattr(_collection, "warn", notes.append)
    return notes


def test_a_collection_is_read_with_notes(folder, notes):
    assert len(_collection.read_collection(str(folder))) == 19
    assert notes == ["1 files are named and missing; `softhash check` lists them"]


def test_pictures_without_labels_are_left_out_where_asked(folder, notes):
    images = _collection.read_collection(str(folder), labelled=True)
    assert len(images) == 18
    assert not images.without_labels.any()
    assert notes[1:] == ["1 pictures without labels are left out"]


def test_options_of_a_layout_are_passed_on_without_naming_it(folder):
    with pytest.raises(UsageError, match="format 'table' takes no options, but 'concepts'"):
        _collection.read_collection(str(folder), concepts=24)


def test_a_split_is_drawn_with_notes(folder, notes):
    images = _collection.read_collection(str(folder))
    notes.clear()
    split = _collection.split_collection(images, "random", seed=5)
    assert split.sha256 == images.split("random", seed=5).sha256
    assert notes == list(split.notes)
    assert any("without labels" in note for note in notes)


@pytest.mark.parametrize(("count", "named"), [(0, 0), (3, 3), (25, _collection.BROKEN_SHOWN)])
def test_broken_pictures_are_named_and_counted(notes, count, named):
    broken = [Broken(i, f"{i}.jpg", f"{i}.jpg is empty (0 bytes)") for i in range(count)]
    _collection.warn_skipped(broken, {})
    assert notes[:named] == [f"skipped: {i}.jpg is empty (0 bytes)" for i in range(named)]
    assert len(notes) == named + (count > 0)
    assert all(note.startswith(f"{count} files skipped: {count} damaged") for note in notes[named:])


def test_skipped_files_are_counted_by_kind_and_heic_is_not_named_one_by_one(notes):
    broken = [Broken(i, f"{i}.heic", f"{i}.heic is a HEIC", "heic") for i in range(3)]
    _collection.warn_skipped(broken, {"video": 1, "raw": 2})
    assert notes == [
        "6 files skipped: 3 HEIC (pip install 'softhash[heic]'), 2 raw photographs (save as "
        "JPEG), 1 video; `softhash check` lists broken ones"
    ]
    notes.clear()
    _collection.warn_skipped([], {"video": 2})
    assert notes == ["2 files skipped: 2 videos"]


def test_labels_come_from_folders_where_asked_and_a_wrong_source_is_named(folder, notes):
    plain = _collection.read_collection(str(folder), "folder")
    images = _collection.label_collection(plain, ["folders"])
    assert notes[-1] == "0 of 19 pictures have labels from folders, 0 different ones"
    assert images.classes == ()
    with pytest.raises(UsageError, match=r"unknown source of labels 'tag'; did you mean 'tags'\?"):
        _collection.label_collection(plain, ["tag"])
