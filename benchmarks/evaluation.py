"""Evaluation at the size of NUS-WIDE against the usual loop: one argsort per query.

2,100 queries × 193,734 items, 48 bits, 21 labels; MAP, WAP, ACG, NDCG, precision and recall at
5,000 and at all. Memory is the peak above the inputs. On a machine with a CUDA device, the GPU too.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks._timing import Row, best_times, row
from softhash import evaluate_codes, pack

QUERIES, ITEMS, BITS, CLASSES = 2_100, 193_734, 48, 21
LOOP_QUERIES = 60  # the loop is linear in the queries; it is run on so many and scaled

Arrays = tuple[npt.NDArray[np.uint8], ...]


def inputs() -> Arrays:
    """Codes that follow labels, with noise, so that rankings are neither random nor perfect."""
    rng = np.random.default_rng(0)
    labels = (rng.random((QUERIES + ITEMS, CLASSES)) < 2.4 / CLASSES).astype(np.uint8)
    labels[np.arange(len(labels)), rng.integers(0, CLASSES, len(labels))] = 1
    u = labels @ rng.normal(size=(CLASSES, BITS)) + rng.normal(size=(len(labels), BITS))
    codes = pack(u)
    return codes[:QUERIES], codes[QUERIES:], labels[:QUERIES], labels[QUERIES:]


def usual_loop(
    query_signs: npt.NDArray[np.float32],
    signs: npt.NDArray[np.float32],
    query_labels: npt.NDArray[np.float32],
    labels: npt.NDArray[np.float32],
) -> dict[str, float]:
    """Rank and measure one query after the other, as public evaluation code does it."""
    sums: dict[str, float] = {}
    for i in range(len(query_signs)):
        distance = 0.5 * (signs.shape[1] - signs @ query_signs[i])
        shared = labels @ query_labels[i]
        gains = shared[np.argsort(distance)]
        ideal = np.sort(shared)[::-1]
        for cut in (5000, len(signs)):
            top = gains[:cut]
            ranks = np.arange(1, len(top) + 1)
            relevant = top > 0
            found = relevant.sum()
            discount = np.log2(ranks + 1)
            values = {
                "map": (relevant * np.cumsum(relevant) / ranks).sum() / max(found, 1),
                "wap": (relevant * np.cumsum(top) / ranks).sum() / max(found, 1),
                "acg": top.mean(),
                "ndcg": ((2**top - 1) / discount).sum() / ((2 ** ideal[:cut] - 1) / discount).sum(),
                "precision": found / len(top),
                "recall": found / (shared > 0).sum(),
            }
            for name, value in values.items():
                sums[f"{name}@{cut}"] = sums.get(f"{name}@{cut}", 0.0) + value / len(query_signs)
    return sums


def rows() -> list[Row]:
    """Measure and return the lines of the table."""
    sides = inputs()
    unpacked = [np.unpackbits(codes, axis=1).astype(np.float32) * 2 - 1 for codes in sides[:2]]
    floats = [labels.astype(np.float32) for labels in sides[2:]]
    some = slice(0, LOOP_QUERIES)
    times = best_times(
        {
            "loop": lambda: usual_loop(unpacked[0][some], unpacked[1], floats[0][some], floats[1]),
            "one": lambda: evaluate_codes(*sides, bits=BITS, threads=1),
            "two": lambda: evaluate_codes(*sides, bits=BITS, threads=2),
            "stable": lambda: evaluate_codes(*sides, bits=BITS, threads=1, ties="stable"),
        },
        rounds=3,
    )
    loop = times["loop"] * QUERIES / LOOP_QUERIES
    case = f"{QUERIES:,} × {ITEMS:,}, all metrics"
    lines = [
        row("evaluation", f"{case}, 1 thread", loop, times["one"], "s", 80),
        row("evaluation", f"{case}, 2 threads", loop, times["two"], "s", 140),
        row("evaluation", f"{case}, ties stable, 1 thread", loop, times["stable"], "s", None),
    ]
    return lines + _gpu_rows(sides, loop)


def _gpu_rows(sides: Arrays, loop: float) -> list[Row]:
    import torch

    if not torch.cuda.is_available():
        return []
    tensors = [torch.from_numpy(side).cuda() for side in sides]
    best = float("inf")
    for _ in range(10):
        torch.cuda.synchronize()
        start = time.perf_counter()
        evaluate_codes(*tensors, bits=BITS)
        best = min(best, time.perf_counter() - start)
    case = f"the same on {torch.cuda.get_device_name()}"
    return [row("evaluation", case, loop, best, "s", None)]


def peak_megabytes_above_inputs() -> float:
    """Measure in a fresh process what evaluation takes beyond its inputs and the compiled code."""
    code = "from benchmarks.evaluation import report_peak; report_peak()"
    # freed memory must go back at once, or what is allocated next would not show
    settings = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, check=True)
    return float(done.stdout)


def report_peak() -> None:
    """Print how far this process's memory rises during an evaluation, in MB (Linux)."""
    sides = inputs()
    evaluate_codes(*(side[:100] for side in sides), bits=BITS)  # loads the compiled code
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = _status("VmRSS")
    evaluate_codes(*sides, bits=BITS, threads=2)
    print((_status("VmHWM") - before) / 1024)


def _status(field: str) -> int:
    """Read a value of this process, in KB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show(rows())
    peak = peak_megabytes_above_inputs()
    print(f"peak memory above the inputs: {peak:.0f} MB (target: under 200)")
