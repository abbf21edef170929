"""The fault injector: ``python -m tests.hardening.faults [SCENARIO…] [--count N] [--kind K]``.

A command is run with a fault at its n-th call that touches files: it is killed there, the call
fails (EIO), or the disk is full from there on (ENOSPC). Then it is run again, without a fault. What
was acknowledged is there, the second run ends as if there had been no fault, nothing temporary is
left, and a failure is a message of softhash with exit code 1. Linux, with a C compiler.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .fault_scenarios import SCENARIOS

KINDS = ("kill", "EIO", "ENOSPC")
SOURCE = Path(__file__).with_name("faults.c")
ROOT = Path(__file__).parents[2]


def compiler() -> str | None:
    """Find a C compiler; None where there is none, or no Linux."""
    return shutil.which("cc") if sys.platform == "linux" else None


class Found(NamedTuple):
    """What a step ended with."""

    status: int
    calls: int
    stdout: str
    stderr: str


class Injector:
    """Runs scenarios in folders of its own; a context manager."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="softhash-faults-"))
        library = self._folder / "faults.so"
        words = (compiler() or "cc", "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl")
        subprocess.run(words, check=True)
        environment = {
            **os.environ,
            "LD_PRELOAD": str(library),
            "OMP_NUM_THREADS": "1",
            "XDG_CACHE_HOME": str(self._folder / "cache"),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hardening.fault_server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT,
        )  # fmt: skip

    def __enter__(self) -> "Injector":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def step(
        self, scenario: str, step: str, folder: Path, at: int = 0, kind: str = "none"
    ) -> Found:
        """Do one step of a scenario in a fresh process."""
        job = {"scenario": scenario, "step": step, "folder": str(folder), "at": at, "kind": kind}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        texts = (Path(f"{folder}.{name}").read_text() for name in ("stdout", "stderr"))
        return Found(answer["status"], answer["calls"], *texts)

    def _looked(self, scenario: str, step: str, folder: Path) -> Any:
        found = self.step(scenario, step, folder)
        if found.status:
            raise AssertionError(f"{scenario}: {step} failed: {found.stderr[-2000:]}")
        return json.loads(found.stdout) if found.stdout else None

    def fresh(self, scenario: str) -> Path:
        """Return a folder where a scenario is set up; it is always the same path."""
        folder, kept = self._folder / "work", self._folder / scenario
        shutil.rmtree(folder, ignore_errors=True)
        if not kept.exists():
            folder.mkdir()
            self._looked(scenario, "set_up", folder)
            folder.rename(kept)
        Path(f"{folder}.acknowledged").unlink(missing_ok=True)
        return Path(shutil.copytree(kept, folder))

    def right(self, scenario: str) -> tuple[int, Any, Any]:
        """Return how many calls there are without a fault, and what is there before and after."""
        folder = self.fresh(scenario)
        before = self.step(scenario, "look", folder)
        first = json.loads(before.stdout) if not before.status else None
        done = self.step(scenario, "act", folder)
        if done.status:
            raise AssertionError(f"{scenario} fails without a fault: {done.stderr[-2000:]}")
        self._looked(scenario, "again", folder)
        return done.calls, first, self._looked(scenario, "look", folder)

    def problem(self, scenario: str, at: int, kind: str, right: tuple[int, Any, Any]) -> str | None:
        """Put a fault at one call; return what is not as it must be."""
        _, first, last = right
        folder = self.fresh(scenario)
        done = self.step(scenario, "act", folder, at, kind)
        if wrong := _ended_badly(done, kind):
            return wrong
        between = self.step(scenario, "between", folder)
        if between.status:
            return f"cannot be read before it is done again: {between.stderr.strip()[-300:]}"
        now = json.loads(between.stdout) if between.stdout else None
        if not SCENARIOS[scenario].allowed(now, first, last):
            return "what is there before it is done again is neither the old nor the new"
        again = self.step(scenario, "again", folder)
        if again.status:
            return f"cannot be done again: {again.stderr.strip()[-300:]}"
        looked = self.step(scenario, "look", folder)
        if looked.status:
            return f"cannot be read: {looked.stderr.strip()[-300:]}"
        found = json.loads(looked.stdout)
        return None if found == last else _difference(found, last)


def _ended_badly(done: Found, kind: str) -> str | None:
    """Say what is wrong with how a process with a fault ended."""
    if kind == "kill" and done.status in (-9, 0):  # 0: the call was not reached this time
        return None
    if done.status not in (0, 1):
        return f"ended with {done.status}: {done.stderr.strip()[-300:]}"
    for sign in ("Traceback", "a defect"):
        if sign in done.stderr:
            return f"a raw exception: {done.stderr.strip()[-300:]}"
    if done.status and not done.stderr.strip():
        return "failed without a message"
    return None


def _difference(found: Any, right: Any) -> str:
    for one, other in zip(found, right, strict=False):
        if one != other and isinstance(one, list) and isinstance(other, list):
            more = [x for x in one if x not in other]
            less = [x for x in other if x not in one]
            return f"differs afterwards: more {str(more)[:200]}, less {str(less)[:200]}"
    return "differs afterwards"


def places(calls: int, count: int) -> list[int]:
    """Choose calls that are spread over all of them.

    >>> places(100, 4)
    [13, 38, 63, 88]
    """
    return sorted({1 + (2 * i + 1) * calls // (2 * count) for i in range(min(count, calls))})


def run(
    scenario: str, kinds: Sequence[str], count: int | None
) -> Iterator[tuple[int, str, str | None]]:
    """Put faults into a scenario; yield the call, the kind and the problem of each.

    Args:
        scenario: its name.
        kinds: of faults.
        count: calls to try for each kind; all by default.

    """
    with Injector() as injector:
        right = injector.right(scenario)
        chosen = range(1, right[0] + 1) if count is None else places(right[0], count)
        for kind in kinds:
            for at in chosen:
                yield at, kind, injector.problem(scenario, at, kind, right)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardening.faults")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    parser.add_argument("--count", type=int, help="calls to try for each kind; all by default")
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--at", type=int, help="try this call alone")
    given = parser.parse_args(arguments)
    problems = 0
    for scenario in given.scenarios or SCENARIOS:
        started, tried = time.monotonic(), 0
        for at, kind, problem in _faults(scenario, given):
            tried += 1
            if problem:
                problems += 1
                command = f"python -m tests.hardening.faults {scenario} --kind {kind} --at {at}"
                _print(f"FAILED {scenario}, {kind} at call {at}: {problem}\n  {command}")
        _print(f"{scenario}: {tried:,} faults in {time.monotonic() - started:,.0f} s")
    return int(bool(problems))


def _faults(scenario: str, given: argparse.Namespace) -> Iterator[tuple[int, str, str | None]]:
    kinds = given.kind or KINDS
    if given.at is None:
        yield from run(scenario, kinds, given.count)
        return
    with Injector() as injector:
        right = injector.right(scenario)
        for kind in kinds:
            yield given.at, kind, injector.problem(scenario, given.at, kind, right)


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
