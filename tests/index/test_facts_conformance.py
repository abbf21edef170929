"""Stores that keep facts of photographs filter by them as the one in plain Python does."""

import numpy as np
import pytest
from test_store_conformance import Twin

from softhash.data.photo_facts import PhotoFacts
from softhash.index.facts import FactStore
from softhash.index.items import Entry
from softhash.index.local import _transactions
from softhash.index.store import Meta
from softhash.index.where import Camera, Folder, Not, Taken

TIMES = ["", "1969-12-31T23:59:59", "1970-01-01T00:00:00", "2024-04-30T23:59:59"]
TIMES += [
    "2024-05-01T00:00:00",
    "2024-05-17T14:03:22",
    "2024-05-31T23:59:59",
    "2025-01-01T00:00:00",
]
CAMERAS = ["", "NIKON D90", "Apple iPhone 15", "Straße 9", "日本"]
PLACES = [(None, None), (48.5, -2.25), (-33.875, 151.125)]


class FactTwin(Twin):
    """A twin whose items get facts, most of them, some time after they are written."""

    def __init__(self, store, seed):
        super().__init__(store, 12, [f"label {i}" for i in range(9)], seed)
        for one in (self.store, self.oracle):
            one.facts.keep()

    def look(self):
        entries = [entry for _, entry in self.oracle.scan() if self.random.random() < 0.8]
        facts = [self.facts() for _ in entries]
        for one in (self.store, self.oracle):
            ids = one.find_names([entry.file_name for entry in entries])
            contents = [entry.sha256 for entry in entries]
            one.facts.put([ids[entry.file_name] for entry in entries], contents, facts)

    def facts(self):
        place = self.random.choice(PLACES)
        return PhotoFacts(self.random.choice(TIMES), self.random.choice(CAMERAS), *place)

    def check(self):
        super().check()
        items = list(self.store.scan())
        ids = self.oracle.find_names([entry.file_name for _, entry in items])
        known = [(ids[entry.file_name], entry) for _, entry in items]
        assert self.store.facts.get(items) == self.oracle.facts.get(known)
        missing = {entry.file_name for _, entry in self.store.facts.missing(items)}
        assert missing == {entry.file_name for _, entry in self.oracle.facts.missing(known)}


@pytest.fixture
def make_twin(make_store):
    def make(seed):
        store = make_store(Meta(12))
        if not isinstance(store, FactStore):
            pytest.skip("it keeps no facts")
        return FactTwin(store, seed)

    return make


@pytest.mark.parametrize("seed", range(4))
def test_store_agrees_with_the_plain_one_about_facts(make_twin, seed):
    twin = make_twin(seed)
    twin.check()
    twin.add()
    for _ in range(10):
        verb = twin.random.choice([twin.add, twin.upsert, twin.revise, twin.remove, twin.look])
        verb()
        twin.check()


def test_items_whose_records_are_pending_have_their_facts_and_folders(make_twin, monkeypatch):
    twin = make_twin(5)
    twin.add()
    twin.add()
    twin.look()
    monkeypatch.setattr(_transactions.Column, "put", lambda *given: (_ for _ in ()).throw(OSError))
    twin.remove()
    for number, entry in enumerate([entry for _, entry in twin.oracle.scan()][:9]):
        moved = entry._replace(file_name=f"moved/Italy/{number}.jpg")
        twin.store.revise({twin.find_id(entry.file_name): moved})
        twin.oracle.revise({twin.oracle.find_names([entry.file_name])[entry.file_name]: moved})
    if not isinstance(twin.store, type(twin.oracle)):
        assert len(twin.store._reader.snapshot().pending.ids) > 9
    assert twin.store.count(Folder("moved"), Folder("moved/Italy")) == [9, 9]
    for _ in range(4):
        twin.check()


def names(store, where):
    return {item.file_name for item in store.items(where=where)}


def test_a_folder_is_a_path_or_a_part_of_one_in_every_store(make_store):
    store = make_store(Meta(8))
    files = ["a.jpg", "Italy/b.jpg", "2024/Italy/c.jpg", "2024/Italy/Rome/d.jpg", "Italy.jpg"]
    files += ["italy/e.jpg", "Italy 2/f.jpg", "2024/It_ly/g.jpg", "2024/It%y/h.jpg", "a\\b/i.jpg"]
    store.add(np.zeros((len(files), 1), np.uint8), [Entry(name) for name in files])
    assert names(store, Folder("Italy")) == {*files[1:4]}
    assert names(store, Folder("/Italy/")) == {*files[1:4]}
    assert names(store, Folder("2024/Italy")) == {*files[2:4]}
    assert names(store, Folder("Rome")) == {files[3]}
    assert names(store, Folder("It_ly")) == {files[7]}
    assert names(store, Folder("It%y")) == {files[8]}
    assert names(store, Folder("%")) == set()
    assert names(store, Folder("a\\b")) == {files[9]}
    assert names(store, Folder("\udce9")) == set()
    assert names(store, Not(Folder("Italy"))) == {files[0], *files[4:]}


def test_a_store_without_facts_has_no_item_of_a_date_or_a_camera(make_store):
    store = make_store(Meta(8))
    store.add(np.zeros((2, 1), np.uint8), [Entry("a", sha256="a"), Entry("b", sha256="b")])
    filters = Taken(), Taken("1900"), Camera(""), Not(Taken()), Not(Camera("nikon"))
    assert store.count(*filters) == [0, 0, 0, 2, 2]
