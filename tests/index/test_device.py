"""An index whose codes are kept on a device answers as one that is searched on the processor."""

import numpy as np
import pytest
import torch

from softhash import HammingIndex, UsageError
from softhash.index.device import search_on
from softhash.index.expressions import build_where
from softhash.index.items import Entry
from softhash.index.local import LocalStore
from softhash.index.store import Meta

on_gpu = pytest.param(
    "cuda",
    marks=[
        pytest.mark.gpu,
        pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
    ],
)
FILTERS = [build_where([], [], text, []) for text in (None, "sea", "!sea & sky", "nowhere")]


def answers(store, queries):
    return [store.search(queries, k, where=where) for where in FILTERS for k in (1, 7, 500)]


@pytest.mark.parametrize("device", ["cpu", on_gpu])
def test_searches_follow_every_change_of_the_index(tmp_path, device):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (600, 9), dtype=np.uint8)
    labels = [("sea",), ("sky",), ("sea", "sky"), ()]
    entries = [Entry(f"{i}.jpg", labels[i % 4]) for i in range(600)]
    queries = codes[:5]
    with_device = LocalStore.create(str(tmp_path / "index"), Meta(bits=72))
    with_device.search_on(device)
    plain = LocalStore.open(str(tmp_path / "index"))
    changes = [
        lambda: with_device.add(codes[:400], entries[:400]),
        lambda: with_device.add(codes[400:], entries[400:]),
        lambda: with_device.upsert(~codes[10:30], entries[10:30]),
        lambda: with_device.remove([3, 4, 50, 599]),
        lambda: with_device.revise({7: Entry("7.jpg", ("sea", "sky"))}),
    ]
    for change in changes:
        change()
        for _ in range(2):  # filters are narrowed at their second use
            assert answers(with_device, queries) == answers(plain, queries)
    with_device.close()
    plain.close()


def test_a_device_that_is_not_there_is_refused(tmp_path):
    HammingIndex.create(tmp_path / "index", bits=8).close()
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match="no CUDA device"):
            HammingIndex.open(tmp_path / "index", device="cuda")
    with pytest.raises(UsageError, match="device"):
        HammingIndex.open(tmp_path / "index", device="gpu")
    with HammingIndex.open(tmp_path / "index", device="auto") as index:
        assert len(index) == 0


def test_a_store_that_searches_by_itself_is_left_to_it():
    class Elsewhere:
        location = "milvus://somewhere/photos"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("softhash.index.device.pick_device", lambda name: name)
        with pytest.raises(UsageError, match="searched by its server"):
            search_on(Elsewhere(), "cuda")
    search_on(Elsewhere(), "cpu")
