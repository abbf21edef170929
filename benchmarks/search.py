"""Exact top-100 search against faiss IndexBinaryFlat, same codes, same threads, same run.

The memory limit is what a bare sum over the same bytes reaches. Search in two stages is measured
beside an exact one, on codes of 256 bits that are clustered, as those of a trained model are.
"""

import faiss
import numpy as np

from benchmarks._timing import Row, best_times, row
from softhash.hamming import nearest, pack_mask
from softhash.hamming.two_stages import nearest_in_two_stages

K = 100


def rows() -> list[Row]:
    """Measure and return the lines of the table."""
    exact = [line for n in (1_000_000, 10_000_000) for line in _rows(n)]
    return exact + [_two_stages(n) for n in (4_000_000, 10_000_000)]


def _two_stages(n: int) -> Row:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (1000, 32), dtype=np.uint8)[rng.integers(0, 1000, n)]
    for flipped in rng.integers(0, 256, (24, n)):
        codes[np.arange(n), flipped >> 3] ^= (128 >> (flipped & 7)).astype(np.uint8)
    words = codes.view(np.uint64)
    first, query = words[:, 0].copy(), codes[:1].copy()
    times = best_times(
        {
            "exact": lambda: nearest(query, codes, 20),
            "stages": lambda: nearest_in_two_stages(query.view(np.uint64)[0], words, first, 20),
        },
        rounds=30,
    )
    exact, stages = (1e3 * times[name] for name in ("exact", "stages"))
    case = f"{n // 1_000_000}M × 256 bit, 1 query: all bits / two stages"
    return row("search", case, exact, stages, "ms", 1.0)


def _rows(n: int) -> list[Row]:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (n, 8), dtype=np.uint8)
    queries = rng.integers(0, 256, (100, 8), dtype=np.uint8)
    mask = pack_mask(rng.random(n) < 0.1)
    index = faiss.IndexBinaryFlat(64)
    index.add(codes)

    def peer(count: int, threads: int) -> None:
        faiss.omp_set_num_threads(threads)
        index.search(queries[:count], K)

    name = f"{n // 1_000_000}M × 64 bit"
    lines: list[Row] = []
    for count, target in ((100, 2.5), (1, 1.5)):
        words = codes.view(np.uint64)
        some = queries[:count]
        times = best_times(
            {
                "faiss 1": lambda count=count: peer(count, 1),
                "ours 1": lambda some=some: nearest(some, codes, K, threads=1),
                "faiss 2": lambda count=count: peer(count, 2),
                "ours 2": lambda some=some: nearest(some, codes, K, threads=2),
                "masked 1": lambda some=some: nearest(some, codes, K, mask=mask, threads=1),
                "masked 2": lambda some=some: nearest(some, codes, K, mask=mask, threads=2),
                "read": words.sum,
            },
            rounds=5 if count == 100 else 30,
        )
        ns = {key: seconds / n / count * 1e9 for key, seconds in times.items()}
        queries_text = f"{count} {'query' if count == 1 else 'queries'}"
        case = f"{name}, {queries_text}"
        unit = "ns/code"
        lines += [
            row("search", f"{case}, 1 thread: faiss", ns["faiss 1"], ns["ours 1"], unit, target),
            row("search", f"{case}, 2 threads: faiss", ns["faiss 2"], ns["ours 2"], unit, target),
            row("search", f"{case}: 1 thread / 2", ns["ours 1"], ns["ours 2"], unit, 1.0),
            row("search", f"{case}: all / 10 % kept", ns["ours 1"], ns["masked 1"], unit, 1.0),
        ]
        if count == 1:
            lines.append(
                row(
                    "search",
                    f"{case}: bare read of the codes",
                    ns["read"],
                    ns["ours 1"],
                    unit,
                    None,
                )
            )
    return lines


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show(rows())
