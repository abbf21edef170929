"""Whether an index that is open is still the one in its folder: it may be deleted, or made anew."""

import os
import time
from pathlib import Path

from softhash.errors import StoreUnavailableError
from softhash.index.local._database import ITEMS

EVERY_SECONDS = 0.05  # how often a reader looks: a search takes less


class Identity:
    """The file items.sqlite as it was opened, by its number in the file system.

    The number is not given to another file as long as this one is open.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, os.fspath(folder / ITEMS)
        self._number = self._find()
        self._looked = time.monotonic()

    def check(self) -> None:
        """Raise StoreUnavailableError unless that file is still there."""
        if self._number is None or self._find() != self._number:
            raise self.replaced()
        self._looked = time.monotonic()

    def check_often(self) -> None:
        """Do the same, but not more often than the file system can take."""
        if time.monotonic() - self._looked > EVERY_SECONDS:
            self.check()

    def is_there(self) -> bool:
        """Return whether there is such a file, this or another."""
        return self._find() is not None

    def replaced(self) -> StoreUnavailableError:
        """Build the error for an index that is no longer there."""
        return StoreUnavailableError(
            f"the index {self._folder} was deleted or replaced while it was open",
            "open it again, or restart what serves it",
        )

    def _find(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._path)  # noqa: PTH116 (for every search: a Path takes longer)
        except OSError:
            return None
        return found.st_dev, found.st_ino
