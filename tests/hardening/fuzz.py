"""The reader fuzzer: ``python -m tests.hardening.fuzz N [--seed S] [--reader R] [--jobs J]``.

Every reader of files is given N spoiled files in all. It may read them, or raise an error of
softhash; anything else, a hang, a crash or much memory is a failure. A failure is printed with the
command that repeats it; ``--case K`` runs one case and shows its traceback.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random

from softhash.errors import SofthashError
from softhash.model._runtime import import_runtime

from . import readers_data, readers_index, readers_model, readers_runs, readers_shards
from .knowing import mutated
from .reader import Reader
from .samples import read_tree, write_tree
from .sandbox import FAILED, Outcome, in_child, in_scratch, run_cases

READERS: dict[str, Reader] = {
    reader.name: reader
    for room in (readers_data, readers_model, readers_index, readers_runs, readers_shards)
    for reader in room.READERS
}


QUICK = [name for name in READERS if name != "report"]  # figures take seconds


class Fuzzer:
    """The cases of some readers: number k is of one reader, one file and one way to spoil it.

    Args:
        names: of readers.
        seed: what all cases follow from.
        samples: a folder with the sample of each reader.

    """

    def __init__(self, names: Sequence[str], seed: int, samples: Path) -> None:
        self._seed = seed
        self._readers = [READERS[name] for name in names]
        self._trees = {name: read_tree(samples / name) for name in names}
        self._kinds = {name: _spoilable(READERS[name], samples / name) for name in names}

    @cache  # noqa: B019 (one fuzzer lives as long as its process)
    def _order(self) -> list[Reader]:
        """Return a round in which each reader has its share."""
        turns = [max(1, round(20 * reader.weight)) for reader in self._readers]
        order = [r for r, n in zip(self._readers, turns, strict=True) for _ in range(n)]
        Random(0).shuffle(order)
        return order

    def reader(self, case: int) -> Reader:
        """Say whose a case is."""
        order = self._order()
        return order[case % len(order)]

    def prepare(self) -> None:
        """Read every sample as it is, which must work."""
        for reader in self._readers:
            self._fresh(reader)
            reader.read(Path(reader.name))

    def _fresh(self, reader: Reader) -> Path:
        """Return a folder that holds the sample."""
        folder = Path(reader.name)
        if not reader.keeps and folder.exists():
            shutil.rmtree(folder)
        if not folder.exists():
            write_tree(folder, self._trees[reader.name])
        return folder

    def act(self, case: int) -> None:
        """Run a case in the working folder."""
        reader = self.reader(case)
        dice = Random(f"{self._seed} {reader.name} {case}")
        tree = self._trees[reader.name]
        folder = self._fresh(reader)
        name = dice.choice(sorted(self._kinds[reader.name]))
        (folder / name).write_bytes(mutated(tree[name], self._kinds[reader.name][name], dice))
        try:
            reader.read(folder)
        finally:
            (folder / name).write_bytes(tree[name])


def _spoilable(reader: Reader, folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): kind
        for pattern, kind in reader.files.items()
        for path in sorted(folder.glob(pattern))
        if path.is_file()
    }


def make_samples(names: Sequence[str], folder: Path) -> None:
    """Write the sample of each reader into a folder of its name."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name in names:
        (folder / name).mkdir()
        READERS[name].make(folder / name)


def preload() -> None:
    """Import what every process would import by itself otherwise."""
    import onnx
    import torch  # noqa: F401

    import softhash.cli.bench
    import softhash.cli.plot
    import softhash.evaluation.evaluate
    import softhash.experiments.grid
    import softhash.index
    import softhash.training.fit  # noqa: F401

    import_runtime().set_default_logger_severity(4)
    assert onnx


def fuzz(names: Sequence[str], cases: range, seed: int, jobs: int) -> Iterator[tuple[str, Outcome]]:
    """Run cases, and yield the reader and the outcome of each."""
    preload()
    with tempfile.TemporaryDirectory() as folder:
        in_child(lambda: make_samples(names, Path(folder)))
        fuzzer = Fuzzer(names, seed, Path(folder))
        for outcome in run_cases(fuzzer.act, cases, jobs=jobs, prepare=fuzzer.prepare):
            yield fuzzer.reader(outcome.case).name, outcome


def repeat(names: Sequence[str], case: int, seed: int) -> None:
    """Run one case here, so that its traceback is seen."""
    preload()
    with tempfile.TemporaryDirectory() as folder:
        in_child(lambda: make_samples(names, Path(folder)))
        fuzzer = Fuzzer(names, seed, Path(folder))
        with in_scratch():
            name = fuzzer.reader(case).name
            try:
                fuzzer.act(case)
            except SofthashError as error:
                _print(f"{name}: refused: {error}")
            else:
                _print(f"{name}: accepted")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardening.fuzz")
    parser.add_argument("files", type=int, nargs="?", default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", choices=sorted(READERS))
    parser.add_argument("--quick", action="store_true", help="without readers that take seconds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--case", type=int, help="run this one alone, and show its traceback")
    given = parser.parse_args(arguments)
    names = [given.reader] if given.reader else list(QUICK if given.quick else READERS)
    if given.case is not None:
        repeat(names, given.case, given.seed)
        return 0
    counts: Counter[tuple[str, str]] = Counter()
    failures: dict[tuple[str, ...], str] = {}
    started = shown = time.monotonic()
    for name, outcome in fuzz(names, range(given.files), given.seed, given.jobs):
        counts[name, outcome.kind] += 1
        if outcome.kind == FAILED:
            found = f"{outcome.detail}\n  {_command(given, outcome.case)}"
            kind = name, *_kind(outcome.detail)
            if kind not in failures:
                _print(f"FAILED {name}: {found}")
            failures.setdefault(kind, found)
        if time.monotonic() - started > given.seconds:
            break
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            _print(f"{counts.total():,} of {given.files:,}, {len(failures)} kinds of failures")
    _print_table(names, counts)
    seconds = time.monotonic() - started
    _print(f"{counts.total():,} files in {seconds:,.0f} s; {len(failures)} kinds of failures")
    return int(bool(failures))


def _command(given: argparse.Namespace, case: int) -> str:
    """Return what repeats a case: which reader's it is depends on all that are tried."""
    only = f" --reader '{given.reader}'" if given.reader else " --quick" if given.quick else ""
    return f"python -m tests.hardening.fuzz{only} --seed {given.seed} --case {case}"


def _kind(detail: str) -> tuple[str, str]:
    """Return what failures of one cause have in common: the exception, and the line."""
    return detail.partition(":")[0], detail.rpartition("[")[2]


def _print_table(names: Sequence[str], counts: "Counter[tuple[str, str]]") -> None:
    kinds = ("accepted", "refused", FAILED)
    _print(f"{'reader':28}" + "".join(f"{kind:>12}" for kind in kinds))
    for name in names:
        _print(f"{name:28}" + "".join(f"{counts[name, kind]:12,}" for kind in kinds))


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
