"""What is found to have changed, case by case, and what is read to find it."""

import hashlib
import itertools
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from softhash.data.image_set import ImageSet
from softhash.index import changes
from softhash.index.changes import plan
from softhash.index.items import Entry


class Folder:
    """Files that are no pictures, which a plan never opens as such."""

    def __init__(self, root: Path):
        self.root = root
        self.labels: dict[str, tuple[str, ...]] = {}

    def write(self, name, content=None, labels=("sea",), modified=1_000):
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((content or f"content of {name}").encode())
        os.utime(path, ns=(modified, modified))
        self.labels[name] = labels

    def remove(self, name):
        (self.root / name).unlink()
        del self.labels[name]

    def images(self):
        classes = ("sea", "sky", "sun")
        names = tuple(sorted(self.labels))
        rows = [[one in self.labels[name] for one in classes] for name in names]
        return ImageSet(self.root, names, np.array(rows, np.uint8).reshape(-1, 3), classes)

    def entries(self):
        """Every file as an index keeps it, with ids from 10 on in the order of the names."""
        found = []
        for id, name in enumerate(sorted(self.labels), start=10):
            content = (self.root / name).read_bytes()
            modified = (self.root / name).stat().st_mtime_ns
            digest = hashlib.sha256(content).hexdigest()
            found.append((id, Entry(name, self.labels[name], len(content), modified, digest)))
        return found


@pytest.fixture
def folder(tmp_path):
    folder = Folder(tmp_path)
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        folder.write(name)
    return folder


@pytest.fixture
def hashed(monkeypatch):
    """Count how often each file is read."""
    counts = Counter()
    real = changes.hash_file

    def counting(path):
        counts[path.name] += 1
        return real(path)

    monkeypatch.setattr(changes, "hash_file", counting)
    return counts


def _what(work, images):
    """Put a plan into names and ids."""
    return {
        "new": [images.file_names[at] for at in work.new],
        "changed": [images.file_names[at] for at in sorted(work.changed)],
        "renamed": {id: entry.file_name for id, entry in work.renamed.items()},
        "revised": sorted(work.revised),
        "vanished": work.vanished,
        "unchanged": work.unchanged,
    }


NOTHING = {"new": [], "changed": [], "renamed": {}, "revised": [], "vanished": [], "unchanged": 3}

CASES = {
    "nothing": (lambda f: None, {}, []),
    "a new file": (lambda f: f.write("d.jpg", "other"), {"new": ["d.jpg"]}, []),
    "touched": (
        lambda f: f.write("b.jpg", modified=2_000),
        {"revised": [11], "unchanged": 2},
        ["b.jpg"],
    ),
    "changed, another size": (
        lambda f: f.write("b.jpg", "other", modified=2_000),
        {"changed": ["b.jpg"], "unchanged": 2},
        [],
    ),
    "changed, the same size": (
        lambda f: f.write("b.jpg", "CONTENT of b.jpg", modified=2_000),
        {"changed": ["b.jpg"], "unchanged": 2},
        ["b.jpg"],
    ),
    "another label": (
        lambda f: f.write("b.jpg", labels=("sea", "sky")),
        {"revised": [11], "unchanged": 2},
        [],
    ),
    "no label any more": (
        lambda f: f.write("b.jpg", labels=()),
        {"revised": [11], "unchanged": 2},
        [],
    ),
    "gone": (lambda f: f.remove("b.jpg"), {"vanished": [11], "unchanged": 2}, []),
    "renamed": (
        lambda f: (f.remove("b.jpg"), f.write("x.jpg", "content of b.jpg", modified=2_000)),
        {"renamed": {11: "x.jpg"}, "unchanged": 2},
        ["x.jpg"],
    ),
    "moved into a folder": (
        lambda f: (f.remove("b.jpg"), f.write("sub/b.jpg", "content of b.jpg")),
        {"renamed": {11: "sub/b.jpg"}, "unchanged": 2},
        ["b.jpg"],
    ),
    "gone, and another of that size is new": (
        lambda f: (f.remove("b.jpg"), f.write("x.jpg", "CONTENT of b.jpg")),
        {"new": ["x.jpg"], "vanished": [11], "unchanged": 2},
        ["x.jpg"],
    ),
    "a copy": (lambda f: f.write("x.jpg", "content of b.jpg"), {"new": ["x.jpg"]}, []),
    "renamed and copied": (
        lambda f: (
            f.remove("b.jpg"),
            f.write("x.jpg", "content of b.jpg"),
            f.write("y.jpg", "content of b.jpg"),
        ),
        {"renamed": {11: "x.jpg"}, "new": ["y.jpg"], "unchanged": 2},
        ["x.jpg", "y.jpg"],
    ),
    "over another": (
        lambda f: (f.remove("a.jpg"), f.write("b.jpg", "content of a.jpg", modified=2_000)),
        {"changed": ["b.jpg"], "vanished": [10], "unchanged": 1},
        ["b.jpg"],
    ),
    "swapped": (
        lambda f: (
            f.write("a.jpg", "content of b.jpg", modified=2_000),
            f.write("b.jpg", "content of a.jpg", modified=2_000),
        ),
        {"changed": ["a.jpg", "b.jpg"], "unchanged": 1},
        ["a.jpg", "b.jpg"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_change_is_found_and_only_what_must_be_is_read(folder, hashed, case):
    change, expected, read = CASES[case]
    known = folder.entries()
    change(folder)
    images = folder.images()
    assert _what(plan(known, images), images) == NOTHING | expected
    assert sorted(hashed.elements()) == read


@pytest.mark.parametrize(
    "changes", list(itertools.product(["", "touch", "edit", "label"], repeat=3))
)
def test_changes_of_several_files_do_not_disturb_each_other(folder, changes):
    known = folder.entries()
    for name, change in zip(("a.jpg", "b.jpg", "c.jpg"), changes, strict=True):
        if change == "edit":
            folder.write(name, f"edited {name}", modified=2_000)
        elif change:
            labels = ("sun",) if change == "label" else ("sea",)
            folder.write(name, labels=labels, modified=2_000 if change == "touch" else 1_000)
    work = plan(known, folder.images())
    assert sorted(work.changed) == [i for i, change in enumerate(changes) if change == "edit"]
    assert sorted(work.revised) == [
        10 + i for i, change in enumerate(changes) if change in ("touch", "label")
    ]
    assert work.unchanged == changes.count("")


def test_a_renamed_file_gets_its_new_labels_and_time(folder):
    known = folder.entries()
    folder.remove("b.jpg")
    folder.write("x.jpg", "content of b.jpg", labels=("sun",), modified=3_000)
    entry = plan(known, folder.images()).renamed[11]
    assert entry == known[1][1]._replace(file_name="x.jpg", labels=("sun",), modified=3_000)


def test_of_equal_files_the_one_that_kept_its_last_name_is_the_same(tmp_path):
    folder = Folder(tmp_path)
    folder.write("one/a.jpg", "twin")
    folder.write("two/b.jpg", "twin")
    known = folder.entries()
    folder.remove("one/a.jpg")
    folder.remove("two/b.jpg")
    folder.write("new/a.jpg", "twin")
    folder.write("new/b.jpg", "twin")
    folder.write("new/0.jpg", "twin")
    images = folder.images()
    work = plan(known, images)
    assert {id: entry.file_name for id, entry in work.renamed.items()} == {
        10: "new/a.jpg",
        11: "new/b.jpg",
    }
    assert [images.file_names[at] for at in work.new] == ["new/0.jpg"]


def test_entries_of_which_no_content_is_known_are_encoded_again(folder):
    bare = [(id, Entry(entry.file_name, entry.labels)) for id, entry in folder.entries()]
    images = folder.images()
    assert _what(plan(bare, images), images)["changed"] == ["a.jpg", "b.jpg", "c.jpg"]


def test_a_file_that_cannot_be_read_is_named_and_its_item_stays(folder, monkeypatch):
    known = folder.entries()
    folder.write("b.jpg", modified=2_000)
    monkeypatch.setattr(changes, "hash_file", lambda path: None)
    images = folder.images()
    (folder.root / "c.jpg").unlink()  # after the folder was listed
    work = plan(known, images)
    assert [one.file_name for one in work.unreadable] == ["b.jpg", "c.jpg"]
    assert _what(work, images) == NOTHING | {"unchanged": 1}


def test_progress_counts_what_is_hashed(folder):
    known = folder.entries()
    folder.write("b.jpg", modified=2_000)
    told = []
    plan(known, folder.images(), progress=lambda *at: told.append(at))
    assert told == [(1, 1)]


class Uploading(Folder):
    """A folder into which a client put `up.jpg`, which is not in the collection's table."""

    def upload(self, name="up.jpg", labels=("dragon",), listed=False):
        self.write(name, labels=("sea",))
        content = (self.root / name).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        if not listed:
            del self.labels[name]
        return 99, Entry(name, labels, len(content), 1_000, digest, uploaded=True)


@pytest.fixture
def uploading(tmp_path):
    folder = Uploading(tmp_path)
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        folder.write(name)
    return folder


@pytest.mark.parametrize("listed", [False, True])
def test_an_uploaded_item_stays_with_its_labels_whatever_the_collection_says(
    uploading, hashed, listed
):
    known = [*uploading.entries(), uploading.upload(listed=listed)]
    images = uploading.images()
    work = plan(known, images)
    assert _what(work, images) == NOTHING | {"unchanged": 4}
    assert (work.kept, len(work.images) - len(images)) == (1, not listed)
    assert not hashed


@pytest.mark.parametrize("listed", [False, True])
def test_an_uploaded_file_that_was_touched_keeps_labels_and_mark(uploading, listed):
    id, entry = uploading.upload(listed=listed)
    known = [*uploading.entries(), (id, entry)]
    os.utime(uploading.root / "up.jpg", ns=(2_000, 2_000))
    work = plan(known, uploading.images())
    assert work.revised == {99: entry._replace(modified=2_000)}
    assert work.kept == 1


@pytest.mark.parametrize("content", ["another size", "CONTENT of up.jpg"])
@pytest.mark.parametrize("listed", [False, True])
def test_an_uploaded_file_that_changed_is_encoded_again_and_keeps_its_labels(
    uploading, listed, content
):
    known = [*uploading.entries(), uploading.upload(listed=listed)]
    (uploading.root / "up.jpg").write_bytes(content.encode())
    work = plan(known, uploading.images())
    (at,) = work.changed
    assert work.images.file_names[at] == "up.jpg"
    assert work.uploaded == {at: ("dragon",)}
    assert work.status[at].tolist()[0] == len(content)


def test_an_uploaded_file_that_was_renamed_keeps_labels_and_mark(uploading):
    id, entry = uploading.upload()
    known = [*uploading.entries(), (id, entry)]
    (uploading.root / "up.jpg").unlink()
    uploading.write("other.jpg", "content of up.jpg", labels=("sun",), modified=3_000)
    work = plan(known, uploading.images())
    assert work.renamed == {99: entry._replace(file_name="other.jpg", modified=3_000)}
    assert work.kept == 1


@pytest.mark.parametrize("name", ["up.jpg", "../up.jpg", "link.jpg"])
def test_an_uploaded_item_goes_with_its_file(uploading, tmp_path_factory, name):
    id, entry = uploading.upload()
    (uploading.root / "up.jpg").rename(uploading.root.parent / "up.jpg")
    (uploading.root / "link.jpg").symlink_to(uploading.root.parent / "up.jpg")
    known = [*uploading.entries(), (id, entry._replace(file_name=name))]
    work = plan(known, uploading.images())
    assert (work.vanished, work.kept) == ([99], 0)


def test_uploaded_items_can_be_let_go(uploading):
    unlisted = uploading.upload()
    _, entry = uploading.upload("v.jpg", listed=True)
    known = [*uploading.entries()[:3], unlisted, (98, entry)]
    work = plan(known, uploading.images(), drop_uploads=True)
    assert work.vanished == [99]
    assert work.revised == {98: entry._replace(labels=("sea",), uploaded=False)}
    assert (work.kept, work.unchanged) == (0, 3)


def test_an_uploaded_item_with_the_labels_of_the_collection_loses_its_mark_when_let_go(uploading):
    id, entry = uploading.upload(labels=("sea",), listed=True)
    work = plan([*uploading.entries()[:3], (id, entry)], uploading.images(), drop_uploads=True)
    assert work.revised == {99: entry._replace(uploaded=False)}


def test_an_uploaded_file_that_cannot_be_looked_at_is_named_and_its_item_stays(
    uploading, monkeypatch
):
    known = [*uploading.entries(), uploading.upload()]
    images = uploading.images()
    really = Path.stat

    def refused(path, **options):
        if path.name == "up.jpg":
            raise PermissionError
        return really(path, **options)

    monkeypatch.setattr(Path, "stat", refused)
    monkeypatch.setattr(changes, "file_statuses", _unreadable_uploads(changes.file_statuses))
    work = plan(known, images)
    assert (work.vanished, work.kept, work.unchanged) == ([], 1, 3)
    assert [one.file_name for one in work.unreadable] == ["up.jpg"]


def _unreadable_uploads(statuses):
    def some(images):
        found = statuses(images)
        found[[name == "up.jpg" for name in images.file_names]] = -1
        return found

    return some
