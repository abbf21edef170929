"""A collection on a real server against the plain store."""

import itertools
import socket
import time
from contextlib import contextmanager, suppress
from threading import Thread

import numpy as np
import pytest
from memory_store import MemoryStore
from milvus_server import client, milvus_server, milvus_store  # noqa: F401

from softhash.codes import pack
from softhash.errors import (
    IndexBusyError,
    InputError,
    StoreUnavailableError,
    UnknownItemError,
    UsageError,
)
from softhash.index import HammingIndex
from softhash.index.expressions import build_where
from softhash.index.items import Entry
from softhash.index.milvus import MilvusStore, _collection, _names, _ranking, _rows
from softhash.index.store import Meta
from softhash.index.where import EVERYTHING

pytestmark = pytest.mark.slow

TWELVE = Meta(12)
LABELS = ("sky", "sea", 'quo"te', "apo'strophe", "back\\slash", "漢字 😀", "new\nline", "")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def make(milvus_server):  # noqa: F811
    """Make stores in collections of their own, closed at the end."""
    made = []

    def store(meta=TWELVE):
        made.append(milvus_store(milvus_server, meta))
        return made[-1]

    yield store
    for one in made:
        one.close()


def random_codes(count, bits, seed=0):
    return pack(np.random.default_rng(seed).standard_normal((count, bits)))


def random_entries(count, seed=0, prefix=""):
    random = np.random.default_rng(seed)
    return [
        Entry(
            f"{prefix}{number:04}-{LABELS[number % len(LABELS)]}.jpg",
            tuple(str(label) for label in random.permutation(LABELS)[: random.integers(0, 4)]),
            int(random.integers(2**40)),
            int(random.integers(2**62)),
            f"{random.integers(20):064x}",
        )
        for number in range(count)
    ]


def twin(store, codes, entries, write="add"):
    """Write to a store and to an oracle that gives the same ids."""
    oracle = MemoryStore(store.meta)
    ids = getattr(store, write)(codes, entries)
    oracle._ids = iter(ids)
    getattr(oracle, write)(codes, entries)
    return oracle


def agree(store, oracle):
    assert len(store) == len(oracle)
    assert store.items(limit=10**6) == oracle.items(limit=10**6)
    assert list(store.scan()) == list(oracle.scan())
    assert store.labels() == oracle.labels()


@pytest.mark.parametrize("bits", [1, 48, 200])
def test_store_ranks_like_the_plain_one(make, bits):
    store = make(Meta(bits, "f" * 64))
    codes, queries = random_codes(300, bits), random_codes(7, bits, seed=1)
    oracle = twin(store, codes, random_entries(300))
    agree(store, oracle)
    filters = [
        EVERYTHING,
        *(build_where((label,)) for label in LABELS),
        build_where((), LABELS[:3]),
    ]
    filters += [
        build_where(LABELS[2:5], LABELS[5:7]),
        build_where(("nobody's",)),
        build_where((), ("nobody's",)),
    ]
    for where in filters:
        for k, offset, radius in [(1, 0, None), (10, 0, None), (10, 25, bits // 2), (400, 0, bits)]:
            asked = {"offset": offset, "radius": radius, "where": where}
            assert store.search(queries, k, **asked) == oracle.search(queries, k, **asked)
    assert store.search(queries, 5, radius=0) == oracle.search(queries, 5, radius=0)
    assert store.search(queries, 5, radius=-1) == [[]] * 7
    assert store.search(queries[:0], 5) == []


def test_search_breaks_ties_at_the_cut_by_id(make, monkeypatch):
    store = make(Meta(8))
    codes = np.repeat(np.array([[0], [1], [3]], np.uint8), 500, axis=0)
    oracle = twin(store, codes, random_entries(1500))
    for k in (1, 65, 499, 500, 501, 999, 1500):
        assert store.search(codes[:1], k) == oracle.search(codes[:1], k)
    monkeypatch.setattr(_ranking, "MAX_RESULTS", 100)  # fewer than the 500 ties
    where = build_where(("sky",))
    for k in (1, 65, 99, 100):
        assert store.search(codes[:1], k) == oracle.search(codes[:1], k)
        asked = {"where": where, "radius": 1}
        assert store.search(codes[:1], k, **asked) == oracle.search(codes[:1], k, **asked)


def test_search_says_how_far_milvus_ranks(make):
    store = make(Meta(8))
    store.add(random_codes(3, 8), random_entries(3))
    assert len(store.search(random_codes(1, 8), 16_000, offset=384)[0]) == 0
    assert len(store.search(random_codes(1, 8), 16_384)[0]) == 3
    with pytest.raises(UsageError, match="16,385; Milvus ranks up to 16,384"):
        store.search(random_codes(1, 8), 16_000, offset=385)


def test_writer_reads_each_write_at_once(make):
    store = make(Meta(16))
    codes, entries = random_codes(40, 16), random_entries(40)
    oracle = twin(store, codes, entries)
    for step in range(4):
        old, new = entries[step : step + 3], random_entries(2, prefix=f"{step}/")
        change = [*old, *new, new[0]._replace(labels=("last",))]
        ids = store.upsert(random_codes(6, 16, seed=step + 5), change)
        oracle._ids = iter(dict.fromkeys(id for id in ids if id not in oracle._items))
        assert oracle.upsert(random_codes(6, 16, seed=step + 5), change) == ids
        agree(store, oracle)
        gone = [ids[1], ids[4], 5]
        assert store.remove(gone) == oracle.remove(gone) == 2
        assert store.search(codes[:2], 50) == oracle.search(codes[:2], 50)
        agree(store, oracle)
        swap = dict(zip(ids[:1] + ids[3:4], [new[0], old[0]], strict=True))
        store.revise(swap)
        oracle.revise(swap)
        agree(store, oracle)
        names = [entry.file_name for entry in [*entries, *new]] + ["nobody.jpg", "\udce9"]
        assert store.find_names(names) == oracle.find_names(names)
    for content in {entry.sha256 for entry in entries} | {"nothing"}:
        assert store.find_content(content) == oracle.find_content(content)


def test_batches_need_not_wait_for_each_other(make, monkeypatch):
    store = make()
    codes = random_codes(4, 12)
    store.add(codes, random_entries(4, prefix="a"))
    asked = []
    ask = store._collection._client.query
    monkeypatch.setattr(
        store._collection._client,
        "query",
        lambda *given, **options: (
            asked.append(options["consistency_level"]) or ask(*given, **options)
        ),
    )
    for batch in "bcd":
        store.add(codes, random_entries(4, prefix=batch))
        with pytest.raises(InputError, match="use upsert"):
            store.add(codes[:1], random_entries(1, prefix=batch))
    assert set(asked) == {"Bounded"}
    assert len(store) == 16
    assert asked[-1] == "Strong"


def test_names_are_forgotten_when_many_were_written(make, monkeypatch):
    monkeypatch.setattr(_names, "MAX_RECENT", 10)
    store = make()
    for batch in "abc":
        store.add(random_codes(8, 12), random_entries(8, prefix=batch))
    with pytest.raises(InputError, match="use upsert"):
        store.add(random_codes(1, 12), random_entries(1, prefix="b"))
    assert len(store) == 24


def test_add_of_known_or_double_names_changes_nothing(make):
    store = make()
    entries = random_entries(5)
    store.add(random_codes(3, 12), entries[:3])
    version = store.version
    for wrong in (entries, [entries[3], entries[3]]):
        with pytest.raises(InputError, match="use upsert"):
            store.add(random_codes(len(wrong), 12), wrong)
    with pytest.raises(InputError, match="2 codes came with 1"):
        store.add(random_codes(2, 12), entries[3:4])
    with pytest.raises(InputError, match="bytes per row"):
        store.add(random_codes(1, 24), entries[3:4])
    assert (len(store), store.version) == (3, version)


def test_add_that_fails_midway_leaves_nothing(make, monkeypatch):
    monkeypatch.setattr(_collection, "WRITE_ROWS", 4)
    store = make()
    store.add(random_codes(2, 12), random_entries(2, prefix="old"))
    send, sent = store._collection._client.upsert, itertools.count()

    def fail(*given, **options):
        if next(sent) == 1:
            raise KeyboardInterrupt
        return send(*given, **options)

    monkeypatch.setattr(store._collection._client, "upsert", fail)
    with pytest.raises(KeyboardInterrupt):
        store.add(random_codes(10, 12), random_entries(10))
    assert len(store) == 2
    assert len(store.add(random_codes(10, 12), random_entries(10))) == 10
    assert len(store) == 12


def test_id_that_another_name_has_is_stepped_over(make, monkeypatch):
    monkeypatch.setattr(_names, "first_id", lambda name: 7 if name != "z" else _names.IDS - 1)
    store = make()
    entries = [Entry(name) for name in "abcz"]
    assert store.add(random_codes(2, 12), entries[:2]) == [7, 8]
    assert store.add(random_codes(2, 12), entries[2:]) == [9, _names.IDS - 1]
    store.revise({7: Entry("renamed")})
    assert store.upsert(random_codes(3, 12), [Entry("renamed"), entries[0], entries[1]]) == [
        7,
        10,
        8,
    ]


def test_revise_refuses_names_of_others_and_unknown_ids(make):
    store = make()
    first, second = store.add(random_codes(2, 12), random_entries(2))
    items = store.get([first, second])
    with pytest.raises(InputError, match="two items would have"):
        store.revise({first: items[1].entry})
    with pytest.raises(InputError, match="two items would have"):
        store.revise({first: Entry("x"), second: Entry("x")})
    for unknown in (12345, -1, 2**70):
        with pytest.raises(UnknownItemError, match=f"id {unknown}"):
            store.revise({first: Entry("x"), unknown: Entry("y")})
    assert store.get([second, first]) == items[::-1]
    assert store.remove([-1, 2**70, first, first]) == 1


def test_items_are_paged_in_id_order_across_segments(make, monkeypatch, milvus_server):  # noqa: F811
    monkeypatch.setattr(_collection, "WALK_ROWS", 64)
    store = make()
    codes, entries = random_codes(600, 12), random_entries(600)
    oracle = MemoryStore(store.meta)
    for start in range(0, 600, 200):  # a flush closes a segment
        part = slice(start, start + 200)
        oracle._ids = iter(store.add(codes[part], entries[part]))
        oracle.add(codes[part], entries[part])
        client(milvus_server).flush(store.location.rpartition("/")[2])
    gone = [item.id for item in oracle.items(limit=600)[::3]]
    store.remove(gone)
    oracle.remove(gone)
    where = build_where(("sky", "sea"), ("back\\slash",))
    for limit in (1, 7, 64, 65, 500):
        for kept in (EVERYTHING, where):
            after, page = -1, [None]
            while page:
                page = store.items(after=after, limit=limit, where=kept)
                assert page == oracle.items(after=after, limit=limit, where=kept)
                after = page[-1].id if page and limit > 6 else 2**53
    agree(store, oracle)
    assert store.search(codes[:3], 100, where=where) == oracle.search(codes[:3], 100, where=where)
    assert store.items(limit=0) == []


def test_reader_sees_what_was_written_before_it_looked(make):
    store = make(Meta(12, "abc"))
    reader = MilvusStore.open(store.location)
    version = reader.version
    for count in (1, 2, 3):
        store.add(random_codes(1, 12), random_entries(1, prefix=str(count)))
        assert reader.version > version
        version = reader.version
        assert len(reader) == count
        assert sum(reader.labels().values()) == sum(store.labels().values())
    store.set_root("/ü\\ber/\"pictures'")
    assert MilvusStore.open(store.location).meta == Meta(12, "abc", "/ü\\ber/\"pictures'")
    assert reader.version > version
    for write in (lambda: reader.remove([1]), lambda: reader.set_root("x")):
        with pytest.raises(UsageError, match="writable=True"):
            write()


def test_store_has_one_writer_and_survives_closing(make):
    store = make()
    store.add(random_codes(5, 12), random_entries(5))
    with pytest.raises(IndexBusyError, match="another process writes"):
        MilvusStore.open(store.location, writable=True)
    store.close()
    with pytest.raises(InputError, match="exists"):
        MilvusStore.create(store.location, Meta(12))
    again = MilvusStore.open(store.location, writable=True)
    assert len(again) == 5
    assert again.remove([item.id for item in again.items()]) == 5
    again.close()
    again.close()


def test_open_says_what_is_wrong(make, milvus_server):  # noqa: F811
    with pytest.raises(InputError, match="has no collection nowhere; make it first"):
        MilvusStore.open(f"milvus://{milvus_server}/nowhere")
    connection = client(milvus_server)
    connection.create_collection("theirs", dimension=8)
    try:
        with pytest.raises(InputError, match="not made by softhash"):
            MilvusStore.open(f"milvus://{milvus_server}/theirs")
    finally:
        connection.drop_collection("theirs")
    store = make()
    name = store.location.rpartition("/")[2]
    connection.release_collection(name)
    assert len(MilvusStore.open(store.location)) == 0  # loaded again
    with pytest.raises(InputError, match="bytes per row"):
        store.search(random_codes(1, 24), 1)


def test_verify_finds_codes_and_names_that_are_wrong(make):
    store = make(Meta(12))
    store.add(random_codes(30, 12), random_entries(30))
    seen = []
    assert store.verify(lambda done, total: seen.append((done, total))) == []
    assert seen[-1] == (30, 30)
    [wrong, copy] = store.items(limit=2)
    entry = wrong.entry._asdict() | {"labels": []}
    store._collection.upsert([{"id": wrong.id, "code": b"\xff\xff"} | entry])
    store._collection.upsert([{"id": copy.id, "code": b"\xff\xf0"} | entry])
    found = store.verify()
    assert len(found) == 2
    assert f"item {wrong.id}" in found[0]
    assert "ffff" in found[0]
    assert "two items have one file name" in found[1]


def test_hamming_index_works_on_a_collection(make):
    store = make(Meta(48))
    store.close()
    with HammingIndex.open(store.location, writable=True) as index:
        codes = random_codes(50, 48)
        ids = index.add_codes(codes, random_entries(50))
        hits = index.search(code=codes[3], k=3)
        assert (hits[0].id, hits[0].distance) == (ids[3], 0)
        assert ids[3] not in [hit.id for hit in index.search(id=ids[3], k=50)]
        assert index.path is not None
        with pytest.raises(InputError, match="no model"):
            index.hasher  # noqa: B018


def test_server_that_goes_away_is_told_within_seconds(make, milvus_server):  # noqa: F811
    name = make().location.rpartition("/")[2]
    with forwarded(milvus_server) as (port, stop):
        store = MilvusStore.open(f"milvus://127.0.0.1:{port}/{name}")
        assert len(store) == 0
        stop()
        start = time.monotonic()
        for ask in (lambda: store.version, lambda: store.search(random_codes(1, 12), 3)):
            with pytest.raises(StoreUnavailableError, match=f"127.0.0.1:{port}; start the server"):
                ask()
        assert time.monotonic() - start < 20
        store.close()


@contextmanager
def forwarded(server):
    """Forward a port to the server until told to stop."""
    host, port = server.split(":")
    listener = socket.create_server(("127.0.0.1", 0))
    ends = [listener]

    def pump(source, target):
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)

    def accept():
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection((host, int(port)))
                ends.extend((near, far))
                for pair in ((near, far), (far, near)):
                    Thread(target=pump, args=pair, daemon=True).start()

    def stop():
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    Thread(target=accept, daemon=True).start()
    yield listener.getsockname()[1], stop
    stop()


def test_collection_of_format_version_1_keeps_everything_but_uploaded(make, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(_rows, "FORMAT_VERSION", 1)
        patch.setattr(_rows, "KINDS", {n: k for n, k in _rows.KINDS.items() if n != "uploaded"})
        old = make()
        old.close()
    entry = Entry("a.jpg", ("sky",), 7, 8, "9" * 64, uploaded=True)
    store = MilvusStore.open(old.location, writable=True)
    (id,) = store.add(random_codes(1, 12), [entry])
    kept = entry._replace(uploaded=False)
    assert store.get([id])[0].entry == kept
    assert list(store.scan()) == [(id, kept)]
    store.revise({id: entry._replace(labels=("sea",))})
    assert store.items()[0].entry == kept._replace(labels=("sea",))
    assert store.verify() == []
    store.close()
