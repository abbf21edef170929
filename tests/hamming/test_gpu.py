"""The GPU path against the processor path; skipped, and said so, where no GPU is."""

import numpy as np
import pytest
import torch

from softhash import evaluate_codes
from softhash.hamming import histogram, nearest, ranked_gains, within

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]


def case(bits, classes=21, queries=70, n=30_001):
    rng = np.random.default_rng(bits)
    codes = rng.integers(0, 6, (queries + n, -(-bits // 8)), dtype=np.uint8)
    codes[:, -1] &= np.uint8(0xFF << (-bits % 8) & 0xFF)
    labels = (rng.random((queries + n, classes)) < 3 / classes).astype(np.uint8)
    return codes[:queries], codes[queries:], labels[:queries], labels[queries:]


def on_gpu(*arrays):
    return [torch.from_numpy(array).cuda() for array in arrays]


@pytest.mark.parametrize("bits", [12, 36, 48, 64, 100, 128, 256, 1024])
def test_search_is_the_same(bits):
    queries, codes, _, _ = case(bits)
    mask = np.random.default_rng(0).random(len(codes)) < 0.1
    gpu_queries, gpu_codes, gpu_mask = on_gpu(queries, codes, mask)
    for cpu, gpu in ((None, None), (mask, gpu_mask)):
        expected = nearest(queries, codes, 100, mask=cpu)
        found = nearest(gpu_queries, gpu_codes, 100, mask=gpu)
        for a, b in zip(expected, found, strict=True):
            assert np.array_equal(a, b.cpu().numpy())
        radius = int(expected[0][:, 20].max())
        for a, b in zip(
            within(queries, codes, radius, mask=cpu),
            within(gpu_queries, gpu_codes, radius, mask=gpu),
            strict=True,
        ):
            assert np.array_equal(a[0], b[0].cpu().numpy())
            assert np.array_equal(a[1], b[1].cpu().numpy())


@pytest.mark.parametrize(("bits", "classes"), [(12, 3), (48, 21), (64, 81), (256, 291), (1024, 40)])
def test_counts_are_the_same(bits, classes):
    sides = case(bits, classes)
    assert np.array_equal(histogram(*sides), histogram(*on_gpu(*sides)).cpu().numpy())
    for first in (10, 30_001):
        expected = ranked_gains(*sides, first=first)
        found = ranked_gains(*on_gpu(*sides), first=first).cpu().numpy()
        assert np.array_equal(expected, found)


@pytest.mark.parametrize("ties", ["expected", "stable"])
def test_reports_are_the_same(ties):
    sides = case(48)
    options = {"bits": 48, "at": (1, 100, 5000, "all"), "ties": ties, "curves": (100, 1000)}
    expected, found = evaluate_codes(*sides, **options), evaluate_codes(*on_gpu(*sides), **options)
    assert found.metrics == pytest.approx(expected.metrics, abs=1e-12)
    assert found.contract == expected.contract


def far_to_near(n, bits=64):
    """Make codes each of which is as near to 0 as the one before it, or nearer."""
    ones = np.sort(np.random.default_rng(0).binomial(bits, 0.5, n))[::-1]
    return np.packbits(np.arange(bits) < ones[:, None], axis=1)


@pytest.mark.parametrize("k", [1, 10, 1000])
@pytest.mark.parametrize("order", ["drawn", "far to near", "all the same", "in two blocks"])
def test_search_is_the_same_in_any_order_of_the_codes(order, k):
    rng, n = np.random.default_rng(1), 300_000
    codes = rng.integers(0, 256, (n, 8), dtype=np.uint8)
    if order == "far to near":
        codes = far_to_near(n)
    if order == "all the same":
        codes[:] = codes[0]
    if order == "in two blocks":
        codes[n // 2 :, :6] = codes[0, :6]
    queries = np.concatenate([np.zeros((1, 8), np.uint8), codes[:: n // 20], ~codes[:5]])
    mask = rng.random(n) < 0.01
    gpu_queries, gpu_codes, gpu_mask = on_gpu(queries, codes, mask)
    for cpu, gpu in ((None, None), (mask, gpu_mask)):
        expected = nearest(queries, codes, k, mask=cpu)
        found = nearest(gpu_queries, gpu_codes, k, mask=gpu)
        for a, b in zip(expected, found, strict=True):
            assert np.array_equal(a, b.cpu().numpy())


def test_search_reads_rows_that_are_not_whole_words_or_begin_anywhere():
    rng = np.random.default_rng(2)
    wide = rng.integers(0, 256, (50_000, 24), dtype=np.uint8)
    (gpu_wide,) = on_gpu(wide)
    for part in (np.s_[:, :8], np.s_[:, 3:11], np.s_[:, :5], np.s_[7:, :], np.s_[:3, :16]):
        queries, codes = np.ascontiguousarray(wide[part][:3]), np.ascontiguousarray(wide[part])
        expected = nearest(queries, codes, 50)
        found = nearest(gpu_wide[part][:3], gpu_wide[part], 50)
        for a, b in zip(expected, found, strict=True):
            assert np.array_equal(a, b.cpu().numpy())


def test_search_finds_nothing_where_nothing_counts():
    queries, codes, _, _ = case(64)
    gpu_queries, gpu_codes, nothing = on_gpu(queries, codes, np.zeros(len(codes), bool))
    distances, positions = nearest(gpu_queries, gpu_codes, 10, mask=nothing)
    assert distances.shape == positions.shape == (len(queries), 0)
    assert all(len(found) == 0 for found, _ in within(gpu_queries, gpu_codes, 64, mask=nothing))


def test_more_within_a_radius_than_a_list_holds_is_found():
    queries, codes, _, _ = case(64)
    codes = np.concatenate([codes] * 3)
    for expected, found in zip(
        within(queries[:3], codes, 64), within(*on_gpu(queries[:3], codes), 64), strict=True
    ):
        assert all(np.array_equal(a, b.cpu().numpy()) for a, b in zip(expected, found, strict=True))


def test_many_neighbours_are_found():
    queries, codes, _, _ = case(128)
    for k in (3_000, 30_001):
        expected, found = nearest(queries, codes, k), nearest(*on_gpu(queries, codes), k)
        assert all(np.array_equal(a, b.cpu().numpy()) for a, b in zip(expected, found, strict=True))
