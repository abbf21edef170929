"""Searches in two stages of an index in a folder: when they are used, and on what."""

import contextlib

import numpy as np
import pytest

from softhash.errors import IndexDamagedError, UsageError
from softhash.hamming.two_stages import choose_limit
from softhash.index import Entry, HammingIndex
from softhash.index.expressions import build_where
from softhash.index.items import Near
from softhash.index.local import LocalStore, _first_words
from softhash.index.store import Meta
from softhash.index.where import EVERYTHING
from softhash.model.hasher import Hasher

BITS, ITEMS = 128, 3000


@pytest.fixture(autouse=True)
def _few_items_are_enough(monkeypatch):
    monkeypatch.setattr(_first_words, "MIN_BYTES", 1000 * BITS // 8)


def clustered(count, seed=0):
    """Codes around a few centres, so that near codes are near in their first bits too."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(9).random((8, BITS)) < 0.5
    flipped = rng.random((count, BITS)) < rng.uniform(0.02, 0.4, (count, 1))
    return np.packbits(centres[rng.integers(0, 8, count)] ^ flipped, axis=1)


def entries(count, start=0):
    return [Entry(f"{i}.jpg", ("sea",) if i % 3 else ("sky",)) for i in range(start, start + count)]


@pytest.fixture
def store(tmp_path):
    """An index of 3,000 codes, open for writing."""
    made = LocalStore.create(str(tmp_path / "index"), Meta(BITS))
    made.add(clustered(ITEMS), entries(ITEMS))
    with contextlib.closing(made):
        yield made


QUERIES = clustered(4, seed=7)


def expected(codes, query, kept=None):
    """Order everything by the definition: candidates first, then (distance, id)."""
    kept = np.ones(len(codes), bool) if kept is None else kept
    words, asked = codes.view(np.uint64), query.view(np.uint64)
    first = words[:, 0].copy()
    packed = np.packbits(np.pad(kept, (0, -len(kept) % 64)), bitorder="little").view(np.uint64)
    limit = choose_limit(asked, first, packed)
    limit = 64 if limit is None else limit
    distances = np.bitwise_count(words ^ asked).sum(axis=1, dtype=np.int64)
    behind = np.bitwise_count(first ^ asked[0]) > limit
    order = np.lexsort((np.arange(len(codes)), distances, behind))
    return [Near(int(distances[i]), int(i)) for i in order if kept[i]], limit < 64


def test_a_search_in_two_stages_ranks_candidates_first(store):
    codes, staged = clustered(ITEMS), 0
    for query in QUERIES:
        order, chosen = expected(codes, query)
        staged += chosen
        [found] = store.search_in_two_stages(query[np.newaxis], 50)
        assert found == order[:50]
    assert staged
    several = store.search_in_two_stages(QUERIES, 5)
    assert several == [expected(codes, query)[0][:5] for query in QUERIES]


def test_pages_continue_each_other_to_the_last_item(store):
    query = QUERIES[:1]
    pages = [
        store.search_in_two_stages(query, 400, offset=offset)[0] for offset in range(0, 3600, 400)
    ]
    assert [near for page in pages for near in page] == expected(clustered(ITEMS), query[0])[0]
    assert pages[-1] == []


def test_filters_and_removed_items_hold_in_the_first_stage(store):
    store.remove([0, 5, 2999])
    there = ~np.isin(np.arange(ITEMS), [0, 5, 2999])
    sea = np.arange(ITEMS) % 3 > 0
    cases = {
        EVERYTHING: there,
        build_where(("sea",)): there & sea,
        build_where((), ("sky",)): there & sea,
    }
    for where, kept in cases.items():
        order, _ = expected(clustered(ITEMS), QUERIES[0], kept)
        assert store.search_in_two_stages(QUERIES[:1], 60, where=where)[0] == order[:60]


def test_where_a_filter_keeps_few_items_the_search_is_exact(store):
    where = build_where(("sky",))  # a thousand, of which one is removed
    store.remove([3])
    found = store.search_in_two_stages(QUERIES, 900, where=where)
    assert found == store.search(QUERIES, 900, where=where)


def test_what_is_added_and_replaced_is_found(store):
    query, codes = QUERIES[:1], clustered(ITEMS + 200)
    codes[:ITEMS] = clustered(ITEMS)
    store.search_in_two_stages(query, 5)
    store.add(codes[ITEMS:], entries(200, ITEMS))
    assert store.search_in_two_stages(query, 300)[0] == expected(codes, query[0])[0][:300]
    codes[17] = query[0]
    store.upsert(codes[17:18], entries(1, 17))
    assert store.search_in_two_stages(query, 300)[0] == expected(codes, query[0])[0][:300]
    assert store.search_in_two_stages(query, 1)[0] == [Near(0, 17)]


def test_first_words_are_copied_once_and_grow_with_the_index(store):
    snapshot = store._reader.snapshot
    store.search_in_two_stages(QUERIES[:1], 1)
    first = snapshot().first.words()
    store.search_in_two_stages(QUERIES[:1], 1)
    assert snapshot().first.words() is first
    store.add(clustered(10, seed=3), entries(10, ITEMS))
    assert snapshot().first._copy is first
    np.testing.assert_array_equal(snapshot().first.words(), snapshot().codes[:, 0])


def test_short_codes_and_few_items_need_no_copy(tmp_path, store, monkeypatch):
    with contextlib.closing(LocalStore.create(str(tmp_path / "short"), Meta(64))) as short:
        short.add(clustered(ITEMS)[:, :8], entries(ITEMS))
        query = QUERIES[:1, :8]
        assert short.search_in_two_stages(query, 9) == short.search(query, 9)
        assert not len(short._reader.snapshot().first._copy)
    monkeypatch.setattr(_first_words, "MIN_BYTES", (ITEMS + 1) * BITS // 8)
    assert store.search_in_two_stages(QUERIES, 9) == store.search(QUERIES, 9)
    assert not len(store._reader.snapshot().first._copy)


def test_damaged_codes_are_noticed_before_they_are_copied(store, tmp_path):
    store.close()
    path = tmp_path / "index" / "codes.bin"
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    with contextlib.closing(LocalStore.open(str(tmp_path / "index"))) as damaged:
        for _ in range(2):
            with pytest.raises(IndexDamagedError, match=r"codes\.bin is damaged"):
                damaged.search_in_two_stages(QUERIES, 5)
        assert not len(damaged._reader.snapshot().first._copy)


def test_wrong_use_is_refused_as_in_any_search(store):
    with pytest.raises(UsageError, match="k is 0"):
        store.search_in_two_stages(QUERIES, 0)


@pytest.fixture
def asked(monkeypatch):
    """The searches in two stages that a store is asked for."""
    calls = []
    plain = LocalStore.search_in_two_stages

    def counted(self, *arguments, **options):
        calls.append(options)
        return plain(self, *arguments, **options)

    monkeypatch.setattr(LocalStore, "search_in_two_stages", counted)
    return calls


@pytest.fixture
def nested(tmp_path):
    """An index whose model was trained for 64 bits too."""
    hasher = Hasher.from_features(6, bits=BITS)
    hasher.lengths = (64, BITS)
    index = HammingIndex.create(tmp_path / "nested", hasher)
    index.add_codes(clustered(ITEMS), entries(ITEMS))
    with index:
        yield index


def test_an_index_of_nested_codes_is_searched_in_two_stages(nested, asked, tmp_path):
    order, _ = expected(clustered(ITEMS), QUERIES[0])
    hits = nested.search(code=QUERIES[0], k=7, offset=2)
    assert [(hit.distance, hit.id) for hit in hits] == order[2:9]
    with HammingIndex.open(tmp_path / "nested") as again:  # its model is not loaded for that
        assert again.lengths == (64, BITS)
        assert again.search(code=QUERIES[0], k=7, offset=2).hits == hits.hits
    itself = nested.search(id=5, k=3)
    assert 5 not in [hit.id for hit in itself]
    assert len(asked) == 3


def test_exactness_is_kept_where_it_is_asked_for_or_the_point(nested, asked):
    outputs = np.random.default_rng(0).normal(size=BITS)
    exact = nested.search(code=QUERIES[0], k=40, exact=True)
    assert [(hit.distance, hit.id) for hit in exact] == nested.store.search(QUERIES[:1], 40)[0]
    nested.search(code=QUERIES[0], max_distance=30)
    nested.search(outputs=outputs, rescore="bits")
    assert not asked


def test_codes_that_are_not_nested_are_searched_exactly(store, asked, tmp_path):
    HammingIndex(store).search(code=QUERIES[0])
    with HammingIndex.create(tmp_path / "plain", Hasher.from_features(6, bits=BITS)) as plain:
        plain.add_codes(clustered(ITEMS), entries(ITEMS))
        plain.search(code=QUERIES[0])
    assert not asked
