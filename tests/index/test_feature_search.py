"""Searches rescored by features, against a ranking by loops."""

import numpy as np
import pytest
from memory_store import MemoryStore

from softhash.codes import pack, unpack
from softhash.errors import InputError, NoFeaturesError, NoOutputsError, UsageError
from softhash.hamming import cosine
from softhash.index import Entry, HammingIndex
from softhash.index.store import Meta

BITS, WIDTH, ITEMS, POOL = 12, 8, 60, 20
WITHOUT = {3, 17, 40}  # ids of items without features


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Items of which some share a code, some features, and some have no features."""
    monkeypatch.setattr(cosine, "POOL", POOL)
    rng = np.random.default_rng(4)
    codes = pack(rng.normal(size=(30, BITS)))[rng.integers(0, 30, ITEMS)]
    contents = [f"{i:064x}" for i in range(1, ITEMS + 1)]
    labels = ("sea",), ("sky",)
    entries = [Entry(f"{i}", labels[i % 2], sha256=contents[i]) for i in range(ITEMS)]
    with HammingIndex.create(tmp_path / "index", bits=BITS) as index:
        ids = index.add_codes(codes, entries)
        index.store.features.keep(WIDTH)
        kept = ["" if id in WITHOUT else content for id, content in zip(ids, contents, strict=True)]
        index.store.features.put(ids, kept, FEATURES)
        yield index


FEATURES = np.random.default_rng(6).integers(-2, 3, (ITEMS, WIDTH)).astype(np.float32)
U = np.random.default_rng(5).normal(size=BITS)
X = np.array([1, -2, 0.5, 0, 3, 1, -1, 0.25])


def ranking(index, u, x, itself=None, pool=POOL):
    """(id, Hamming distance, 1 − cosine or None), by loops; an item without features stays."""
    bits = [bool(value > 0) for value in u]
    found = []
    for item in index.store.items(limit=1000):
        own = unpack(np.frombuffer(item.code, np.uint8)[np.newaxis], BITS)[0]
        if item.id != itself:
            far = sum(a != bool(b) for a, b in zip(bits, own, strict=True))
            found.append((far, item.id))
    found.sort()
    first = [one for one in found[:pool] if one[1] not in WITHOUT]
    cosines = {id: by_hand(x, FEATURES[id]) for _, id in first}
    again = iter(sorted((cosines[id], far, id) for far, id in first))
    ranked = []
    for far, id in found[:pool]:
        if id in WITHOUT:
            ranked.append((id, far, None))
        else:
            near, far, id = next(again)
            ranked.append((id, far, near))
    return ranked + [(id, far, None) for far, id in found[pool:]]


def by_hand(x, y):
    row = np.rint(y / (np.abs(y).max() / 127)) if y.any() else y
    norm = np.sqrt((x**2).sum() * (row**2).sum())
    return 1 - float(x @ row) / norm if norm else 1.0


def told(hits):
    return [(hit.id, hit.distance, hit.rescored) for hit in hits]


def same(found, expected):
    assert [one[:2] for one in found] == [one[:2] for one in expected]
    values = [[np.nan if one[2] is None else one[2] for one in many] for many in (found, expected)]
    assert values[0] == pytest.approx(values[1], nan_ok=True, abs=1e-6)


def search(index, **asked):
    return index.search(outputs=U, features=X, rescore="features", **asked)


def test_hits_are_in_the_order_of_the_definition(index):
    found = told(search(index, k=ITEMS))
    same(found, ranking(index, U, X))
    plain = told(index.search(outputs=U, k=ITEMS))
    assert found[:POOL] != plain[:POOL]
    assert found[POOL:] == plain[POOL:]
    assert [one[0] for one in found if one[0] in WITHOUT] == [
        one[0] for one in plain if one[0] in WITHOUT
    ]


@pytest.mark.parametrize("size", [1, 7, 20, 33])
def test_pages_continue_each_other(index, size):
    pages = [told(search(index, k=size, offset=i)) for i in range(0, ITEMS + size, size)]
    assert [one for page in pages for one in page] == told(search(index, k=ITEMS))
    assert pages[-1] == []


def test_a_radius_and_labels_come_before_the_pool(index):
    found = search(index, k=ITEMS, max_distance=5, labels=["sea"])
    plain = index.search(outputs=U, k=ITEMS, max_distance=5, labels=["sea"])
    assert {hit.id for hit in found[:POOL]} == {hit.id for hit in plain[:POOL]}
    assert all(hit.distance <= 5 and hit.labels == ("sea",) for hit in found)


def test_an_item_is_searched_for_by_its_kept_features(index):
    item = index.get(9)
    u = unpack(np.frombuffer(item.code, np.uint8)[np.newaxis], BITS)[0] - 0.5
    found = told(index.search(id=9, k=ITEMS, rescore="features"))
    row = cosine.quantise(FEATURES[9:10])[0][0].astype(float)
    same(found, ranking(index, u, row, itself=9))
    with pytest.raises(NoFeaturesError, match=r"item 3 of .* has no features"):
        index.search(id=3, rescore="features")


def test_what_has_no_features_is_refused_with_the_way_out(index):
    for query in ({"code": "abc"}, {"outputs": U}):
        with pytest.raises(NoOutputsError, match=r"comes without features .* the picture itself"):
            index.search(**query, rescore="features")
    with pytest.raises(UsageError, match="did you mean 'features'"):
        index.search(outputs=U, rescore="feature")
    with pytest.raises(InputError, match="another model"):
        index.search(outputs=U, features=X[:3], rescore="features")


def test_an_index_without_features_says_so_before_anything_is_encoded():
    index = HammingIndex(MemoryStore(Meta(BITS)))
    with pytest.raises(NoFeaturesError, match="keeps no features"):
        index.search(b"not a picture, which nobody looks at", rescore="features")


def test_true_still_means_by_bits(index):
    assert told(index.search(outputs=U, k=9, rescore=True)) == told(
        index.search(outputs=U, k=9, rescore="bits")
    )


def test_rows_that_change_during_a_search_only_lose_their_features(index):
    index.store.features.drop()
    index.store.features.keep(WIDTH)
    found = told(search(index, k=ITEMS))
    assert found == told(index.search(outputs=U, k=ITEMS))
