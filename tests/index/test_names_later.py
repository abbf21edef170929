"""Many new items: their names are sorted at the end, and whatever comes between costs none."""

import contextlib
import itertools
import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import time
from hashlib import sha256

import numpy as np
import pytest

from softhash.errors import IndexDamagedError, InputError
from softhash.index._new_names import all_differ
from softhash.index.items import Entry
from softhash.index.local import LocalStore, _database, _items, _names
from softhash.index.store import Meta

BITS, BATCH = 64, 200

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["softhash.index.local"])


def batch(number, count=BATCH):
    """Make items whose names are in no order."""
    rng = np.random.default_rng(number)
    codes = rng.integers(0, 256, (count, BITS // 8), np.uint8)
    names = [f"{rng.integers(1 << 60):x}-{number}-{i}" for i in range(count)]
    return codes, [
        Entry(name, ("sea",), sha256=sha256(name.encode()).hexdigest()) for name in names
    ]


def made(folder):
    return contextlib.closing(LocalStore.create(str(folder), Meta(BITS)))


def opened(folder, **options):
    return contextlib.closing(LocalStore.open(str(folder), **options))


def are_indexed(folder):
    with contextlib.closing(sqlite3.connect(folder / "items.sqlite")) as connection:
        return _names.are_indexed(connection)


def test_names_sorted_later_are_found_as_those_sorted_at_once(tmp_path):
    with made(tmp_path / "a") as at_once, made(tmp_path / "b") as later:
        with later.names_later():
            for number in range(5):
                assert later.add(*batch(number)) == at_once.add(*batch(number))
                names = [entry.file_name for entry in batch(number)[1]]
                assert later.find_names(names) == at_once.find_names(names)  # by reading all rows
            assert not are_indexed(tmp_path / "b")
        assert are_indexed(tmp_path / "b")
        assert list(later.scan()) == list(at_once.scan())
        with pytest.raises(InputError, match="in the index already"):
            later.add(*batch(3))
        assert later.verify() == []


def test_names_of_an_index_that_has_items_stay_sorted(tmp_path):
    with made(tmp_path / "i") as store:
        store.add(*batch(0))
        with store.names_later():
            assert are_indexed(tmp_path / "i")
            with pytest.raises(InputError, match="in the index already"):
                store.add(*batch(0))


def test_names_are_sorted_before_anything_else_after_a_failure(tmp_path):
    with made(tmp_path / "i") as store:
        with contextlib.suppress(KeyboardInterrupt), store.names_later():
            store.add(*batch(0))
            raise KeyboardInterrupt
        assert not are_indexed(tmp_path / "i")
        with pytest.raises(InputError, match="in the index already"):
            store.add(*batch(0))
        assert len(store) == BATCH
        assert are_indexed(tmp_path / "i")


def test_two_items_of_one_name_are_damage(tmp_path):
    """Whoever adds items so answers for their names."""
    with made(tmp_path / "i") as store, contextlib.ExitStack() as stack:
        stack.enter_context(store.names_later())
        store.add(*batch(0))
        store.add(*batch(0))
        with pytest.raises(IndexDamagedError, match="the same name"):
            stack.close()


def write(folder, confirmed):
    """Write until killed."""
    with made(folder) as store:
        with store.names_later():
            for number in range(60):
                store.add(*batch(number))
                confirmed.send(number + 1)
        for number in itertools.count(60):
            store.add(*batch(number))
            confirmed.send(number + 1)


@pytest.mark.parametrize("seed", range(8))
def test_killed_writer_loses_no_name(tmp_path, seed):
    dice, folder = random.Random(seed), tmp_path / "i"
    receive, send = processes.Pipe(duplex=False)
    writer = processes.Process(target=write, args=(folder, send))
    writer.start()
    send.close()
    confirmed = 0
    for _ in range(dice.choice([1, 20, 60, 62])):
        confirmed = receive.recv()
    time.sleep(dice.random() * 0.01)
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    with contextlib.suppress(EOFError):
        while True:
            confirmed = receive.recv()
    names = [entry.file_name for number in range(confirmed) for entry in batch(number)[1]]
    for options in ({}, {"writable": True}):
        with opened(folder, **options) as store:
            assert len(store) in (len(names), len(names) + BATCH)
            asked = names if options else names[:: len(names) // 50]  # slow without an index
            assert set(store.find_names(asked)) == set(asked)
            assert store.verify() == []
    assert are_indexed(folder)
    with opened(folder, writable=True) as store, pytest.raises(InputError, match="already"):
        store.add(*batch(confirmed - 1))


def fill_up(folder, answer):
    """Run out of room while names are sorted."""
    with made(folder) as store:
        try:
            with store.names_later():
                for number in range(20):
                    store.add(*batch(number))
                room = max(path.stat().st_size for path in folder.iterdir())
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        except InputError as error:
            answer.send((str(error), len(store), store.verify()))


def test_no_room_to_sort_names_costs_no_item(tmp_path):
    folder = tmp_path / "i"
    receive, send = processes.Pipe(duplex=False)
    writer = processes.Process(target=fill_up, args=(folder, send))
    writer.start()
    send.close()
    message, count, wrong = receive.recv()
    writer.join()
    assert "is the disk full" in message
    assert (count, wrong) == (20 * BATCH, [])
    with opened(folder, writable=True) as store:
        assert are_indexed(folder)
        with pytest.raises(InputError, match="already"):
            store.add(*batch(7))
        assert store.verify() == []


OLDER = (
    ("file_name NOT NULL,", "file_name NOT NULL UNIQUE,"),
    ("CREATE UNIQUE INDEX names ON items (file_name);", ""),
    ("(substr(sha256, 1, 8))", "(sha256)"),
)


@pytest.mark.parametrize("older", [False, True])
def test_names_and_contents_are_looked_up_by_an_index_of_either_kind(tmp_path, monkeypatch, older):
    schema = _database.SCHEMA
    for now, before in OLDER:
        assert now in schema
        schema = schema.replace(now, before) if older else schema
    monkeypatch.setattr(_database, "SCHEMA", schema)
    with made(tmp_path / "i") as store:
        with store.names_later():
            store.add(*batch(0))
            assert are_indexed(tmp_path / "i") == older
        code, (entry, *_) = batch(1)
        store.add(code[:2], [entry, entry._replace(file_name="twice")])
        assert store.find_content(entry.sha256) == BATCH
        assert store.find_content(entry.sha256[:-1] + "g") is None
        assert store.find_content("") is None
        store.add(code[2:4], [Entry("odd", sha256="5EA" * 21 + "D"), Entry("short", sha256="5ea")])
        assert store.find_content("5EA" * 21 + "D") == BATCH + 2
        assert store.find_content("5ea" * 21 + "d") is None
        assert store.find_content("5ea") == BATCH + 3
        assert [item.entry.sha256 for item in store.get([BATCH + 1, BATCH + 2, BATCH + 3])] == [
            entry.sha256,
            "5EA" * 21 + "D",
            "5ea",
        ]
        assert store.verify() == []
    with contextlib.closing(sqlite3.connect(tmp_path / "i" / "items.sqlite")) as connection:
        change = "UPDATE items SET sha256 = lower(hex(sha256)) WHERE typeof(sha256) = 'blob'"
        assert connection.execute(change).rowcount == BATCH + 2
        connection.commit()
    with opened(tmp_path / "i") as store:  # as older rows are
        assert store.find_content(entry.sha256) == BATCH
        assert store.get([BATCH])[0].entry == entry
        assert store.verify() == []
    found = _items._CONTENT, "WHERE file_name = ?1 OR file_name = ?2"
    with contextlib.closing(sqlite3.connect(tmp_path / "i" / "items.sqlite")) as connection:
        for where in found:
            query = f"EXPLAIN QUERY PLAN {_items._select(2, where)}"
            plan = str(
                connection.execute(query, "abcd"[: 4 if "sha256" in where else 2]).fetchall()
            )
            assert "USING INDEX" in plan
            assert "SCAN" not in plan


def test_names_differ_as_a_set_would_find():
    rng = np.random.default_rng(0)
    for most in (50, 5_000):
        for _ in range(20):
            names = [[f"{i}" for i in rng.integers(0, most, 10)] for _ in range(3)]
            every = list(itertools.chain.from_iterable(names))
            assert all_differ(names) == (len(set(every)) == len(every))
    assert all_differ([])
