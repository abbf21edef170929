"""An index of made-up items as it grows: adding, opening, searching, looking up, verifying.

`python -m benchmarks.many_items 1_000_000 10_000_000 --kind shuffled` adds items to one index and
stops at each size to measure. `--way later` sorts names at the end, as an import of codes into an
empty index does, and takes one size. It is not part of `make speed`: 10 million items take minutes
and gigabytes. Batches are of 10,000, each safe on disk before the next; drawing them is not
counted. Whatever opens the index runs in a process of its own, with the system's caches warm.
"""

import argparse
import hashlib
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from softhash.codes import Codes
from softhash.index import HammingIndex
from softhash.index.items import Entry

Laps = dict[str, float]

BATCH, BITS, ASKED, K = 10_000, 64, 1000, 10
KINDS = {
    "ordered": "names in order, nothing else, as `index --codes` adds them",
    "shuffled": "names in random order, nothing else",
    "photos": "names in order, with two labels, size, time and SHA-256",
}


def entry(kind: str, number: int) -> Entry:
    """Make up an item; names have 23 characters.

    >>> [entry(kind, 7).file_name for kind in ("ordered", "shuffled")]
    ['00000/IMG_000000007.jpg', 'c5/c584133ac916ab3c.jpg']
    """
    if kind == "shuffled":
        mixed = f"{_mixed(number):016x}"
        return Entry(f"{mixed[:2]}/{mixed}.jpg")
    name = f"{number // BATCH:05d}/IMG_{number:09d}.jpg"
    if kind == "ordered":
        return Entry(name)
    labels = f"label {number % 20}", f"label {number % 19 + 20}"
    content = hashlib.sha256(name.encode()).hexdigest()
    return Entry(
        name, labels, 100_000 + number % 99_991, 1_566_000_000_000_000_000 + number, content
    )


def _mixed(number: int) -> int:
    """Return splitmix64 of a number: another for each, in no order."""
    mask = (1 << 64) - 1
    mixed = (number + 1) * 0x9E3779B97F4A7C15 & mask
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & mask
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & mask
    return mixed ^ mixed >> 31


def batch(kind: str, first: int, count: int) -> tuple[Codes, list[Entry]]:
    """Draw items; the same every time."""
    rng = np.random.default_rng(first)
    codes = rng.integers(0, 256, (count, BITS // 8), dtype=np.uint8)
    return codes, [entry(kind, number) for number in range(first, first + count)]


def grow(folder: Path, kind: str, span: range, way: str) -> Laps:
    """Add items, and return what each took on average, and each of the last tenth."""
    spent = []
    with HammingIndex.open(folder, writable=True) as index, Stopwatch() as watch:
        write = index.upsert_codes if way == "upsert" else index.add_codes
        later = index.store.names_later() if way == "later" else nullcontext()
        with later:
            for at in span[::BATCH]:
                drawn = batch(kind, at, min(BATCH, span.stop - at))
                start = time.perf_counter()
                write(*drawn)
                spent.append((time.perf_counter() - start) / len(drawn[1]) * 1e6)
            watch.lap("all")
        watch.lap("s, sorting names")
    watch.lap("s, closing")
    last = spent[-max(1, len(spent) // 10) :]
    watch.laps |= {
        "µs per item": float(np.mean(spent)) + watch.laps["s, sorting names"] / len(span) * 1e6,
        "µs per item, last tenth": float(np.mean(last)),
        "s, slowest batch": max(spent) * BATCH / 1e6,
        "MB, adding": _peak(),
    }
    return watch.laps


def change(folder: Path, kind: str, items: int, _: bool) -> Laps:
    """Open for writing, add a thousand items in one call, and remove them again."""
    drawn = batch(kind, items, ASKED)
    with Stopwatch() as watch:
        index = HammingIndex.open(folder, writable=True)
        watch.lap("s, open for writing")
        ids = index.add_codes(*drawn)
        watch.lap("s, add 1,000")
        index.remove(*ids)
        watch.lap("s, remove 1,000")
        index.close()
    return watch.laps


def ask(folder: Path, kind: str, items: int, verify: bool) -> Laps:
    """Open for reading, search, look names up, and verify."""
    names = [entry(kind, int(i)).file_name for i in np.linspace(0, items - 1, ASKED)]
    code = batch(kind, 0, 1)[0]
    with Stopwatch() as watch:
        index = HammingIndex.open(folder)
        watch.lap("s, open")
        index.search(code=code, k=K)
        watch.lap("s, first search")
        index.search(code=code, k=K)
        watch.lap("s, second search")
        found = index.store.find_names(names)
        watch.lap("s, 1,000 names")
        watch.laps["MB, searching and names"] = _peak()
        wrong = index.store.verify() if verify else []
        watch.lap("s, verify")
        watch.laps["MB, verify"] = _peak()
    if len(found) < ASKED or wrong:
        raise SystemExit(f"{len(found)} of {ASKED} names were found; {wrong}")
    return watch.laps


class Stopwatch:
    """Seconds between laps, by name."""

    def __enter__(self) -> "Stopwatch":
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()
        return self

    def lap(self, name: str) -> None:
        """Note the time since the last lap."""
        now = time.perf_counter()
        self.laps[name], self._last = now - self._last, now

    def __exit__(self, *error: object) -> None:
        pass


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measure(folder: Path, kind: str, sizes: list[int], *, way: str, verify: bool) -> Iterator[str]:
    """Yield lines of what was measured, size by size.

    Args:
        folder: that will be the index.
        kind: of items.
        sizes: in rising order.
        way: how items are added.
        verify: whether to measure that too.

    """
    HammingIndex.create(folder, bits=BITS).close()
    alone = multiprocessing.get_context("spawn")
    first = 0
    for size in sizes:
        with alone.Pool(1) as process:
            found = process.apply(grow, (folder, kind, range(first, size), way))
        bytes_of = {path.name: path.stat().st_size for path in folder.iterdir()}
        found["bytes per item, items.sqlite"] = bytes_of["items.sqlite"] / size
        found["bytes per item, all"] = sum(bytes_of.values()) / size
        for look in (change, ask):
            with alone.Pool(1) as process:
                found |= process.apply(look, (folder, kind, size, verify))
        for name, value in found.items():
            yield f"{kind:8} {way:6} {size:>11,} {name:30} {value:12.4f}"
        first = size + ASKED


def main() -> None:
    """Read the command line, and print what is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="+", metavar="ITEMS")
    parser.add_argument("--kind", choices=KINDS, default="ordered")
    parser.add_argument("--folder", type=Path, help="where there is room; removed afterwards")
    parser.add_argument("--way", choices=("add", "upsert", "later"), default="add")
    parser.add_argument("--no-verify", dest="verify", action="store_false")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        place, sizes = Path(name) / "many", sorted(options.sizes)
        lines = measure(place, options.kind, sizes, way=options.way, verify=options.verify)
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
