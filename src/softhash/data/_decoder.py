"""Processes that decode pictures, as the process that started them sees them."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from softhash.errors import InputError

File = str | bytes  # the path of a picture, or its content
MODULE = "softhash.data._decoding_process"
PACKAGES = Path(__file__).parents[2]  # where the module is found
START_SECONDS = 60  # what does not answer by then is not the Python that was meant
END_SECONDS = 5


class Decoder:
    """The connection to a process, which ends when it does.

    Args:
        connection: to write jobs to, and read answers from.

    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._answers = connection.makefile(encoding="ascii")

    def wait_until_ready(self) -> None:
        """Wait for the process to start, else raise OSError."""
        self._connection.settimeout(START_SECONDS)
        if not self._answers.readline():
            raise ConnectionResetError("a process that decodes pictures ended while it started")
        self._connection.settimeout(None)

    def decode(self, first: int, files: Sequence[File | None]) -> list[int]:
        """Have pictures decoded into rows from `first` on; return the numbers of those that failed.

        Args:
            first: the row of the first picture.
            files: the path of each picture or its bytes; None fails.

        Raises:
            InputError: the process ended.

        """
        answer = ""
        with suppress(ConnectionError):
            self._connection.sendall(_job(first, files))
            answer = self._answers.readline()
        if not answer.endswith("\n"):
            named = files[0] if isinstance(files[0], str) else "a picture"
            raise InputError(
                f"a process that decodes pictures ended, with {named} or one of the "
                f"{len(files) - 1} after it",
                "was memory short? Run it again: `softhash index` goes on where it stopped; in "
                "Python, Hasher.encode(…, workers=4) decodes in threads",
            )
        started, failed = json.loads(answer)
        if started != first:
            raise InputError(f"a process was asked for row {first}, and answered for {started}")
        return [int(number) for number in failed]

    def close(self) -> None:
        """End the connection."""
        self._answers.close()
        self._connection.close()


class Decoders(list[Decoder]):
    """Several processes; see `start_decoders`.

    Args:
        decoders: the connections to them.
        first: the process that started the others, in a group of processes with them.

    """

    def __init__(self, decoders: Sequence[Decoder], first: "subprocess.Popen[bytes]") -> None:
        super().__init__(decoders)
        self._first = first

    def kill(self, how: int = signal.SIGTERM) -> None:
        """End all processes, whatever they have in hand; the first outlives and reaps the others.

        Args:
            how: the signal.

        """
        if self._first.returncode is None:  # else the number may be another group's
            with suppress(ProcessLookupError):
                os.killpg(self._first.pid, how)

    def close(self) -> None:
        """End all processes, and wait until they have ended."""
        self.kill()
        for decoder in self:
            decoder.close()
        try:
            self._first.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill(signal.SIGKILL)
            self._first.wait()


@contextmanager
def start_decoders(
    count: int, memory: int, size: tuple[int, int], most_bytes: int
) -> Iterator[Decoders]:
    """Start processes, and end them afterwards.

    One is started as a Python of its own. It loads what all of them need, and forks.

    Args:
        count: how many.
        memory: the descriptor of the memory that they fill.
        size: of the pictures, (height, width).
        most_bytes: what decoding may take in each.

    Raises:
        OSError: the system has no room for them.

    """
    with ExitStack() as stack:
        pairs = [tuple(map(stack.enter_context, socket.socketpair())) for _ in range(count)]
        for end in (end for pair in pairs for end in pair):
            end.settimeout(None)  # a program may have set another default
        theirs = [end.fileno() for _, end in pairs]
        first = subprocess.Popen(  # noqa: S603 - the same Python, a module of this room
            [*_python(), *map(str, (memory, *size, most_bytes, *theirs))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # libraries may print
            pass_fds=[memory, *theirs],
            # Threads of linear algebra, which nothing here uses, do not survive a fork.
            env={**os.environ, "PYTHONPATH": _search_path(), "OPENBLAS_NUM_THREADS": "1"},
            process_group=0,  # Ctrl-C on a terminal is not for them
        )
        for _, end in pairs:
            end.close()
        started = Decoders([Decoder(end) for end, _ in pairs], first)
        with closing(started):
            for decoder in started:
                decoder.wait_until_ready()
            yield started


def _job(first: int, files: Sequence[File | None]) -> bytes:
    """Return a job as a process reads it."""
    head = [len(file) if isinstance(file, bytes) else file for file in files]
    contents = [file for file in files if isinstance(file, bytes)]
    return b"".join((json.dumps((first, head)).encode("ascii"), b"\n", *contents))


def _python() -> list[str]:
    """Return the command that runs the module, without the working directory among its modules."""
    flags = ["-P", "-W", "ignore", "-X", f"utf8={sys.flags.utf8_mode}"]
    return [sys.executable, *flags, "-m", MODULE]


def _search_path() -> str:
    """Return where this process finds modules, but for the working directory of the moment."""
    found = [Path(path).absolute() for path in sys.path if isinstance(path, str) and path]
    return os.pathsep.join(map(str, [*found, PACKAGES]))
