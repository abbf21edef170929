"""Timing for noisy machines: runs take turns, the best of each counts, ratios are shown."""

import time
from collections.abc import Callable, Mapping
from typing import Any

Row = dict[str, Any]


def best_times(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Call all runs once to warm up, then in turn; return the shortest seconds of each."""
    best = dict.fromkeys(runs, float("inf"))
    for run in runs.values():
        run()
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def row(
    benchmark: str, case: str, peer: float, ours: float, unit: str, target: float | None
) -> Row:
    """Make a line of the table; values are seconds or the like, less being better."""
    return {
        "benchmark": benchmark,
        "case": case,
        "peer": peer,
        "ours": ours,
        "unit": unit,
        "ratio": peer / ours,
        "target": target,
    }
