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
