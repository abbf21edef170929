"""Duplicates of the served index, found in a thread of its own and kept until the index changes.

However many clients ask, and whatever they send: one thread looks, at one picture at a time, and
one result is kept.
"""

import threading
import time
from dataclasses import dataclass, field

from softhash.index import HammingIndex
from softhash.index.duplicates import Duplicates, find_duplicates
from softhash.server.problems import Problem

MAX_ITEMS = 200_000  # of an index that is looked through
MAX_GROUPS = 100  # groups in one page
MAX_COPIES = 100  # pictures of a group that are listed
RETRY_SECONDS = 60.0  # after a failure


class _StoppedError(Exception):
    """The server ends."""


@dataclass(frozen=True)
class Looking:
    """How far the thread is: what it does, how much of that is done, of how much."""

    stage: str = "starting"
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Found:
    """What a thread found in one version of an index, or why it found nothing."""

    version: int
    duplicates: Duplicates | None = None
    error: Exception | None = None
    ended: float = field(default_factory=time.monotonic)

    def is_of(self, version: int) -> bool:
        """Return whether there is no need to look again."""
        failed_before = self.error is not None and time.monotonic() - self.ended > RETRY_SECONDS
        return self.version == version and not failed_before


class DuplicateFinder:
    """Looks for the duplicates of one index when somebody asks for them."""

    def __init__(self, index: HammingIndex) -> None:
        self._index = index
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._looking = Looking()
        self._found: Found | None = None

    @property
    def busy(self) -> bool:
        """Whether the thread is working."""
        return self._thread is not None and self._thread.is_alive()

    def get(self) -> tuple[Duplicates | None, Looking | None]:
        """Return the last result, and how far a thread is that looks for a newer one.

        Raises:
            Problem: the index is too large.
            SofthashError: what ended the last attempt.

        """
        items, version = len(self._index), self._index.store.version
        if items > MAX_ITEMS:
            detail = f"{items:,} items are more than the {MAX_ITEMS:,} that a server looks through"
            raise Problem(422, "too-large", detail, "run `softhash duplicates INDEX`")
        with self._lock:
            found = self._found
            if found is None or not found.is_of(version):
                self._start(version)
                return (found.duplicates if found else None), self._looking
        if found.error is not None:
            raise found.error.with_traceback(None)  # which would grow with every client
        return found.duplicates, None

    def _start(self, version: int) -> None:
        """Start to look, where no thread does; with the lock held."""
        if not self.busy and not self._stopped.is_set():
            self._looking = Looking()
            self._thread = threading.Thread(
                target=self._look, args=[version], name="softhash-duplicates", daemon=True
            )
            self._thread.start()

    def _look(self, version: int) -> None:
        try:
            found = Found(version, find_duplicates(self._index, workers=0, progress=self._report))
        except _StoppedError:
            return
        except Exception as error:  # shown to whoever asks next
            found = Found(version, error=error)
        with self._lock:
            self._found = found

    def _report(self, stage: str, done: int, total: int) -> None:
        if self._stopped.is_set():
            raise _StoppedError
        self._looking = Looking(stage, done, total)

    def close(self, seconds: float) -> None:
        """Stop looking; wait so long for the thread to end."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(seconds)
