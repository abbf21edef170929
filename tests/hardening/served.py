"""``softhash serve`` in a process of its own, whose memory, files and threads are watched."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .samples import write_index, write_model, write_pictures

TOKEN = "0123456789-token"  # noqa: S105
COMMAND = (sys.executable, "-m", "softhash")


class Served:
    """A running server.

    Args:
        process: that serves.
        port: it listens on.

    """

    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self.process, self.address = process, ("127.0.0.1", port)
        self.url = f"http://127.0.0.1:{port}"
        self._place = Path(f"/proc/{process.pid}")

    def memory(self) -> int:
        """Return the resident memory, in bytes."""
        return self._status("VmRSS")

    def peak(self) -> int:
        """Return the most resident memory since `forget_peak`, in bytes."""
        return self._status("VmHWM")

    def forget_peak(self) -> int:
        """Measure the peak from now on; return the memory now."""
        (self._place / "clear_refs").write_text("5")
        return self.memory()

    def files(self) -> int:
        """Return how many files and sockets are open."""
        return len(os.listdir(self._place / "fd"))  # noqa: PTH208

    def threads(self) -> int:
        """Return how many threads there are."""
        return len(os.listdir(self._place / "task"))  # noqa: PTH208

    def _status(self, name: str) -> int:
        text = (self._place / "status").read_text()
        found = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
        return 1024 * int(found[1]) if found else 0


def write_served(folder: Path) -> Path:
    """Write pictures, a model and an index; return the index."""
    pictures, model = write_pictures(folder / "pictures"), write_model(folder / "model")
    return write_index(folder / "index", model, pictures)


@contextmanager
def served(index: Path, command: tuple[str, ...] = COMMAND) -> Iterator[Served]:
    """Serve an index that clients with `TOKEN` may write to."""
    process = subprocess.Popen(
        [*command, "serve", str(index), "--writable", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SOFTHASH_TOKEN": TOKEN, "OMP_NUM_THREADS": "1"},
    )
    assert process.stderr is not None
    try:
        said = ""
        while not (found := re.search(r"listening on http://\S+:(\d+)", said)):
            line = process.stderr.readline()
            assert line, f"it ended: {said}"
            said += line
        yield Served(process, int(found[1]))
    finally:
        process.kill()
        process.communicate()
