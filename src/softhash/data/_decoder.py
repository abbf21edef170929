"""One process that decodes pictures, as the process that started it sees it."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from softhash.errors import InputError

File = str | bytes  # the path of a picture, or its content
MODULE = "softhash.data._decoding_process"


class Decoder:
    """A process, and the pipes to it; it ends when its stdin does.

    Args:
        memory: the descriptor of the memory that it fills.
        size: of the pictures, (height, width).
        most_bytes: what decoding may take.

    """

    def __init__(self, memory: int, size: tuple[int, int], most_bytes: int) -> None:
        reads, writes = os.pipe()
        self._answers = os.fdopen(reads, encoding="ascii")
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the same Python, a module of this room
                [*_python(), *map(str, (writes, memory, *size, most_bytes))],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,  # libraries may print
                pass_fds=[memory, writes],
                env={**os.environ, "PYTHONPATH": _search_path()},
                process_group=0,  # Ctrl-C on a terminal is not for it
            )
        except BaseException:
            self._answers.close()
            raise
        finally:
            os.close(writes)

    def decode(self, first: int, files: Sequence[File | None]) -> list[int]:
        """Have pictures decoded into rows from `first` on; return the numbers of those that failed.

        Args:
            first: the row of the first picture.
            files: the path of each picture or its bytes; None fails.

        Raises:
            InputError: the process ended.

        """
        answer = ""
        try:
            if self._process.stdin:
                self._process.stdin.write(_job(first, files))
                self._process.stdin.flush()
                answer = self._answers.readline()
        except (BrokenPipeError, ValueError):  # it ended, or was closed
            pass
        if not answer.endswith("\n"):
            self.kill()
            raise InputError(
                f"a process that decodes pictures ended ({self._process.wait()}) with "
                f"{_name(files[0])}, or one of the {len(files) - 1} after it",
                "was memory short? In Python, Hasher.encode(…, workers=4) decodes in threads",
            )
        started, failed = json.loads(answer)
        if started != first:
            raise InputError(f"a process was asked for row {first}, and answered for {started}")
        return [int(number) for number in failed]

    def kill(self) -> None:
        """End the process, whatever it has in hand."""
        self._process.kill()

    def close(self) -> None:
        """Wait for a process that was killed, and close the pipes."""
        self._process.wait()
        self._answers.close()
        if self._process.stdin:
            with suppress(BrokenPipeError):  # with a job that it had not read
                self._process.stdin.close()


def _job(first: int, files: Sequence[File | None]) -> bytes:
    """Return a job as a process reads it."""
    head = [len(file) if isinstance(file, bytes) else file for file in files]
    contents = [file for file in files if isinstance(file, bytes)]
    return b"".join((json.dumps((first, head)).encode("ascii"), b"\n", *contents))


def _name(file: File | None) -> str:
    return file if isinstance(file, str) else "a picture"


def _python() -> list[str]:
    """Return the command that runs the module, without the working directory among its modules."""
    return [sys.executable, "-P", "-X", f"utf8={sys.flags.utf8_mode}", "-m", MODULE]


def _search_path() -> str:
    """Return where this process finds modules."""
    return os.pathsep.join(str(Path(path).absolute()) for path in sys.path if isinstance(path, str))
