"""Codes kept on a device: the same rankings as `nearest`, from many threads, as codes grow."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from softhash.hamming import nearest, pack_mask
from softhash.hamming.resident import ResidentCodes

on_gpu = pytest.param(
    "cuda",
    marks=[
        pytest.mark.gpu,
        pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
    ],
)
DEVICES = ["cpu", on_gpu]


def records(n, words=2, seed=0):
    return np.random.default_rng(seed).integers(0, 1 << 62, (n, words), dtype=np.uint64)


def expected(queries, codes, k, live=None):
    return nearest(queries.view(np.uint8), codes.view(np.uint8), k, mask=live)


def assert_same(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("words", [1, 4])
def test_a_search_is_that_of_the_processor(device, words):
    codes, rng = records(5000, words), np.random.default_rng(1)
    resident = ResidentCodes(device)
    live = pack_mask(rng.random(5000) < 0.01)
    for k in (1, 10, 300):
        found = resident.nearest(codes[:7], codes, k, None)
        assert_same(found, expected(codes[:7], codes, k))
        found = resident.nearest(codes[:7], codes, k, live, key="some")
        assert_same(found, expected(codes[:7], codes, k, live))
    nothing = resident.nearest(codes[:7], codes, 3, np.zeros_like(live), key="none")
    assert nothing[0].shape == nothing[1].shape == (7, 0)


@pytest.mark.parametrize("device", DEVICES)
def test_records_that_were_added_or_changed_are_found(device):
    codes, resident = records(3000), ResidentCodes(device)
    for n in (1000, 1001, 3000, 1500):  # the last is an earlier snapshot that somebody still has
        assert_same(
            resident.nearest(codes[:2], codes[:n], 5, None), expected(codes[:2], codes[:n], 5)
        )
    changed = codes.copy()
    changed[10:20] = ~codes[10:20]
    found = resident.nearest(codes[10:12], changed, 5, None, edits=1)
    assert_same(found, expected(codes[10:12], changed, 5))


@pytest.mark.parametrize("device", DEVICES)
def test_threads_are_answered_together_and_each_gets_its_own(device):
    codes, resident = records(20_000), ResidentCodes(device)
    masks = [None, pack_mask(np.arange(20_000) % 3 == 0)]
    together = threading.Barrier(16)

    def ask(i):
        mask, k = masks[i % 2], 1 + i % 5
        together.wait()
        return resident.nearest(codes[i : i + 1 + i % 2], codes, k, mask, key=i % 2 or None)

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(64)))
    for i, found in enumerate(answers):
        wanted = expected(codes[i : i + 1 + i % 2], codes, 1 + i % 5, masks[i % 2])
        assert_same(found, wanted)
    assert resident.batches < 64


def test_an_error_reaches_the_thread_that_asked_and_no_other():
    codes, resident = records(100), ResidentCodes("cpu")
    with pytest.raises(Exception, match="queries have"):
        resident.nearest(codes[:1, :1].copy(), codes, 3, None)
    assert_same(resident.nearest(codes[:1], codes, 3, None), expected(codes[:1], codes, 3))
