"""The folder of a local index: its files, opening it again, sharing it, following a writer."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from test_store_conformance import Twin, random_codes

from softhash.errors import IndexBusyError, InputError, UsageError
from softhash.index.expressions import build_where
from softhash.index.items import Entry, Near
from softhash.index.local import LocalStore, _columns, _layout
from softhash.index.store import Meta


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "index"


@pytest.fixture
def opened():
    """Open stores that are closed in the end."""
    stores = []

    def open_it(folder, **options):
        stores.append(LocalStore.open(str(folder), **options))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()


def fill(folder, n=300, bits=12, labels=("sea", "sky", "dog")):
    codes = random_codes(np.random.default_rng(0), n, bits)
    store = LocalStore.create(str(folder), Meta(bits))
    store.add(codes, [Entry(f"{i}.jpg", (labels[i % len(labels)],)) for i in range(n)])
    store.close()
    return codes


def test_files_are_those_of_the_format(folder):
    codes = fill(folder)
    names = {path.name for path in folder.iterdir()}
    records = {"codes.bin", "labels-1.bin"}
    assert names == {"index.json", "items.sqlite", *records, "write.lock", "confirmed"}
    about = json.loads((folder / "index.json").read_text())
    assert about == {"format": "softhash index", "version": 2, "bits": 12}
    records = np.fromfile(folder / "codes.bin", np.uint8).reshape(-1, 8)
    np.testing.assert_array_equal(records[:, :2], codes)
    assert not records[:, 2:].any()
    labels = np.fromfile(folder / "labels-1.bin", np.uint64)
    assert set(labels.tolist()) == {0b11, 0b101, 0b1001}  # there, and one label each


def test_index_is_the_same_when_opened_again(folder, opened):
    store = LocalStore.create(str(folder), Meta(48, "model"))
    twin = Twin(store, 48, ["a", "b", "c", "d"])
    for verb in (twin.add, twin.upsert, twin.remove, twin.revise, twin.add):
        verb()
        twin.store.close()
        twin.store = opened(folder, writable=True)
        twin.check()
    assert twin.store.meta == Meta(48, "model")
    assert twin.store.location == str(folder)
    assert twin.store.model_folder == folder / "model"


def test_ids_are_never_given_twice(folder, opened):
    fill(folder, 3)
    store = opened(folder, writable=True)
    store.remove([2, 1])
    assert store.add(np.zeros((1, 2), np.uint8), [Entry("new")]) == [3]


def test_surrogates_in_names_and_labels_survive(folder, opened):
    store = LocalStore.create(str(folder), Meta(8))
    entry = Entry("Z\udcfcrich\ud800.jpg", ("caf\udce9", "sea"))
    store.add(np.zeros((1, 1), np.uint8), [entry])
    store.close()
    store = opened(folder)
    assert store.get([0])[0].entry == entry
    assert store.find_names([entry.file_name]) == {entry.file_name: 0}
    assert store.labels() == {"caf\udce9": 1, "sea": 1}
    assert store.items(where=build_where(("caf\udce9",))) == store.get([0])
    assert store.verify() == []


def test_revise_swaps_names_and_refuses_those_of_others(folder, opened):
    fill(folder, 3)
    store = opened(folder, writable=True)
    store.revise({0: Entry("1.jpg"), 1: Entry("0.jpg")})
    assert store.find_names(["0.jpg", "1.jpg"]) == {"0.jpg": 1, "1.jpg": 0}
    with pytest.raises(InputError, match="another item's"):
        store.revise({0: Entry("new.jpg"), 1: Entry("2.jpg")})
    assert store.find_names(["new.jpg", "1.jpg"]) == {"1.jpg": 0}
    assert store.verify() == []


def test_reader_follows_a_writer(folder, opened):
    fill(folder, 100)
    writer, reader = opened(folder, writable=True), opened(folder)
    twin = Twin(writer, 12, [f"{i}" for i in range(100)])
    twin.oracle.upsert([np.frombuffer(i.code, "u1") for i in reader.items(limit=100)],
                       [i.entry for i in reader.items(limit=100)])  # fmt: skip
    for verb in (twin.add, twin.upsert, twin.remove, twin.revise) * 5:
        twin.store = writer
        verb()
        twin.store = reader
        twin.check()
    assert reader.version == writer.version
    assert (folder / "labels-2.bin").exists()
    assert not (folder / "labels-1.bin").exists()


def test_items_that_wait_to_be_applied_are_seen(folder, opened, monkeypatch, caplog):
    fill(folder, 100)
    writer = opened(folder, writable=True)
    twin = Twin(writer, 12, ["sea", "sky", "dog"])
    twin.oracle.upsert([np.frombuffer(i.code, "u1") for i in writer.items(limit=100)],
                       [i.entry for i in writer.items(limit=100)])  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(_columns.Column, "put", lambda *_: (_ for _ in ()).throw(OSError(5, "gone")))
        for verb in (twin.upsert, twin.remove, twin.add, twin.revise):
            verb()
            twin.check()
        assert "wait" in caplog.text
        writer.close()  # as a crash would leave it
        twin.store = opened(folder)
        twin.check()
    before = (folder / "codes.bin").read_bytes()
    twin.store = opened(folder, writable=True)
    twin.check()
    assert (folder / "codes.bin").read_bytes() != before


def test_second_writer_is_told(folder, opened):
    fill(folder, 5)
    first = opened(folder, writable=True)
    with pytest.raises(IndexBusyError, match="written to by another process"):
        opened(folder, writable=True)
    assert len(opened(folder)) == 5
    first.close()
    opened(folder, writable=True)


def test_search_by_several_threads_beside_a_writer(folder, opened):
    codes = fill(folder, 2000, bits=64)
    writer, reader = opened(folder, writable=True), opened(folder)
    stop = threading.Event()

    def search(seed):
        rng, answers = np.random.default_rng(seed), 0
        while not stop.is_set() or answers < 20:
            i = int(rng.integers(0, 1000))
            (near,) = reader.search(
                codes[i : i + 1], 1, where=build_where((("sea", "sky", "dog")[i % 3],))
            )
            assert near == [Near(0, i)]
            assert reader.get([i])[0].code == codes[i].tobytes()
            assert reader.items(after=i - 1, limit=1)[0].id == i
            answers += 1
        return answers

    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(search, seed) for seed in range(3)]
        for step in range(15):
            writer.upsert(~codes[1000 + step :][:40], [Entry(f"{i}", ("sea",)) for i in range(40)])
            writer.remove([1500 + step])
        stop.set()
        assert all(one.result() >= 20 for one in running)


def test_closed_and_reading_stores_say_so(folder, opened):
    fill(folder, 2)
    store = opened(folder)
    with pytest.raises(UsageError, match="writable=True"):
        store.remove([0])
    store.close()
    store.close()
    with pytest.raises(UsageError, match="closed"):
        len(store)


def test_create_leaves_what_is_there_alone(folder, tmp_path):
    fill(folder, 2)
    with pytest.raises(InputError, match="not empty"):
        LocalStore.create(str(folder), Meta(8))
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="is a file"):
        LocalStore.create(str(tmp_path / "file"), Meta(8))
    (tmp_path / "empty").mkdir()
    LocalStore.create(str(tmp_path / "empty"), Meta(8)).close()


def test_create_that_fails_leaves_nothing(folder, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_layout, "create_database", fail)
    with pytest.raises(InputError, match="No space left"):
        LocalStore.create(str(folder), Meta(8))
    assert list(folder.parent.iterdir()) == []


def test_wrong_numbers_of_codes_and_bytes_are_refused(folder, opened):
    fill(folder, 2)
    store = opened(folder, writable=True)
    with pytest.raises(InputError, match="3 codes came with 1"):
        store.add(np.zeros((3, 2), np.uint8), [Entry("x")])
    with pytest.raises(InputError, match="bytes per row"):
        store.search(np.zeros((1, 3), np.uint8), 1)
    with pytest.raises(UsageError, match="k is 0"):
        store.search(np.zeros((1, 2), np.uint8), 0)
