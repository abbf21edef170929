"""Several files as one zip archive, streamed: no file is ever whole in memory."""

import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

CHUNK = 1 << 18  # bytes


class Member(NamedTuple):
    """A file, and what the archive calls it."""

    name: str
    path: Path


class _Sink(io.RawIOBase):
    """Takes what an archive writes, until it is taken away."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """Return what came since the last time."""
        taken, self._parts = b"".join(self._parts), []
        return taken


def zip_files(members: Sequence[Member]) -> Iterator[bytes]:
    """Yield a zip archive piece by piece; pictures are compressed already, so they are stored.

    A file that cannot be read is left out.
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        for name, path in members:
            try:
                file = path.open("rb")
                info = zipfile.ZipInfo.from_file(path, name, strict_timestamps=False)
            except (OSError, ValueError):
                continue
            with file, archive.open(info, "w", force_zip64=True) as copy:
                while data := file.read(CHUNK):
                    copy.write(data)
                    yield sink.take()
            yield sink.take()
    yield sink.take()
