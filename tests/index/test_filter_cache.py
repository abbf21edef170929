"""The cache of what narrow filters keep: whatever clients ask for, it stays small."""

import itertools

import numpy as np
import pytest

from softhash.hamming.words import pack_mask
from softhash.index.expressions import build_where, parse_where
from softhash.index.items import Entry
from softhash.index.local import LocalStore, _filter_cache
from softhash.index.local._filter_cache import MAX_FILTERS, Narrowed
from softhash.index.store import Meta

RECORDS = 640


@pytest.fixture
def codes():
    return np.arange(2 * RECORDS, dtype=np.uint64).reshape(RECORDS, 2)


def _mask(*places):
    return pack_mask(np.isin(np.arange(RECORDS), places))


def _filters(count):
    """Return so many different filters."""
    pairs = itertools.combinations(map(str, range(1, 1000)), 2)
    return [build_where(pair) for pair in itertools.islice(pairs, count)]


@pytest.mark.parametrize("count", [5_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_however_many_filters_there_were_a_bounded_number_is_kept(codes, count):
    cache, mask = Narrowed(), _mask(5)
    for chosen in _filters(count):
        cache.part(chosen, lambda: mask, codes)
    assert len(cache) == MAX_FILTERS


def test_filters_that_are_asked_for_twice_take_bounded_memory(codes):
    cache, mask = Narrowed(), _mask(*range(64))
    for chosen in _filters(MAX_FILTERS + 100):
        cache.part(chosen, lambda: mask, codes)
        cache.part(chosen, lambda: mask, codes)
    assert len(cache) == MAX_FILTERS
    assert cache.kept_bytes == MAX_FILTERS * 64 * 8 * 3


def test_copies_take_no_more_bytes_than_they_may(codes, monkeypatch):
    monkeypatch.setattr(_filter_cache, "KEPT_BYTES", 10 * 64 * 8 * 3)  # ten copies of 64 records
    cache, mask = Narrowed(), _mask(*range(64))
    for chosen in _filters(30):
        cache.part(chosen, lambda: mask, codes)
        cache.part(chosen, lambda: mask, codes)
    assert cache.kept_bytes == 10 * 64 * 8 * 3


def test_the_filter_that_was_not_used_for_the_longest_time_goes_first(codes):
    cache, mask = Narrowed(), _mask(5, 77)
    often, *others = _filters(3 * MAX_FILTERS)
    cache.part(often, lambda: mask, codes)
    first = cache.part(often, lambda: mask, codes)
    for chosen in others:
        cache.part(chosen, lambda: mask, codes)
        assert cache.part(often, lambda: mask, codes) is first
    assert np.array_equal(first[0], [5, 77])
    assert np.array_equal(first[1], codes[[5, 77]])


def test_one_filter_written_in_several_ways_is_cached_once(tmp_path):
    with_labels = [Entry(f"{i}.jpg", ("sea",) if i % 8 else ("sea", "sky")) for i in range(64)]
    store = LocalStore.create(str(tmp_path / "index"), Meta(8))
    store.add(np.arange(64, dtype=np.uint8)[:, np.newaxis], with_labels)
    query = np.zeros((1, 1), np.uint8)
    expected = store.search(query, 4, where=build_where(("sky",)))
    for count in range(1, 50):
        assert store.search(query, 4, where=build_where(("sky",) * count)) == expected
    for text in ("sky", "sky & sky", "!!sky", "!(!sky | !sky)", "(sky | (sky))", "'sky' and sky"):
        assert store.search(query, 4, where=parse_where(text)) == expected
    assert len(store._reader.snapshot().narrowed) == 1
    store.close()
