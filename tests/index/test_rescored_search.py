"""Rescored searches of every kind of store, against a ranking by loops."""

import numpy as np
import pytest
from memory_store import MemoryStore

from softhash.codes import pack, unpack
from softhash.errors import InputError, UnknownItemError, UsageError
from softhash.index import Entry, HammingIndex
from softhash.index.expressions import build_where
from softhash.index.local import LocalStore
from softhash.index.local._transactions import Session
from softhash.index.store import Meta
from softhash.index.where import EVERYTHING
from softhash.model.hasher import Hasher

BITS = 12
POOL = 20
LABELS = ("sea", "sky", "sun")


@pytest.fixture
def index(make_store):
    """Sixty items, several of which have the same code."""
    rng = np.random.default_rng(4)
    few = pack(rng.normal(size=(40, BITS)))
    entries = [
        Entry(f"{i}", tuple(label for label in LABELS if rng.random() < 0.5)) for i in range(60)
    ]
    index = HammingIndex(make_store(Meta(BITS)))
    index.add_codes(few[rng.integers(0, 40, 60)], entries)
    return index


@pytest.fixture
def small_pool(monkeypatch):
    monkeypatch.setattr("softhash.index.ranking.POOL", POOL)


def outputs(seed):
    """Some of them equal, so that different codes tie."""
    return np.random.default_rng(seed).choice([-1.5, -0.5, -0.25, 0.25, 1.0], BITS)


def ranking(index, u, where=EVERYTHING, radius=None, pool=POOL):
    """(id, Hamming distance, asymmetric distance or None), by loops over items and bits."""
    found = []
    for item in index.store.items(limit=1000, where=where):
        bits = unpack(np.frombuffer(item.code, np.uint8)[np.newaxis], BITS)[0]
        weights = [
            abs(float(value))
            for value, bit in zip(u, bits, strict=True)
            if (value > 0) != bool(bit)
        ]
        if radius is None or len(weights) <= radius:
            found.append((len(weights), item.id, sum(weights)))
    found.sort()
    first = sorted((weight, distance, id) for distance, id, weight in found[:pool])
    return [(id, distance, weight) for weight, distance, id in first] + [
        (id, distance, None) for distance, id, _ in found[pool:]
    ]


def told(hits):
    return [(hit.id, hit.distance, hit.rescored) for hit in hits]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("small_pool")
def test_rescored_hits_are_in_the_order_of_the_definition(index, seed):
    u = outputs(seed)
    found = told(index.search(outputs=u, k=60, rescore=True))
    assert found == ranking(index, u)
    plain = told(index.search(outputs=u, k=60))
    assert [one[:2] for one in plain] == [one[:2] for one in ranking(index, u, pool=0)]
    assert plain == told(index.search(code=pack(u[np.newaxis])[0], k=60))
    assert {id for id, _, _ in found[:POOL]} == {id for id, _, _ in plain[:POOL]}
    assert found[:POOL] != plain[:POOL]
    assert found[POOL:] == plain[POOL:]


@pytest.mark.usefixtures("small_pool")
@pytest.mark.parametrize("size", [1, 7, 20, 33])
def test_pages_continue_each_other(index, size):
    u = outputs(7)
    pages = [
        told(index.search(outputs=u, k=size, offset=first, rescore=True))
        for first in range(0, 60 + size, size)
    ]
    assert [one for page in pages for one in page] == ranking(index, u)
    assert pages[-1] == []


@pytest.mark.usefixtures("small_pool")
def test_a_radius_keeps_the_order_and_cuts_by_hamming_distance(index):
    u = outputs(8)
    whole = ranking(index, u)
    for radius in range(BITS + 1):
        found = told(index.search(outputs=u, k=60, max_distance=radius, rescore=True))
        assert found == [one for one in whole if one[1] <= radius]
        assert found == ranking(index, u, radius=radius)


@pytest.mark.usefixtures("small_pool")
def test_filters_come_before_the_pool(index):
    u = outputs(9)
    where = build_where(("sea", "sky"), ("sun",))
    found = index.search(outputs=u, k=60, where=where, rescore=True)
    assert told(found) == ranking(index, u, where)
    assert 0 < len(found) < POOL
    assert not index.search(outputs=u, labels=["sea"], not_labels=["sea"], rescore=True)


def test_the_pool_holds_five_thousand(make_store):
    rng = np.random.default_rng(0)
    index = HammingIndex(make_store(Meta(BITS)))
    index.add_codes(pack(rng.normal(size=(5100, BITS))), [Entry(f"{i}") for i in range(5100)])
    u = rng.normal(size=BITS)
    found = index.search(outputs=u, k=20, offset=4990, rescore=True)
    assert [hit.rescored is None for hit in found] == [False] * 10 + [True] * 10
    assert told(found[10:]) == told(index.search(outputs=u, k=10, offset=5000))
    assert told(index.search(outputs=u, k=10, offset=5000, rescore=True)) == told(found[10:])


def test_codes_come_in_the_order_asked_for(make_store):
    store = make_store(Meta(BITS))
    codes = pack(np.random.default_rng(0).normal(size=(30, BITS)))
    assert store.codes([]).shape == (0, 2)
    with pytest.raises(UnknownItemError):
        store.codes([5])
    ids = store.add(codes, [Entry(f"{i}") for i in range(30)])
    assert (store.codes([*ids[::-1], ids[3]]) == codes[[*range(29, -1, -1), 3]]).all()
    store.upsert(codes[:1], [Entry("7")])
    store.remove([ids[9]])
    assert (store.codes([ids[7]]) == codes[:1]).all()
    for unknown in (ids[9], max(ids) + 1, -1):
        with pytest.raises(UnknownItemError, match=str(unknown)):
            store.codes([ids[0], unknown])


def test_codes_that_are_not_in_their_file_yet_count(tmp_path, monkeypatch):
    writer = LocalStore.create(str(tmp_path / "index"), Meta(BITS))
    codes = pack(np.random.default_rng(0).normal(size=(5, BITS)))
    writer.add(codes, [Entry(f"{i}") for i in range(5)])
    monkeypatch.setattr(Session, "_apply_pending", lambda self: None)  # as if it were killed before
    writer.upsert(codes[4:], [Entry("1")])
    reader = LocalStore.open(str(tmp_path / "index"))
    assert (reader.codes([2, 1, 0, 1]) == codes[[2, 4, 0, 4]]).all()
    writer.remove([3])
    with pytest.raises(UnknownItemError, match="id 3"):
        reader.codes([1, 3])
    reader.close()
    writer.close()


def test_an_item_that_goes_away_meanwhile_is_searched_past(monkeypatch):
    store = MemoryStore(Meta(BITS))
    codes = pack(np.random.default_rng(0).normal(size=(5, BITS)))
    store.add(codes, [Entry(f"{i}") for i in range(5)])
    fetch = store.codes

    def removed_first(ids):
        store.remove([2])
        return fetch(ids)

    monkeypatch.setattr(store, "codes", removed_first)
    index = HammingIndex(store)
    assert {hit.id for hit in index.search(outputs=np.ones(BITS), rescore=True)} == {0, 1, 3, 4}


@pytest.mark.parametrize("query", [{"id": 3}, {"code": "fff"}])
def test_what_has_no_outputs_is_refused_with_the_way_out(query):
    store = MemoryStore(Meta(BITS))
    store.add(pack(np.ones((5, BITS))), [Entry(f"{i}") for i in range(5)])
    with pytest.raises(UsageError, match=r"no real-valued outputs.*; search with the picture"):
        HammingIndex(store).search(**query, rescore=True)


def test_outputs_of_another_length_are_refused():
    index = HammingIndex(MemoryStore(Meta(BITS)))
    with pytest.raises(InputError, match=r"shape \(1, 12\); a code of this index needs \(12,\)"):
        index.search(outputs=np.ones((1, BITS)), rescore=True)


def test_a_picture_is_rescored_by_its_own_outputs(tiny_model):
    hasher = Hasher.load(tiny_model)
    rng = np.random.default_rng(2)
    index = HammingIndex(MemoryStore(Meta(BITS, hasher.identity)), hasher)
    index.add_codes(pack(rng.normal(size=(60, BITS))), [Entry(f"{i}") for i in range(60)])
    picture = rng.integers(0, 256, (40, 40, 3), dtype=np.uint8)
    u = hasher.outputs(picture)[0]
    found = index.search(picture, k=60, rescore=True)
    assert [one[:2] for one in told(found)] == [one[:2] for one in ranking(index, u, pool=60)]
    assert told(found) == told(index.search(outputs=u, k=60, rescore=True))
