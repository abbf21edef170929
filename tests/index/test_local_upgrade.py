"""An index of format version 1 is read as it is, and upgraded when it is opened for writing."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from memory_store import MemoryStore
from test_local_faults import FailingOnce
from test_store_conformance import random_codes, rank
from version_1 import write

from softhash.errors import InputError
from softhash.index.expressions import build_where
from softhash.index.items import Entry
from softhash.index.local import LocalStore, _upgrade
from softhash.index.store import Meta
from softhash.index.where import EVERYTHING, Described

N = 200
REMOVED = (3, 150)


@pytest.fixture
def oracle():
    oracle = MemoryStore(Meta(64))
    codes = random_codes(np.random.default_rng(1), N, 64)
    entries = [
        Entry(f"{i}.jpg", (("sea", "sky", "dog")[i % 3],), i, i + 5, f"{i:064x}") for i in range(N)
    ]
    oracle.upsert(codes, entries)
    return oracle


@pytest.fixture
def folder(tmp_path, oracle):
    items = oracle.items(limit=N)
    codes = np.array([list(item.code) for item in items], np.uint8)
    write(tmp_path / "index", codes, [item.entry for item in items], REMOVED, pending=(7, 8))
    oracle.remove(REMOVED)
    return tmp_path / "index"


def check(store, oracle):
    items = oracle.items(limit=N)
    assert store.items(limit=N) == items
    assert list(store.scan()) == list(oracle.scan())
    assert store.labels() == oracle.labels()
    query = random_codes(np.random.default_rng(2), 1, 64)
    for where in (EVERYTHING, build_where(("sea",), ("dog",)), build_where((), ("sky",))):
        kept = [item for item in items if where.keeps(Described(item.entry.labels))]
        assert store.search(query, 20, where=where) == [rank(kept, query[0], None)[:20]]
    assert store.verify() == []


def about(folder):
    return json.loads((folder / "index.json").read_text())


def test_index_of_version_1_is_read_without_being_changed(folder, oracle):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with closing(LocalStore.open(str(folder))) as store:
        check(store, oracle)
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_index_of_version_1_is_upgraded_when_it_is_opened_for_writing(folder, oracle):
    reader = LocalStore.open(str(folder))
    check(reader, oracle)
    with closing(LocalStore.open(str(folder), writable=True)) as store:
        check(store, oracle)
        assert about(folder) == {"format": "softhash index", "version": 2, "bits": 64}
        entry = Entry("5.jpg", ("sky", "new"), uploaded=True)
        store.revise({5: entry})
        oracle.revise({5: entry})
        check(store, oracle)
        check(reader, oracle)
    reader.close()
    with closing(LocalStore.open(str(folder))) as store:
        check(store, oracle)
        assert store.get([5])[0].entry.uploaded
        assert store.meta == Meta(64, "model", "/pictures")


def test_upgrade_that_failed_leaves_version_1_and_is_made_up_for(folder, oracle, monkeypatch):
    upgrade = _upgrade.upgrade
    for step in ("BEGIN IMMEDIATE", *_upgrade.STATEMENTS, "COMMIT"):

        class Failing(FailingOnce):
            def execute(self, query, *values, failing=step):
                if query == failing:
                    raise sqlite3.OperationalError("disk I/O error")
                return self._connection.execute(query, *values)

        with monkeypatch.context() as patch:
            patch.setattr(
                "softhash.index.local._transactions.upgrade",
                lambda folder, connection, failing=Failing: upgrade(folder, failing(connection)),
            )
            with pytest.raises(InputError, match="I/O error"):
                LocalStore.open(str(folder), writable=True)
        assert about(folder)["version"] == 1
        with closing(LocalStore.open(str(folder))) as store:
            check(store, oracle)
    with closing(LocalStore.open(str(folder), writable=True)) as store:
        check(store, oracle)


def test_upgrade_that_was_not_noted_in_index_json_is_noted_later(folder, oracle):
    LocalStore.open(str(folder), writable=True).close()
    text = (folder / "index.json").read_text()
    (folder / "index.json").write_text(text.replace("2", "1"))
    with closing(LocalStore.open(str(folder))) as store:
        check(store, oracle)
    LocalStore.open(str(folder), writable=True).close()
    assert (folder / "index.json").read_text() == text
