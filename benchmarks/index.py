"""A local index beside faiss with SQLite, LanceDB and Milvus: adding, opening, searching.

Items have a file name and one or two of twenty labels, so that one label keeps a tenth; batches of
10,000, each safe on disk before the next. `SOFTHASH_BENCH_ITEMS` sets how many (1,000,000); opening
is measured on ten times as many.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import faiss
import numpy as np

from benchmarks._index_peers import BITS, OfStore, Peer, every_peer
from benchmarks._timing import Row, best_times, row
from softhash.codes import Codes, pack
from softhash.hamming import nearest
from softhash.index import HammingIndex
from softhash.index.items import Entry
from softhash.index.local import LocalStore
from softhash.index.store import Meta

ITEMS = int(os.environ.get("SOFTHASH_BENCH_ITEMS", "1_000_000"))
BATCH, LABELS, K = 10_000, 20, 10
KEPT, KEPT_BITS, WIDTH = 100_000, 256, 1280  # an index that keeps features
SAFE_ADD, OPENING = 10.0, 1.0  # µs per item; seconds for ten times ITEMS


def rows() -> list[Row]:
    """Measure and return the lines of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with every_peer(folder) as peers:
            lines = _adding(peers) + _searching(peers)
        return lines + _opening(folder) + _rescoring(folder)


def batches(count: int) -> Iterator[tuple[Codes, list[Entry]]]:
    """Draw items; the same every time."""
    rng = np.random.default_rng(0)
    for first in range(0, count, BATCH):
        n = min(BATCH, count - first)
        codes = rng.integers(0, 256, (n, BITS // 8), dtype=np.uint8)
        chosen = rng.integers(0, LABELS, (n, 2)).tolist()
        yield (
            codes,
            [
                Entry(f"photos/{first + i:09d}.jpg", tuple({f"label {a}", f"label {b}"}))
                for i, (a, b) in enumerate(chosen)
            ],
        )


def fill(peers: dict[str, Peer], count: int) -> dict[str, float]:
    """Add items to all, batches taking turns; return the microseconds per item of each."""
    spent = dict.fromkeys(peers, 0.0)
    for codes, entries in batches(count):
        for name, peer in peers.items():
            start = time.perf_counter()
            peer.add(codes, entries)
            spent[name] += time.perf_counter() - start
    return {name: seconds / count * 1e6 for name, seconds in spent.items()}


def _rescoring(folder: Path) -> list[Row]:
    """Search an index that keeps features, plainly and rescored in both ways."""
    rng = np.random.default_rng(1)
    with HammingIndex.create(folder / "kept", bits=KEPT_BITS) as index:
        kept = index.store.features  # type: ignore[attr-defined]
        kept.keep(WIDTH)
        for first in range(0, KEPT, BATCH):
            u = rng.standard_normal((BATCH, KEPT_BITS), np.float32)
            contents = [f"{first + i:064x}" for i in range(BATCH)]
            entries = [Entry(content, sha256=content) for content in contents]
            x = rng.standard_normal((BATCH, WIDTH), np.float32)
            kept.put(index.add_codes(pack(u), entries), contents, x)
        search = partial(index.search, outputs=u[0], features=x[0], k=K)
        runs = {way: partial(search, rescore=way) for way in ("", "bits", "features")}
        ms = {way: 1000 * seconds for way, seconds in best_times(runs, rounds=30).items()}
    case = f"search {KEPT:,} × {KEPT_BITS} bits"
    return [
        row("index", f"{case}: plain / rescored by {way}", ms[""], ms[way], "ms", None)
        for way in ("bits", "features")
    ]


def _adding(peers: dict[str, Peer]) -> list[Row]:
    times = fill(peers, ITEMS)
    case, ours = f"add {ITEMS:,}, batches of {BATCH:,}", times.pop("ours")
    lines = [row("index", f"{case}: {name}", t, ours, "µs/item", None) for name, t in times.items()]
    return [row("index", f"{case}: 100,000/s", SAFE_ADD, ours, "µs/item", 1.0), *lines]


def _searching(peers: dict[str, Peer]) -> list[Row]:
    codes = np.concatenate([codes for codes, _ in batches(ITEMS)])
    query = codes[:1].copy()
    faiss.omp_set_num_threads(len(os.sched_getaffinity(0)))
    runs: dict[str, Callable[[], object]] = {"bare": lambda: nearest(query, codes, K)}
    for name, peer in peers.items():
        runs[f"{name}, all"] = partial(peer.search, query, K, None)
        runs[f"{name}, 10 %"] = partial(peer.search, query, K, "label 3")
    ms = {name: 1e3 * seconds for name, seconds in best_times(runs, rounds=30).items()}
    ours, kept = ms["ours, all"], ms["ours, 10 %"]
    case = f"search {ITEMS:,} × {BITS} bit"
    lines = [
        row("index", f"{case}: bare kernel", ms["bare"], ours, "ms", None),
        row("index", f"{case}: all / 10 % kept", ours, kept, "ms", 1.0),
    ]
    for name in peers:
        if name != "ours":
            lines += [
                row("index", f"{case}: {name}", ms[f"{name}, all"], ours, "ms", None),
                row("index", f"{case}, 10 % kept: {name}", ms[f"{name}, 10 %"], kept, "ms", None),
            ]
    return lines


def _opening(folder: Path) -> list[Row]:
    """Open a large index and search it once, beside faiss reading its own file."""
    count, place = 10 * ITEMS, str(folder / "large")
    peer = OfStore(LocalStore.create(place, Meta(BITS)))
    fill({"ours": peer}, count)
    peer.close()
    index = faiss.IndexBinaryFlat(BITS)
    for codes, _ in batches(count):
        index.add(codes)
    faiss.write_index_binary(index, str(folder / "large.faiss"))
    query = codes[:1].copy()

    def ours() -> None:
        LocalStore.open(place).close()

    def ours_searched() -> None:
        store = LocalStore.open(place)
        store.search(query, K)
        store.close()

    def faiss_reads() -> None:
        faiss.read_index_binary(str(folder / "large.faiss"))

    times = best_times({"ours": ours, "searched": ours_searched, "peer": faiss_reads}, rounds=5)
    case = f"open {count:,}"
    return [
        row("index", f"{case}: one second", OPENING, times["ours"], "s", 1.0),
        row("index", f"{case}: faiss reads its file", times["peer"], times["ours"], "s", None),
        row("index", f"{case} and search once: one second", OPENING, times["searched"], "s", 1.0),
    ]


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show(rows())
