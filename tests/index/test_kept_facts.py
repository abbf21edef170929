"""Facts of photographs kept with an index in a folder: what counts, and what is missing."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from softhash.data.image_set import ImageSet
from softhash.data.photo_facts import PhotoFacts, read_facts
from softhash.errors import UsageError
from softhash.index import Entry, HammingIndex
from softhash.index.facts import fill_facts, item_facts, keep_facts, kept_facts, missing_facts
from softhash.index.local import LocalStore, _cameras, _derived, _derived_columns, _fact_columns
from softhash.index.local._facts import FactFile
from softhash.index.store import Meta
from softhash.index.where import Camera, Folder, Taken
from softhash.model.hasher import Hasher

SIZE = 32
TIMES = ["2023:12:31 23:59:59", "2024:01:01 00:00:00", "2024:05:17 14:03:22", None]
MODELS = ["NIKON D90", "X100", "NIKON D90", None]


@pytest.fixture(scope="module")
def hasher(tiny_model):
    return Hasher.load(tiny_model)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "photos"
    (folder / "2024" / "Italy").mkdir(parents=True)
    for number, (taken, model) in enumerate(zip(TIMES, MODELS, strict=True)):
        write(folder / name(number), taken, model, number)
    return folder


def name(number):
    return f"2024/Italy/{number}.jpg" if number % 2 else f"{number}.jpg"


def write(path, taken=None, model=None, seed=0):
    """Write a photograph of one colour."""
    data = Image.Exif()
    data.update({0x110: model} if model else {})
    if taken:
        data.get_ifd(0x8769)[0x9003] = taken
    if seed == 2:
        degrees = {1: "N", 2: (48.0, 51.0, 30.0), 3: "W", 4: (2.0, 17.0, 40.2)}
        data.get_ifd(0x8825).update(degrees)
    colour = np.random.default_rng(seed).integers(0, 256, 3, np.uint8)
    stream = io.BytesIO()
    Image.fromarray(np.full((40, 40, 3), colour)).save(stream, "JPEG", exif=data.tobytes())
    path.write_bytes(stream.getvalue())


@pytest.fixture
def index(tmp_path, hasher):
    with HammingIndex.create(tmp_path / "index", hasher) as index:
        yield index


def update(index, folder):
    return index.update(ImageSet.read(folder), device="cpu")


def path(index):
    return index.store.model_folder.parent / "facts-1.bin"


def missing(index):
    return sorted(entry.file_name for _, entry in missing_facts(index))


def found(index, where):
    store = getattr(index, "store", index)
    return sorted(item.file_name for item in store.items(where=where))


def facts_of(index):
    return item_facts(index.store, index.store.items())


def check_kept(index, folder):
    """Compare what is kept of every item, and what filters find, with the files themselves."""
    wanted = {}
    for item, kept in zip(index.store.items(), facts_of(index), strict=True):
        facts = wanted[item.file_name] = read_facts(folder / item.file_name)
        assert kept[:2] == facts[:2]
        assert kept[2:] == (None, None) or np.allclose(kept[2:], facts[2:], atol=1e-5)
        assert (kept.latitude is None) == (facts.latitude is None)
    for after, before in (
        ("2024", ""),
        ("", "2024"),
        ("2024-01", "2024-05-18"),
        ("2024-05-18", ""),
    ):
        kept = [n for n, f in wanted.items() if f.taken and after <= f.taken < (before or "3")]
        assert found(index, Taken(after, before)) == sorted(kept)
    for text in ("nikon", "X1", "nobody's"):
        kept = [n for n, f in wanted.items() if text.lower() in f.camera.lower()]
        assert found(index, Camera(text)) == sorted(kept)


def test_facts_are_kept_up_to_date_by_every_update(index, folder):
    update(index, folder)
    assert not missing(index)
    check_kept(index, folder)
    assert found(index, Taken("2024")) == ["2.jpg", name(1)]
    assert found(index, Camera("nikon")) == ["0.jpg", "2.jpg"]
    assert path(index).stat().st_size == len(TIMES) * SIZE
    write(folder / "0.jpg", "2025:01:01 00:00:00", "Canon", 100)
    write(folder / "new.jpg", "2025:01:02 00:00:00", "NIKON D3", 101)
    (folder / "2.jpg").rename(folder / "moved.jpg")
    (folder / name(1)).unlink()
    update(index, folder)
    assert not missing(index)
    check_kept(index, folder)
    assert found(index, Camera("nikon")) == ["moved.jpg", "new.jpg"]
    assert index.store.verify() == []


def test_a_deleted_file_is_harmless_and_made_again_from_headers_alone(index, folder, monkeypatch):
    update(index, folder)
    path(index).unlink()
    assert kept_facts(index.store) is None
    assert facts_of(index) == [PhotoFacts()] * len(TIMES)
    assert index.store.count(Taken(), Camera("")) == [0, 0]
    assert index.store.verify() == []
    assert len(missing(index)) == len(TIMES)
    monkeypatch.setattr(type(index), "hasher", None)  # nothing is encoded
    told = []
    assert fill_facts(index, progress=lambda *done: told.append(done)) == len(TIMES)
    assert told == [(len(TIMES), len(TIMES))]
    assert fill_facts(index) == 0
    check_kept(index, folder)


def test_files_that_are_gone_or_changed_are_left_out(index, folder):
    update(index, folder)
    path(index).unlink()
    (folder / "0.jpg").unlink()
    write(folder / "2.jpg", "1999:01:01 00:00:00", "another", 7)
    assert fill_facts(index) == 2
    assert missing(index) == ["0.jpg", "2.jpg"]
    assert found(index, Camera("another")) == []


def test_a_kill_between_codes_and_facts_leaves_nothing_stale(index, folder, monkeypatch):
    update(index, folder)
    write(folder / "0.jpg", "2025:01:01 00:00:00", "Canon", 100)

    def stop(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FactFile, "put", stop)
        with pytest.raises(KeyboardInterrupt):
            update(index, folder)
    assert found(index, Camera("nikon")) == ["2.jpg"]
    assert found(index, Taken("", "2024")) == []
    assert missing(index) == ["0.jpg"]
    assert fill_facts(index) == 1
    check_kept(index, folder)


READER = """
import sys
from softhash.index.local import LocalStore
from softhash.index.where import Camera, Folder, Taken

store = LocalStore.open(sys.argv[1])
for line in sys.stdin:
    print(store.count(Taken("2024"), Camera("nikon"), Folder("Italy")), flush=True)
"""


def test_a_reader_of_another_process_sees_what_is_written(index, folder):
    command = [sys.executable, "-c", READER, index.store.location]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as reader:

        def there():
            reader.stdin.write("\n")
            reader.stdin.flush()
            return json.loads(reader.stdout.readline())

        assert there() == [0, 0, 0]
        update(index, folder)
        assert there() == [2, 2, 2]
        write(folder / "2024" / "Italy" / "b.jpg", "2024:02:02 10:00:00", "NIKON Z", 55)
        update(index, folder)
        assert there() == [3, 3, 3]
        (folder / "2024" / "Italy" / "b.jpg").rename(folder / "b.jpg")
        update(index, folder)
        assert there() == [3, 3, 2]
        path(index).unlink()
        assert there() == [0, 0, 2]
        reader.stdin.close()


@pytest.mark.parametrize("place", [0, 4, 12, 20, 24, 28, 31])
def test_a_record_that_is_not_as_written_is_missing_and_verify_names_it(index, folder, place):
    update(index, folder)
    id = index.store.find_names(["2.jpg"])["2.jpg"]
    data = bytearray(path(index).read_bytes())
    data[id * SIZE + place] ^= 0x10
    path(index).write_bytes(data)
    assert missing(index) == ["2.jpg"]
    assert found(index, Camera("nikon")) == ["0.jpg"]
    assert found(index, Taken("2024-05")) == []
    (line,) = index.store.verify()
    assert f"the record of item {id}" in line
    assert fill_facts(index) == 1
    check_kept(index, folder)


@pytest.mark.parametrize(
    "content", [None, b"", b'["X100"]', b'{"a": 1}', b"[1]", b'["X100", "NIKON D90"]']
)
def test_names_of_cameras_that_are_lost_or_of_another_index_are_never_mistaken(
    index, folder, content
):
    update(index, folder)
    cameras = path(index).with_name("cameras.json")
    assert json.loads(cameras.read_bytes()) == ["NIKON D90", "X100"]
    cameras.unlink()
    if content is not None:
        cameras.write_bytes(content)
    assert found(index, Camera("")) == []
    assert {facts.camera for facts in facts_of(index)} == {""}
    assert missing(index) == ["0.jpg", "2.jpg", name(1)]
    assert fill_facts(index) == 3
    check_kept(index, folder)


def test_cameras_that_there_is_no_room_for_are_unknown_and_not_missing(index, folder, monkeypatch):
    monkeypatch.setattr(_cameras, "MAX_CAMERAS", 1)
    update(index, folder)
    assert not missing(index)
    assert {facts.camera for facts in facts_of(index)} == {"", "NIKON D90"}
    assert found(index, Camera("X100")) == []


def test_a_reader_reads_facts_and_writes_none(index, folder, tmp_path):
    update(index, folder)
    with HammingIndex.open(tmp_path / "index") as reader:
        check_kept(reader, folder)
        for change in (keep_facts, lambda store: store.facts.drop()):
            with pytest.raises(UsageError, match="open for reading"):
                change(reader.store)
    index.store.facts.drop()
    assert kept_facts(index.store) is None


def test_what_was_read_is_used_until_the_file_changes(index, folder, monkeypatch):
    update(index, folder)
    monkeypatch.setattr(_derived_columns, "SETTLED_NS", -1)
    before = found(index, Camera("nikon"))
    monkeypatch.setattr(_fact_columns, "_read", lambda folder: 1 / 0)
    assert found(index, Camera("nikon")) == before
    os.utime(path(index).with_name("cameras.json"), ns=(1, 1))
    with pytest.raises(ZeroDivisionError):
        found(index, Camera("nikon"))


def test_searches_see_facts_that_were_written_since(index, folder):
    update(index, folder)
    items, query = list(index.store.scan()), np.zeros((1, 2), np.uint8)
    for first in range(len(items)):
        facts = [PhotoFacts(camera="new" if id >= first else "old") for id, _ in items]
        contents = [entry.sha256 for _, entry in items]
        index.store.facts.put([id for id, _ in items], contents, facts)
        for _ in range(3):  # what is asked for again may come from a cache
            (near,) = index.store.search(query, 100, where=Camera("new"))
            assert {one.id for one in near} == set(range(first, len(items)))


def test_file_names_are_read_once_and_those_of_new_items_later(index, folder, monkeypatch):
    update(index, folder)
    walked, names = [], type(index.store._reader)._names
    folders = index.store._reader._descriptions._folders
    monkeypatch.setattr(
        folders, "_names", lambda after: walked.append(after) or names(index.store._reader, after)
    )
    for _ in range(2):
        assert found(index, Folder("Italy")) == [name(1), name(3)]
    write(folder / "2024" / "Italy" / "z.jpg", seed=9)
    update(index, folder)
    assert found(index, Folder("2024")) == [name(1), name(3), "2024/Italy/z.jpg"]
    assert walked == [-1, 3]
    index.remove(index.store.find_names([name(1)])[name(1)])
    assert len(found(index, Folder("2024"))) == 2
    assert walked == [-1, 3, -1]


def test_room_of_removed_items_is_given_back(tmp_path, monkeypatch):
    monkeypatch.setattr(_derived, "MIN_BYTES", 0)
    store = LocalStore.create(str(tmp_path / "index"), Meta(8))
    store.facts.keep()
    contents = [f"{i:064x}" for i in range(1, 5001)]
    entries = [Entry(f"{i}", sha256=content) for i, content in enumerate(contents)]
    ids = store.add(np.zeros((5000, 1), np.uint8), entries)
    store.facts.put(ids, contents, [PhotoFacts("2024-05-17T14:03:22")] * 5000)
    store.remove([id for id in ids if id not in (17, 4999)])
    before = (tmp_path / "index" / "facts-1.bin").stat().st_blocks
    store.facts.compact(len(store), (id for id, _ in store.scan()))
    assert (tmp_path / "index" / "facts-1.bin").stat().st_blocks < before
    assert found(store, Taken("2024")) == ["17", "4999"]
    store.close()
