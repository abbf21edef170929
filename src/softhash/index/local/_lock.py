"""Who may write to a local index, and how many changes were confirmed.

Two files: `write.lock` is locked by the process that writes, and on Windows nobody else can even
read it meanwhile. `confirmed` holds the number of changes that the database is known to hold, so
that its log cannot get lost unseen. Indexes of earlier versions have that number in `write.lock`.
"""

import contextlib
import os
from pathlib import Path

from softhash.errors import IndexBusyError, IndexDamagedError, InputError
from softhash.files import WRITING, take_lock, write_at
from softhash.index.local._database import ITEMS

LOCK, CONFIRMED = "write.lock", "confirmed"


class WriteLock:
    """Held by the one process that writes; the system releases it when that process ends.

    Attributes:
        at_least: how many changes were confirmed before.

    Raises:
        IndexBusyError: another process, or another store of this one, holds it.
        InputError: the folder cannot be written to.

    """

    def __init__(self, folder: Path) -> None:
        self._handle = -1
        self._lock = None
        before = confirmed(folder)  # to lock a file may empty it
        try:
            self._lock = take_lock(folder / LOCK)
            if self._lock is not None:
                self._handle = os.open(folder / CONFIRMED, WRITING | os.O_CREAT, 0o666)
        except OSError as error:
            self.release()
            raise InputError(
                f"{folder} cannot be written to: {error.strerror}",
                "open it for reading only, or change its permissions",
            ) from error
        if self._lock is None:
            raise IndexBusyError(
                f"{folder} is being written to by another process",
                "wait until it is done, or open it for reading",
            )
        self.at_least = max(before, confirmed(folder))

    def confirm(self, change: int) -> None:
        """Note, beside the database, that it holds so many changes."""
        with contextlib.suppress(OSError):  # a note that is behind does no harm
            write_at(self._handle, b"%020d\n" % change, 0)

    def release(self) -> None:
        """Let others write; twice is fine."""
        handle, self._handle = self._handle, -1
        lock, self._lock = self._lock, None
        with contextlib.suppress(OSError):
            if handle >= 0:
                os.close(handle)
        with contextlib.suppress(OSError):
            if lock is not None:
                lock.release()


def confirmed(folder: Path) -> int:
    """Read how many changes were confirmed at least; to be asked before the database is."""
    return max(_read(folder / name) for name in (CONFIRMED, LOCK))


def _read(path: Path) -> int:
    try:
        return int(path.read_bytes())
    except (OSError, ValueError):
        return 0


def check_confirmed(folder: Path, change: int, at_least: int) -> None:
    """Raise when the database is behind what was confirmed."""
    if change < at_least:
        notes = [name for name in (CONFIRMED, LOCK) if _read(folder / name) > change]
        raise IndexDamagedError(
            f"{folder / ITEMS}-wal was lost or damaged, and with it the last {at_least - change:,} "
            f"of {at_least:,} changes",
            f"copy the folder again, whole, or delete {' and '.join(notes)} to go on without them",
        )
