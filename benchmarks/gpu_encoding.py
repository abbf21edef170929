"""Encoding JPEG files on a GPU, and what limits it; nothing to measure without CUDA.

``python -m benchmarks.gpu_encoding [PICTURES]`` draws photos of 500 pixels and prints pictures per
second, the best of a few rounds: decoding alone, in threads and in processes, the network alone,
and `Hasher.encode` from files to codes, on the GPU and on the processor.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from benchmarks.decode import draw, softhash
from softhash.data.image_set import ImageSet
from softhash.data.processes import load_in_processes
from softhash.devices import usable_cores
from softhash.model.engines import TorchEngine
from softhash.model.hasher import Hasher

PICTURES, ROUNDS = 16_000, 2
BITS, SIDE = 64, 224


def main(count: int) -> None:
    """Measure each stage alone, and the whole."""
    if not torch.cuda.is_available():
        return
    hasher = Hasher("efficientnet_lite0", BITS, size=SIDE, weights=None)
    with TemporaryDirectory() as folder:
        images = draw(Path(folder), 500, 375, count)
        print(f"{count:,} photos of 500×375, {usable_cores()} cores", flush=True)
        _print("decoding alone, threads", count, partial(softhash, images))
        _print("decoding alone, processes", count, partial(_decode, images))
        for kind, bf16 in (("fp32", False), ("bf16", True)):
            engine = TorchEngine(hasher.network, "cuda", bf16=bf16)
            batch = np.zeros((engine.batch_size, SIDE, SIDE, 3), np.uint8)
            turns = max(1, count // len(batch))
            _print(
                f"network alone, {kind}", turns * len(batch), partial(_run, engine, batch, turns)
            )
            run = partial(hasher.encode, images, device="cuda", bf16=bf16)
            _print(f"files to codes, {kind}", count, run)
        for name in ("fp32", "int8"):
            on_processor = hasher.with_engine(name)
            for how, workers in (("threads", usable_cores()), ("processes", None)):
                run = partial(on_processor.encode, images, device="cpu", workers=workers)
                _print(f"files to codes on the processor, {name}, {how}", count, run)


def _decode(images: ImageSet) -> None:
    for _ in load_in_processes(images, (SIDE, SIDE), batch_size=128, processes=usable_cores()):
        pass


def _run(engine: TorchEngine, batch: np.ndarray, turns: int) -> None:
    for _ in range(turns):
        engine(batch)


def _print(what: str, count: int, run: Callable[[], object]) -> None:
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - started)
    print(f"{what}: {count / best:,.0f} pictures per second", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]), *(PICTURES,)[len(sys.argv) - 1 :])
