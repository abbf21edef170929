"""Kernels against a naive numpy version, and against faiss, order included."""

from concurrent.futures import ThreadPoolExecutor

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softhash.errors import InputError, UsageError
from softhash.hamming import _cpu, _scan, nearest, pack_mask, within

LENGTHS = (12, 36, 48, 64, 100, 128, 256)


def random_codes(rng, n, bits, spread=256):
    """Codes with many ties: few different byte values; padding bits 0."""
    codes = rng.integers(0, spread, (n, -(-bits // 8)), dtype=np.uint8)
    codes[:, -1] &= np.uint8(0xFF << (-bits % 8) & 0xFF)
    return codes


def naive(query, codes, mask=None):
    """All (distance, position) pairs in order."""
    distances = np.bitwise_count(codes ^ query).sum(axis=1, dtype=np.int64)
    positions = np.arange(len(codes)) if mask is None else np.flatnonzero(mask)
    order = positions[np.lexsort((positions, distances[positions]))]
    return distances[order], order


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bits", LENGTHS)
def test_nearest_agrees_with_faiss_order_included(bits, threads, monkeypatch):
    monkeypatch.setattr(_cpu, "WORDS_PER_THREAD", 1)
    rng = np.random.default_rng(bits)
    codes, queries = random_codes(rng, 5000, bits, 16), random_codes(rng, 7, bits, 16)
    index = faiss.IndexBinaryFlat(8 * codes.shape[1])
    index.add(codes)
    expected_distances, expected_positions = index.search(queries, 300)
    distances, positions = nearest(queries, codes, 300, threads=threads)
    assert np.array_equal(distances, expected_distances)
    assert np.array_equal(positions, expected_positions)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32),
    bits=st.sampled_from((1, 8, *LENGTHS, 513, 1024)),
    n=st.integers(1, 700),
    k=st.integers(1, 800),
    spread=st.sampled_from((1, 2, 256)),
    keep=st.sampled_from((None, 0.02, 0.3, 0.97)),
    count=st.sampled_from((1, 3)),
)
def test_nearest_agrees_with_naive(seed, bits, n, k, spread, keep, count):
    rng = np.random.default_rng(seed)
    codes, queries = random_codes(rng, n, bits, spread), random_codes(rng, count, bits, spread)
    mask = None if keep is None else rng.random(n) < keep
    distances, positions = nearest(queries, codes, k, mask=mask)
    for i in range(count):
        expected = naive(queries[i], codes, mask)
        assert np.array_equal(distances[i], expected[0][:k])
        assert np.array_equal(positions[i], expected[1][:k])


@pytest.mark.parametrize("keep", [0.0, 0.001, 0.1, 0.6, 1.0])
@pytest.mark.parametrize("count", [1, 5])
def test_a_mask_is_applied_across_tiles_and_threads(keep, count, monkeypatch):
    monkeypatch.setattr(_cpu, "WORDS_PER_THREAD", 1)
    rng = np.random.default_rng(3)
    n = 5 * _scan.TILE + 77
    codes, queries = random_codes(rng, n, 48, 8), random_codes(rng, count, 48, 8)
    mask = rng.random(n) < keep
    for given_mask in (mask, pack_mask(mask)):
        distances, positions = nearest(queries, codes, 50, mask=given_mask, threads=2)
        for i in range(count):
            expected = naive(queries[i], codes, mask)
            assert np.array_equal(distances[i], expected[0][:50])
            assert np.array_equal(positions[i], expected[1][:50])


def test_codes_that_come_nearer_and_nearer_are_all_considered():
    """The worst order for a short list: every item beats the ones before it."""
    codes = np.repeat(np.arange(255, -1, -1, dtype=np.uint8), 40)[:, None]
    codes = codes[np.argsort(-np.bitwise_count(codes[:, 0]).astype(int), kind="stable")]
    distances, positions = nearest(np.zeros((1, 1), np.uint8), codes, 10)
    assert np.array_equal(positions[0], naive(np.zeros(1, np.uint8), codes)[1][:10])
    assert not distances.any()


def test_a_memory_map_is_searched_in_place(tmp_path):
    rng = np.random.default_rng(0)
    codes = random_codes(rng, 3000, 64)
    np.save(tmp_path / "codes.npy", codes)
    mapped = np.load(tmp_path / "codes.npy", mmap_mode="r")
    assert np.shares_memory(_cpu.as_words(mapped), mapped)
    _, positions = nearest(codes[5:6], mapped, 4)
    assert np.array_equal(positions[0], naive(codes[5], codes)[1][:4])


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    bits=st.sampled_from((5, 48, 64, 128)),
    radius=st.integers(0, 70),
    keep=st.sampled_from((None, 0.1, 0.9)),
)
def test_within_agrees_with_naive(seed, bits, radius, keep):
    rng = np.random.default_rng(seed)
    codes, queries = random_codes(rng, 3000, bits, 4), random_codes(rng, 2, bits, 4)
    mask = None if keep is None else rng.random(3000) < keep
    for query, (distances, positions) in zip(
        queries, within(queries, codes, radius, mask=mask), strict=True
    ):
        expected = naive(query, codes, mask)
        inside = expected[0] <= radius
        assert np.array_equal(distances, expected[0][inside])
        assert np.array_equal(positions, expected[1][inside])


def test_searches_from_many_threads_do_not_disturb_each_other(monkeypatch):
    monkeypatch.setattr(_cpu, "WORDS_PER_THREAD", 1)
    rng = np.random.default_rng(1)
    codes, queries = random_codes(rng, 20_000, 48, 16), random_codes(rng, 40, 48, 16)
    expected = nearest(queries, codes, 20, threads=1)[1]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: nearest(queries[i : i + 1], codes, 20)[1][0], range(40)))
    assert np.array_equal(found, expected)


def test_queries_are_worked_on_in_groups_when_short_lists_are_long(monkeypatch):
    monkeypatch.setattr(_cpu, "SHORT_LISTS", 1)
    rng = np.random.default_rng(2)
    codes, queries = random_codes(rng, 500, 64, 4), random_codes(rng, 5, 64, 4)
    _, positions = nearest(queries, codes, 30)
    for query, found in zip(queries, positions, strict=True):
        assert np.array_equal(found, naive(query, codes)[1][:30])


def test_wrong_arguments_are_named():
    codes = np.zeros((4, 6), np.uint8)
    with pytest.raises(UsageError, match="k is 0"):
        nearest(codes, codes, 0)
    with pytest.raises(UsageError, match="radius is -1"):
        within(codes, codes, -1)
    with pytest.raises(UsageError, match="threads is 0"):
        nearest(codes, codes, 1, threads=0)
    with pytest.raises(InputError, match="6 bytes per row and codes 8"):
        nearest(codes, np.zeros((4, 8), np.uint8), 1)
    with pytest.raises(InputError, match="int64"):
        nearest(codes.astype(int), codes, 1)
    with pytest.raises(InputError, match="nothing to rank"):
        nearest(codes[:0], codes, 1)
    with pytest.raises(InputError, match="mask is bool of shape"):
        nearest(codes, codes, 1, mask=np.ones(3, bool))
