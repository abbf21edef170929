"""Cases run in processes of their own: what raises, crashes, hangs or eats memory is an outcome."""

import contextlib
import gc
import mmap
import os
import resource
import selectors
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from softhash.errors import SofthashError

SECONDS = 5.0  # of one case, on a processor
PATIENCE = 60.0  # seconds after which a case hangs, however busy the machine is
MEMORY = 1 << 30  # bytes that a case may take beyond what its process had
ACCEPTED, REFUSED, FAILED = "accepted", "refused", "failed"

_CURRENT = struct.Struct("<qd")  # the case that a process is at, and since when


class Outcome(NamedTuple):
    case: int
    kind: str  # ACCEPTED, REFUSED or FAILED
    detail: str = ""


class WrongAnswerError(AssertionError):
    """An answer that is neither right nor an error."""


class TooLongError(BaseException):
    """Not an `Exception`, so that no reader takes it for one of its own."""


def run_cases(
    act: Callable[[int], object],
    cases: range,
    *,
    jobs: int = 1,
    seconds: float = SECONDS,
    memory: int = MEMORY,
    prepare: Callable[[], object] = lambda: None,
) -> Iterator[Outcome]:
    """Run every case in one of a few processes; one that dies or hangs is replaced.

    Args:
        act: called with the case's number; it may raise nothing but a SofthashError.
        cases: their numbers.
        jobs: processes.
        seconds: of a processor that a case may take.
        memory: bytes that a case may take.
        prepare: called in every process before its first case, without limits.

    """
    flushed()
    job = _Job(act, prepare, seconds, memory)
    with selectors.DefaultSelector() as selector:
        for first in range(min(jobs, len(cases))):
            _start(selector, job, cases[first::jobs])
        try:
            while selector.get_map():
                ready = {key.fd for key, _ in selector.select(timeout=0.2)}
                for key in list(selector.get_map().values()):
                    worker: _Worker = key.data
                    worker.check()
                    yield from worker.received() if key.fd in ready else ()
                    if not worker.ended:
                        continue
                    selector.unregister(key.fileobj)
                    if (rest := worker.given_up()) is not None:
                        yield rest[0]
                        _start(selector, job, rest[1])
                    worker.close()
        finally:
            for key in list(selector.get_map().values()):
                key.data.kill()
                key.data.close()


class _Job(NamedTuple):
    act: Callable[[int], object]
    prepare: Callable[[], object]
    seconds: float
    memory: int


class _Worker:
    """A process that runs cases, seen from outside."""

    def __init__(self, pid: int, pipe: int, current: mmap.mmap, cases: range) -> None:
        self.pid, self.pipe, self._current, self._cases = pid, pipe, current, cases
        self.ended = False
        self._hung: int | None = None
        self._left = b""

    def received(self) -> Iterator[Outcome]:
        data = os.read(self.pipe, 1 << 16)
        self.ended = not data
        *lines, self._left = (self._left + data).split(b"\n")
        for line in lines:
            case, kind, detail = line.decode("utf-8", "replace").split("\t", 2)
            if int(case) < 0:
                raise RuntimeError(f"a process could not work: {detail}")
            yield Outcome(int(case), kind, detail)

    def check(self) -> None:
        """End the process where it has been at one case for too long."""
        case, since = _CURRENT.unpack(self._current[:])
        if self._hung is None and case >= 0 and time.monotonic() - since > PATIENCE:
            self._hung = case
            os.kill(self.pid, signal.SIGKILL)

    def given_up(self) -> tuple[Outcome, range] | None:
        """Return the case at which the process died, and those after it; None if it is done."""
        _, status = os.waitpid(self.pid, 0)
        case = _CURRENT.unpack(self._current[:])[0]
        if not status:
            return None
        if case < 0:
            raise RuntimeError(f"a process ended before its first case: status {status}")
        why = f"crash: signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "exit"
        why = why if self._hung is None else "hangs"
        return Outcome(case, FAILED, why), self._cases[self._cases.index(case) + 1 :]

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def close(self) -> None:
        os.close(self.pipe)
        self._current.close()


def _start(selector: selectors.BaseSelector, job: "_Job", cases: range) -> None:
    current = mmap.mmap(-1, _CURRENT.size)
    current[:] = _CURRENT.pack(-1, time.monotonic())
    receive, send = os.pipe()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            os.close(receive)
            _work(job, cases, send, current)
            status = 0
        except BaseException as error:
            os.write(send, f"-1\t{FAILED}\t{error!r} [{place(error)}]\n".encode())
        finally:
            os._exit(status)
    os.close(send)
    selector.register(receive, selectors.EVENT_READ, _Worker(pid, receive, current, cases))


def _work(job: "_Job", cases: range, pipe: int, current: mmap.mmap) -> None:
    warnings.simplefilter("ignore")
    silence()
    _stay_on_one_core()
    gc.disable()  # a pause of its own would count as the case's
    signal.signal(signal.SIGPROF, _interrupt)
    with in_scratch():
        job.prepare()
        _limit_memory(job.memory)
        for count, case in enumerate(cases):
            current[:] = _CURRENT.pack(case, time.monotonic())
            signal.setitimer(signal.ITIMER_PROF, job.seconds)
            kind, detail = outcome_of(job.act, case)
            signal.setitimer(signal.ITIMER_PROF, 0)
            text = " ".join(detail.split())[:1000]
            os.write(pipe, f"{case}\t{kind}\t{text}\n".encode("utf-8", "replace"))
            if count % 100 == 99:
                gc.collect()
    current[:] = _CURRENT.pack(-1, 0)


def outcome_of(act: Callable[[int], object], case: int) -> tuple[str, str]:
    """Run one case here, and say what came of it."""
    try:
        act(case)
    except SofthashError as error:
        return REFUSED, f"{type(error).__name__}: {error}"
    except BaseException as error:
        return FAILED, f"{type(error).__name__}: {error} [{place(error)}]"
    return ACCEPTED, ""


def place(error: BaseException) -> str:
    """Name the line of softhash, or else of whatever it was, that raised."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/softhash/" in frame.filename] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""


def _interrupt(*_: object) -> None:
    raise TooLongError


def _stay_on_one_core() -> None:
    """Have libraries start one thread: the stacks of many would count as memory of a case."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})


def _limit_memory(more: int) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, hard))


def silence() -> None:
    """Let libraries write of their troubles to nowhere."""
    flushed()
    with Path(os.devnull).open("w") as nowhere:
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)


def flushed() -> None:
    """Leave nothing in the buffers that a fork would double."""
    sys.stdout.flush()
    sys.stderr.flush()


@contextlib.contextmanager
def in_scratch() -> Iterator[Path]:
    """Work in a folder of our own, in memory where there is such a place."""
    memory = Path("/dev/shm")  # noqa: S108 (a folder that is made here, and removed)
    before = Path.cwd()
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def run_alone(command: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run a command of this package; a process that has computed with torch cannot fork for it."""
    return subprocess.run(
        [sys.executable, "-m", f"tests.hardening.{command}", *map(str, arguments)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def in_child(act: Callable[[], object]) -> None:
    """Run what may start threads in a process of its own, so that this one can still fork."""
    flushed()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            warnings.simplefilter("ignore")
            act()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            flushed()
            os._exit(status)
    if os.waitpid(pid, 0)[1]:
        raise RuntimeError(f"{getattr(act, '__name__', act)} failed")
