"""An index that is deleted, or made anew, while it is open: no old answers, nothing lost unseen."""

import shutil

import numpy as np
import pytest

from softhash.errors import StoreUnavailableError
from softhash.index import Entry, HammingIndex
from softhash.index.local import _identity, _reader
from softhash.index.local.store import LocalStore
from softhash.index.store import Meta

GONE = "was deleted or replaced while it was open; open it again"


@pytest.fixture(autouse=True)
def _look_at_once(monkeypatch):
    monkeypatch.setattr(_identity, "EVERY_SECONDS", 0.0)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "index"


def _make(place, name, bits=8):
    store = LocalStore.create(str(place), Meta(bits))
    store.add(np.zeros((2, bits // 8), np.uint8), [Entry(f"{name}.jpg", (name,)), Entry("b.jpg")])
    store.close()


QUESTIONS = {
    "search": lambda store: store.search(np.zeros((1, 1), np.uint8), 1),
    "get": lambda store: store.get([0]),
    "codes": lambda store: store.codes([0]),
    "items": lambda store: store.items(),
    "labels": lambda store: store.labels(),
    "length": len,
    "version": lambda store: store.version,
    "meta": lambda store: store.meta,
    "names": lambda store: store.find_names(["b.jpg"]),
    "content": lambda store: store.find_content("0" * 64),
    "scan": lambda store: list(store.scan()),
}


@pytest.mark.parametrize("anew", [None, 8, 16], ids=["deleted", "anew", "of other bits"])
def test_a_reader_answers_nothing_from_an_index_that_is_gone(place, anew):
    _make(place, "old")
    store = LocalStore.open(str(place))
    for ask in QUESTIONS.values():
        ask(store)
    shutil.rmtree(place)
    if anew:
        _make(place, "new", anew)
    for ask in (*QUESTIONS.values(), *QUESTIONS.values()):
        with pytest.raises(StoreUnavailableError, match=GONE):
            ask(store)
    store.close()
    if anew == 8:
        with HammingIndex.open(place) as index:
            assert index.get(0).file_name == "new.jpg"


@pytest.mark.parametrize("anew", [False, True])
def test_a_writer_confirms_nothing_that_goes_into_deleted_files(place, anew):
    _make(place, "old")
    store = LocalStore.open(str(place), writable=True)
    shutil.rmtree(place)
    if anew:
        _make(place, "new")
    one = np.ones((1, 1), np.uint8)
    for write in (
        lambda: store.add(one, [Entry("c.jpg")]),
        lambda: store.upsert(one, [Entry("b.jpg")]),
        lambda: store.revise({1: Entry("d.jpg")}),
        lambda: store.remove([0]),
        lambda: store.set_root("elsewhere"),
    ):
        with pytest.raises(StoreUnavailableError, match=GONE):
            write()
    store.close()
    if anew:
        with HammingIndex.open(place, writable=True) as index:
            assert [item.file_name for item in index.store.items()] == ["new.jpg", "b.jpg"]


def test_what_is_deleted_during_a_write_is_not_confirmed(place, monkeypatch):
    _make(place, "old")
    store = LocalStore.open(str(place), writable=True)
    session = store._writer._session
    commit = session._commit

    def delete_first():
        shutil.rmtree(place)
        commit()

    monkeypatch.setattr(session, "_commit", delete_first)
    with pytest.raises(StoreUnavailableError, match=GONE):
        store.add(np.ones((1, 1), np.uint8), [Entry("c.jpg")])
    store.close()


def test_a_folder_that_comes_back_is_read_again(place):
    _make(place, "old")
    store = LocalStore.open(str(place))
    away = place.rename(place.with_name("away"))
    with pytest.raises(StoreUnavailableError):
        len(store)
    away.rename(place)
    assert len(store) == 2
    store.close()


def test_readers_look_at_the_folder_once_in_a_while_and_not_for_every_question(place, monkeypatch):
    monkeypatch.setattr(_identity, "EVERY_SECONDS", 60.0)
    _make(place, "old")
    looked = []
    find = _identity.Identity._find
    monkeypatch.setattr(_identity.Identity, "_find", lambda self: looked.append(1) or find(self))
    store = LocalStore.open(str(place))
    looked.clear()
    for _ in range(100):
        store.search(np.zeros((1, 1), np.uint8), 1)
    assert not looked
    store.close()


@pytest.fixture
def unchanging(monkeypatch):
    """Readers that treat the database as one that nobody can write to, as in a read-only folder."""
    connect = _reader.connect_to_read
    monkeypatch.setattr(_reader, "connect_to_read", lambda folder: (connect(folder)[0], True))


@pytest.mark.usefixtures("unchanging")
def test_a_copy_that_is_replaced_by_a_newer_one_is_followed(place):
    _make(place, "old")
    store = LocalStore.open(str(place))
    assert store.get([0])[0].file_name == "old.jpg"
    shutil.rmtree(place)
    with pytest.raises(StoreUnavailableError, match=GONE):
        len(store)
    _make(place, "new")
    assert store.get([0])[0].file_name == "new.jpg"
    assert store.labels() == {"new": 1}
    shutil.rmtree(place)
    _make(place, "other", bits=16)
    with pytest.raises(StoreUnavailableError, match=GONE):
        len(store)
    store.close()
