"""Searches of an index folder with multi-index.bin beside searches without it.

    python -m benchmarks.index_tables OUTPUTS.npy FOLDER [--codes 10000000]

OUTPUTS are real-valued outputs before the activation, as `benchmarks.multi_index` writes them.
FOLDER is made, an index of codes drawn from them, unless it is there; every other item has a label.
Both ways take turns, and have to find the same. Each time is the mean over queries of the best of a
few runs.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._timing import best_times
from benchmarks.drawn_codes import choose_share, draw, find_near
from softhash.codes import Codes
from softhash.index import Entry, HammingIndex
from softhash.index.local import LocalStore
from softhash.index.local._multi_index import MIN_SLOTS
from softhash.index.multi_index import drop_multi_index, keep_multi_index

AT_ONCE, QUERIES, ROUNDS = 100_000, 24, 3
CASES: dict[str, dict[str, Any]] = {
    "10 nearest": {"k": 10},
    "10 nearest within 3": {"k": 10, "max_distance": 3},
    "100 nearest within 3": {"k": 100, "max_distance": 3},
    "100 nearest within 8": {"k": 100, "max_distance": 8},
    "10 nearest with a label that half of them have": {"k": 10, "where": "sea"},
}


def main() -> None:
    """Measure, and print one line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outputs", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--codes", type=int, default=10_000_000)
    parser.add_argument("--share", type=float, help="of draws; chosen by default")
    options = parser.parse_args()
    outputs = find_near(np.load(options.outputs))
    share = choose_share(outputs) if options.share is None else options.share
    if not options.folder.exists():
        fill(options.folder, draw(outputs, options.codes, share))
    measure(options.folder, draw(outputs, QUERIES, share, seed=1))


def fill(folder: Path, codes: Codes) -> None:
    """Make an index of codes."""
    with HammingIndex.create(folder, bits=8 * codes.shape[1]) as index:
        for start in range(0, len(codes), AT_ONCE):
            part = codes[start : start + AT_ONCE]
            labels = [("sea",), ()] * (len(part) // 2 + 1)
            names = (f"{start + place:09}.jpg" for place in range(len(part)))
            index.store.add(part, list(map(Entry, names, labels)))


def measure(folder: Path, queries: Codes) -> None:
    """Make the tables, and compare searches."""
    with HammingIndex.open(folder, writable=True) as index:
        drop_multi_index(index)
        with HammingIndex.open(folder) as plain:
            start = time.perf_counter()
            keep_multi_index(index)
            seconds = time.perf_counter() - start
            kept = index.store.multi_index.size if isinstance(index.store, LocalStore) else 0
            print(f"{len(index):,} items: {kept / 1e6:,.0f} MB in {seconds:.1f} s")
            without_tables(plain)
            print(f"searches until the tables are used: {warm(index, queries)}")
            for case, asked in CASES.items():
                ways = [partial(_search, one, **asked) for one in (index, plain)]
                compare(f"index, {case}", *ways, queries)
                if "where" not in asked:
                    k, radius = asked["k"], asked.get("max_distance")
                    ways = [partial(_ask_store, one, k, radius) for one in (index, plain)]
                    compare(f"store, {case}", *ways, queries)


def _search(index: HammingIndex, code: Codes, **asked: Any) -> object:
    return index.search(code=code, **asked).hits


def _ask_store(index: HammingIndex, k: int, radius: int | None, code: Codes) -> object:
    return index.store.search(code[np.newaxis], k, radius=radius)


def without_tables(index: HammingIndex) -> None:
    """Let an index search as if the file were not there."""
    index.store._reader._tables.read = lambda: None  # type: ignore[attr-defined]


def warm(index: HammingIndex, queries: Codes) -> int:
    """Search until the file was checked; return how many searches that took."""
    tables = index.store._reader._tables  # type: ignore[attr-defined]
    time.sleep(0.2)  # the file is that old before what was read of it is kept
    count = 0
    while len(index) >= MIN_SLOTS and not tables.read().is_sound(0):
        index.search(code=queries[0], k=1)
        count += 1
    return count


def compare(
    case: str, tables: Callable[..., Any], plain: Callable[..., Any], queries: Codes
) -> None:
    """Print milliseconds per query."""
    totals = {"scan": 0.0, "tables": 0.0}
    for code in queries:
        ways = {"scan": partial(plain, code), "tables": partial(tables, code)}
        if ways["scan"]() != ways["tables"]():
            raise SystemExit("the tables found others than the scan")
        for name, seconds in best_times(ways, ROUNDS).items():
            totals[name] += 1e3 * seconds / len(queries)
    ratio = totals["scan"] / totals["tables"]
    shown = ", ".join(f"{name} {ms:.3g} ms" for name, ms in totals.items())
    print(f"{case}: {shown}, ratio {ratio:.1f}", flush=True)


if __name__ == "__main__":
    main()
