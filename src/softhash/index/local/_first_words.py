"""The first words of all codes, next to each other: what a search in two stages scans first."""

from typing import Self

import numpy as np

from softhash.hamming.words import Words

MIN_BYTES = 1 << 27  # of codes; a scan of fewer takes milliseconds anyway
MAX_ITEMS = 1 << 27  # whose first words take a gigabyte


class FirstWords:
    """A copy of the first word of each record (n, words), made when it is first used.

    It takes 8 bytes per item. A search reads it after the records were checked, and so does the
    copy.
    """

    def __init__(self, codes: Words) -> None:
        self._codes = codes
        self._copy: Words = np.empty(0, np.uint64)

    def grown(self, codes: Words) -> Self:
        """Return those of records of which these are the first, unchanged."""
        later = type(self)(codes)
        later._copy = self._copy
        return later

    def pay(self, items: int) -> bool:
        """Return whether two stages are faster where so many items count."""
        words = int(self._codes.shape[1])
        return words > 1 and 8 * words * items >= MIN_BYTES and len(self._codes) <= MAX_ITEMS

    def words(self) -> Words:
        """Return them, (n,)."""
        known = self._copy
        if len(known) < len(self._codes):
            copy = np.empty(len(self._codes), np.uint64)
            copy[: len(known)] = known
            copy[len(known) :] = self._codes[len(known) :, 0]
            self._copy = known = copy
        return known
