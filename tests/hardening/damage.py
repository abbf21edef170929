"""The damage fuzzer: ``python -m tests.hardening.damage N [--seed S] [--jobs J] [--case K]``.

A file of an index or of a model is damaged as disks and people damage files. Every question is
then answered rightly, as before the damage, or by an error of softhash: never wrongly, never by
another exception, a crash or a hang. What is derived may be missing: a filter by likely labels may
then find fewer items, and no others.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from softhash.errors import SofthashError
from softhash.model._runtime import import_runtime

from .samples import encoded, picture, read_tree, write_all, write_tree
from .sandbox import FAILED, Outcome, WrongAnswerError, in_child, in_scratch, place, run_cases

BLOCK = 512
SAMPLES = ("index", "crashed", "model")
REFUSED = "refused"  # stands for an answer that is an error of softhash
DERIVED = "likely hits"  # the question about what an index can make again


class Damage(NamedTuple):
    """What is done to a file."""

    sample: str
    file: str
    kind: str
    offset: int
    writable: bool  # whether the index is opened for writing before it is asked

    def __str__(self) -> str:
        opened = ", opened for writing" if self.writable else ""
        return f"{self.sample}/{self.file}: {self.kind} at {self.offset}{opened}"


def _at(data: bytes, offset: int, run: bytes) -> bytes:
    return data[:offset] + run + data[offset + len(run) :]


def _flip(data: bytes, offset: int, dice: Random) -> bytes:
    return _at(data, offset, bytes([data[offset] ^ (1 << dice.randrange(8))]))


def _zero(data: bytes, offset: int, dice: Random) -> bytes:
    return _at(data, offset, bytes(min(dice.choice((1, 8, BLOCK)), len(data) - offset)))


def _overwrite(data: bytes, offset: int, dice: Random) -> bytes:
    return _at(data, offset, dice.randbytes(min(dice.choice((1, 8, BLOCK)), len(data) - offset)))


def _swap(data: bytes, offset: int, dice: Random) -> bytes:
    """Exchange two blocks, or two records where the file is small."""
    size = dice.choice((8, BLOCK)) if len(data) > 2 * BLOCK else 8
    first, second = offset // size * size, dice.randrange(len(data)) // size * size
    a, b = data[first : first + size], data[second : second + size]
    return data if len(a) != len(b) else _at(_at(data, first, b), second, a)


KINDS: dict[str, Callable[[bytes, int, Random], bytes]] = {
    "flip": _flip,
    "zero": _zero,
    "overwrite": _overwrite,
    "cut": lambda data, offset, dice: data[:offset],
    "extend": lambda data, offset, dice: data + dice.randbytes(dice.choice((1, 8, BLOCK))),
    "swap": _swap,
    "empty": lambda data, offset, dice: b"",
}
WITHOUT_BYTES = ("delete", "folder")


def draw(trees: dict[str, dict[str, bytes]], seed: int, case: int) -> tuple[Damage, Random]:
    """Choose what a case does; most often to the files that answers come from."""
    dice = Random(f"{seed} {case}")
    sample = dice.choice(SAMPLES)
    tree = trees[sample]
    names = [name for name in sorted(tree) if tree[name] or dice.random() < 0.2]
    own = [name for name in names if "/" not in name]  # those of an index, without its model's
    file = dice.choice(names + own * 3)
    kinds = list(KINDS) if tree[file] else ["extend"]
    kind = dice.choice(kinds * 3 + list(WITHOUT_BYTES))
    offset = _used(tree[file], dice.randrange(max(1, len(tree[file]))))
    return Damage(sample, file, kind, offset, dice.random() < 0.4), dice


def _used(data: bytes, offset: int) -> int:
    """Return the place of the next byte that is not 0: databases have much empty room."""
    while offset + 1 < len(data) and not data[offset]:
        offset += 1
    return offset


def apply(damage: Damage, folder: Path, dice: Random) -> None:
    """Damage a file of a sample."""
    path = folder / damage.file
    if damage.kind in KINDS:
        path.write_bytes(KINDS[damage.kind](path.read_bytes(), damage.offset, dice))
        return
    path.unlink()
    if damage.kind == "folder":
        path.mkdir()


def _index_questions(folder: Path, *, writable: bool) -> Iterator[tuple[str, Any]]:
    """Yield questions by name, each a function."""
    from softhash.index import HammingIndex

    with HammingIndex.open(folder, writable=writable) as index:
        data = encoded(picture(4), "PNG")
        names = [f"{i:03}.png" for i in range(0, 24, 5)]
        yield "length", lambda: len(index)
        yield "bits", lambda: index.bits
        yield "search", lambda: _hits(index.search(code=b"\x01\x02\x30", k=30))
        yield "near", lambda: _hits(index.search(code=b"\x01\x02\x30", k=30, max_distance=9))
        given = partial(index.search, given_only=True, k=30)
        yield "label", lambda: _hits(given(id=2, labels=["sea"]))
        yield "labels", lambda: _hits(given(id=4, labels=["dog", "revised"]))
        yield "not", lambda: _hits(given(id=2, not_labels=["sky", "revised"]))
        yield DERIVED, lambda: _hits(index.search(id=2, labels=["sea"], k=30))
        yield "picture", lambda: _hits(index.search(data, k=30))
        yield "likely", lambda: index.hasher.outputs_and_labels(data)[1]
        yield "items", lambda: index.store.items(limit=100)
        yield "scan", lambda: list(index.store.scan())
        yield "counts", lambda: index.store.labels()
        yield "codes", lambda: index.store.codes([0, 4, 5]).tolist()
        yield "names", lambda: index.store.find_names(names)
        yield "content", lambda: index.find_labels(data)
        yield "verify", lambda: index.store.verify() and REFUSED


def _is_right(name: str, value: Any, right: dict[str, Any]) -> bool:
    """Return whether an answer is refused, or right; of what is derived, some may be missing."""
    if name == DERIVED and value != REFUSED:
        return set(value) <= set(right[name])
    return value in (REFUSED, right.get(name))


def _hits(found: Any) -> list[Any]:
    return [(hit.distance, hit.id, hit.file_name, hit.labels) for hit in found]


def _model_questions(folder: Path, *, writable: bool) -> Iterator[tuple[str, Any]]:
    from softhash.model.hasher import Hasher

    hasher = Hasher.load(folder)
    drawn = [picture(1), picture(2)]
    yield "bits", lambda: (hasher.bits, hasher.backbone, hasher.classes, hasher.ranking)
    yield "codes", lambda: hasher.encode(drawn).tolist()
    yield "outputs", lambda: hasher.outputs(drawn).tolist()
    yield "likely", lambda: hasher.outputs_and_labels(drawn)[1]
    yield "identity", lambda: hasher.identity


def answers(sample: str, folder: Path, *, writable: bool = False) -> dict[str, Any]:
    """Ask everything; what is refused is `REFUSED`, and what could not be asked is missing."""
    questions = _model_questions if sample == "model" else _index_questions
    found: dict[str, Any] = {}
    try:
        for name, question in questions(folder, writable=writable):
            try:
                found[name] = question()
            except SofthashError:
                found[name] = REFUSED
    except SofthashError:
        found.setdefault("open", REFUSED)
    return found


class DamageFuzzer:
    """The cases, and the right answers.

    Args:
        samples: the folder that `samples.write_all` filled.
        seed: what all cases follow from.

    """

    def __init__(self, samples: Path, seed: int) -> None:
        self.trees = {name: read_tree(samples / name) for name in SAMPLES}
        self._seed = seed
        self._right: dict[tuple[str, bool], dict[str, Any]] = {}

    def prepare(self) -> None:
        """Ask sound copies."""
        for sample in SAMPLES:
            for writable in (False, True):
                folder = self._copy(sample)
                self._right[sample, writable] = answers(sample, folder, writable=writable)
                wrong = [
                    name
                    for name, value in self._right[sample, writable].items()
                    if value == REFUSED
                ]
                if wrong:
                    raise WrongAnswerError(f"a sound {sample} refuses {wrong}")

    def _copy(self, sample: str) -> Path:
        folder = Path("copy")
        shutil.rmtree(folder, ignore_errors=True)
        return write_tree(folder, self.trees[sample])

    def act(self, case: int) -> None:
        """Damage a copy, ask it, and compare."""
        damage, dice = draw(self.trees, self._seed, case)
        folder = self._copy(damage.sample)
        apply(damage, folder, dice)
        right = self._right[damage.sample, damage.writable]
        try:
            found = answers(damage.sample, folder, writable=damage.writable)
        except Exception as error:
            text = f"{type(error).__name__}: {error} [{place(error)}]"
            raise WrongAnswerError(f"{damage}: {text}") from error
        wrong = [name for name, value in found.items() if not _is_right(name, value, right)]
        if wrong:
            raise WrongAnswerError(f"{damage}: wrong answers to {', '.join(wrong)}")
        if REFUSED in found.values():
            raise SofthashError(f"{damage}: refused")


def run(cases: range, seed: int, jobs: int) -> Iterator[Outcome]:
    """Run cases, and yield their outcomes."""
    import softhash.index
    import softhash.model.hasher  # noqa: F401

    import_runtime().set_default_logger_severity(4)
    with tempfile.TemporaryDirectory() as folder:
        in_child(lambda: write_all(Path(folder)))
        fuzzer = DamageFuzzer(Path(folder), seed)
        yield from run_cases(fuzzer.act, cases, jobs=jobs, prepare=fuzzer.prepare)


def repeat(case: int, seed: int) -> None:
    """Run one case here, so that its traceback is seen."""
    with tempfile.TemporaryDirectory() as folder, in_scratch():
        in_child(lambda: write_all(Path(folder)))
        fuzzer = DamageFuzzer(Path(folder), seed)
        in_child(fuzzer.prepare)
        fuzzer.prepare()
        fuzzer.act(case)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardening.damage")
    parser.add_argument("cases", type=int, nargs="?", default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--case", type=int, help="run this one alone, and show its traceback")
    given = parser.parse_args(arguments)
    if given.case is not None:
        repeat(given.case, given.seed)
        return 0
    counts: Counter[str] = Counter()
    started = time.monotonic()
    for outcome in run(range(given.cases), given.seed, given.jobs):
        counts[outcome.kind] += 1
        if outcome.kind == FAILED:
            command = f"python -m tests.hardening.damage --seed {given.seed} --case {outcome.case}"
            _print(f"FAILED {outcome.detail}\n  {command}")
    shown = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
    _print(f"{counts.total():,} damaged files in {time.monotonic() - started:,.0f} s: {shown}")
    return int(bool(counts[FAILED]))


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
