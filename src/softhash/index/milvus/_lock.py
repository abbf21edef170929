"""A lock for the one process of this user that writes to a collection."""

import contextlib
import fcntl
import hashlib
import os

from softhash.errors import IndexBusyError
from softhash.files import cache_folder
from softhash.index.milvus._address import Address


class WriteLock:
    """Held while a collection is open for writing.

    Milvus has no locks, so this one is a file in the user's cache folder: it keeps apart processes
    of one user on one machine. Writers on two machines are for their owners to keep apart.
    """

    def __init__(self, address: Address) -> None:
        name = hashlib.sha256(f"{address.server}/{address.collection}".encode()).hexdigest()[:32]
        folder = cache_folder() / "locks"
        self._handle = -1
        with contextlib.suppress(OSError):  # a home that cannot be written to: go without
            folder.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        if self._handle >= 0:
            self._take(address)

    def _take(self, address: Address) -> None:
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise IndexBusyError(
                f"another process writes to {address}", "wait until it ends, or open it for reading"
            ) from None

    def release(self) -> None:
        """Let others write; twice is fine."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
