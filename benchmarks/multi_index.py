"""Multi-index hashing beside the scan, on codes drawn from a trained model's and on random ones.

    python -m benchmarks.multi_index OUTPUTS.npy [--codes 1000000 10000000] [--join 10000000]
    python -m benchmarks.multi_index OUTPUTS.npy --features FEATURES.npz [--train]

OUTPUTS are real-valued outputs before the activation, (n, bits). With --features they are made from
a file of `softhash bench --save-features`: by the model that comes along, its first 64 bits, or
with --train by a head that is trained on that file. Each time is the mean over queries of
the best of a few runs; scan and index take turns, with two threads each. Results are compared.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks._timing import best_times
from benchmarks.drawn_codes import (
    choose_share,
    default_outputs,
    draw,
    find_near,
    statistics,
    train_outputs,
)
from softhash.codes import Codes, pack
from softhash.hamming import MultiIndex, nearest, self_join, within

Search = Callable[[Codes], object]
QUERIES, ALONE, ROUNDS, THREADS = 100, 12, 3, 2


def main() -> None:
    """Measure, and print one line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outputs", type=Path)
    parser.add_argument("--features", type=Path)
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--codes", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--join", type=int, nargs="*", default=[])
    parser.add_argument("--share", type=float, help="of draws; chosen by default")
    parser.add_argument("--random", action="store_true", help="random codes only")
    options = parser.parse_args()
    if options.features:
        make = train_outputs if options.train else default_outputs
        np.save(options.outputs, make(options.features))
    if options.random:
        codes = random_codes
    else:
        outputs = find_near(np.load(options.outputs))
        share = choose_share(outputs) if options.share is None else options.share
        print("real", statistics(pack(outputs.values)))
        print("drawn", share, statistics(draw(outputs, len(outputs.values), share)), flush=True)

        def codes(n: int, seed: int) -> Codes:
            return draw(outputs, n, share, seed)

    for n in options.codes:
        measure_searches(codes(n, 0), codes(QUERIES, 1))
    for n in options.join:
        measure_join(codes(n, 0), codes(QUERIES, 1))


def random_codes(n: int, seed: int) -> Codes:
    """Return codes whose bits are all random."""
    return np.random.default_rng(seed).integers(0, 256, (n, 8), np.uint8)


def measure_searches(codes: Codes, queries: Codes) -> None:
    """Compare the 10 nearest and all within a radius."""
    start = time.perf_counter()
    index = MultiIndex.build(codes, threads=THREADS)
    seconds = time.perf_counter() - start
    size = sum(part.nbytes for part in index.buckets) / len(codes)
    tables = len(index.buckets.masks)
    print(f"{len(codes):,}: {tables} tables in {seconds:.1f} s, {size:.0f} bytes per code")
    tenth, found = nearest(queries, codes, 10, threads=THREADS)
    if not np.array_equal(index.nearest(queries, 10)[1], found):
        raise SystemExit("the index found others than the scan")
    print(f"  10th nearest at {np.bincount(tenth[:, -1]).tolist()} (how many at 0, 1, …)")
    compare(
        "10 nearest",
        lambda some: nearest(some, codes, 10, threads=THREADS),
        lambda some: index.nearest(some, 10, threads=THREADS),
        queries,
    )
    for radius in (3, 8):
        found = np.mean([len(one[0]) for one in index.within(queries[:ALONE], radius)])
        compare(
            f"within {radius}, {found:,.0f} found",
            lambda some, radius=radius: within(some, codes, radius, threads=THREADS),
            lambda some, radius=radius: index.within(some, radius, threads=THREADS),
            queries[:ALONE],
        )


def compare(case: str, scan: Search, index: Search, queries: Codes) -> None:
    """Print milliseconds per query, of queries one by one and of all at once."""
    each = [_take_turns(scan, index, one, ROUNDS) for one in queries[:ALONE, np.newaxis]]
    alone = {name: 1e3 * np.mean([times[name] for times in each]) for name in ("scan", "index")}
    _print(f"{case}, 1 query", alone)
    if len(queries) > ALONE:
        times = _take_turns(scan, index, queries, 1)
        ms = {name: 1e3 * seconds / len(queries) for name, seconds in times.items()}
        _print(f"{case}, {len(queries)} queries, each", ms)


def _take_turns(scan: Search, index: Search, queries: Codes, rounds: int) -> dict[str, float]:
    runs = {"scan": partial(scan, queries), "index": partial(index, queries)}
    return best_times(runs, rounds)


def _print(case: str, ms: dict[str, float]) -> None:
    ratio = ms["scan"] / ms["index"]
    print(
        f"  {case}: scan {ms['scan']:.3g} ms, index {ms['index']:.3g} ms: {ratio:.1f}", flush=True
    )


def measure_join(codes: Codes, queries: Codes) -> None:
    """Print how long a self-join within distance 3 takes: all pairs, and the 10 nearest of each."""
    expected = np.mean([len(found[0]) for found in within(queries, codes, 3)]) * len(codes) / 2
    print(f"self-join of {len(codes):,} within 3: about {expected:.3g} pairs expected")
    for k in (10, None):
        if k is None and expected > 1e9:
            continue
        start = time.perf_counter()
        pairs = sum(len(piece.first) for piece in self_join(codes, 3, k=k, threads=THREADS))
        seconds = time.perf_counter() - start
        print(f"  k={k}: {pairs:,} pairs in {seconds:.0f} s, tables included", flush=True)


if __name__ == "__main__":
    main()
