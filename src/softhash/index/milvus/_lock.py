"""A lock for the one process of this user that writes to a collection."""

import contextlib
import hashlib

from softhash.errors import IndexBusyError
from softhash.files import cache_folder, take_lock
from softhash.index.milvus._address import Address


class WriteLock:
    """Held while a collection is open for writing.

    Milvus has no locks, so this one is a file in the user's cache folder: it keeps apart processes
    of one user on one machine. Writers on two machines are for their owners to keep apart.

    Raises:
        IndexBusyError: another process, or another store of this one, holds it.

    """

    def __init__(self, address: Address) -> None:
        name = hashlib.sha256(f"{address.server}/{address.collection}".encode()).hexdigest()[:32]
        folder = cache_folder() / "locks"
        self._lock = None
        with contextlib.suppress(OSError):  # a home that cannot be written to: go without
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = take_lock(folder / f"{name}.lock")
            if self._lock is None:
                raise IndexBusyError(
                    f"another process writes to {address}",
                    "wait until it ends, or open it for reading",
                )

    def release(self) -> None:
        """Let others write; twice is fine."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None
