"""Exact search on a GPU, beside a bare read of the same codes; nothing to measure without CUDA.

``python -m benchmarks.gpu_search [CODES …]`` prints a table: random 64-bit codes of each number,
wider ones, filters, and the memory that a search takes beside the codes. Times are the median of
several runs, in milliseconds; the bare read is a sum over the same bytes.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from softhash.hamming import nearest

SIZES = (100_000_000, 1_000_000_000)
K = 100


def main(sizes: list[int]) -> None:
    """Measure 64-bit codes of each number, and others of the middle size."""
    print(
        "| codes | bits | queries | k | ms | bare read, ms | ps per code and query | more memory |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for n in sizes:
        codes = _codes(n, 64)
        for count, k in ((1, K), (10, K), (100, K), (1, 1000), (100, 1000)):
            _print(codes, count, k)
        if n <= max(SIZES):
            _print(codes, 1, K, torch.rand(n, device="cuda") < 0.01)
            _print(codes, 100, K, torch.rand(n, device="cuda") < 0.01)
        del codes
    for bits in (128, 256):
        codes = _codes(sizes[0], bits)
        for count in (1, 100):
            _print(codes, count, K)
        del codes


def _codes(n: int, bits: int) -> torch.Tensor:
    """Draw codes in pieces: random numbers of 64 bits take no more than the codes themselves."""
    torch.cuda.empty_cache()
    codes = torch.empty((n, bits // 8), dtype=torch.uint8, device="cuda")
    flat = codes.view(-1)
    for start in range(0, len(flat), 1 << 30):
        flat[start : start + (1 << 30)].random_(0, 256)
    return codes


def _print(codes: torch.Tensor, count: int, k: int, mask: Any = None) -> None:
    n, bits = len(codes), 8 * codes.shape[1]
    queries = torch.randint(0, 256, (count, codes.shape[1]), dtype=torch.uint8, device="cuda")
    words = codes.view(-1).view(torch.int64)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    ours = _median(lambda: nearest(queries, codes, k, mask=mask))
    more = (torch.cuda.max_memory_allocated() - before) / codes.numel()
    bare = _median(words.sum)
    filtered = "" if mask is None else ", 1 % counts"
    print(
        f"| {n:,}{filtered} | {bits} | {count} | {k} | {1e3 * ours:.2f} | {1e3 * bare:.2f} "
        f"| {1e12 * ours / n / count:.2f} | {more:.1%} |",
        flush=True,
    )


def _median(run: Callable[[], Any], rounds: int = 5) -> float:
    seconds = []
    for round_ in range(rounds + 1):
        torch.cuda.synchronize()
        started = time.perf_counter()
        run()
        torch.cuda.synchronize()
        if round_:
            seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or list(SIZES))
