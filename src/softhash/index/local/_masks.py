"""Which items a filter keeps, as packed masks read off the label records."""

from collections.abc import Mapping
from functools import reduce
from typing import Self

import numpy as np
import numpy.typing as npt
from numba import uint64

from softhash._kernels import kernel
from softhash.hamming.words import Words, lowest_bit
from softhash.index.local._described import DescribedSlots
from softhash.index.where import And, Label, Not, Or, Where

LIVE = 0  # the bit of a label record that is set where an item exists
CACHED_BYTES = 1 << 28

Integers = npt.NDArray[np.int64]


@kernel
def _extract(labels: Words, words: int, column: int, first: int, mask: Words) -> None:
    """Collect one bit of every record into a packed mask, from its word ``first`` on."""
    records = labels.size // words
    shift = uint64(column & 63)
    for group in range(first, mask.size):
        place = uint64(64 * group * words + (column >> 6))
        found = uint64(0)
        for i in range(min(64, records - 64 * group)):
            bit = labels[place] >> shift & uint64(1)
            found |= bit << uint64(i)
            place += uint64(words)
        mask[group] = found


@kernel
def _count(labels: Words, words: int, skipped: Words, counts: Integers) -> None:
    """Count how many records have each bit; ``skipped`` is a mask of those to leave out."""
    for record in range(labels.size // words):
        if skipped.size and skipped[record >> 6] >> uint64(record & 63) & uint64(1):
            continue
        for word in range(words):
            left = labels[uint64(record * words + word)]
            while left:
                counts[64 * word + np.int64(lowest_bit(left))] += 1
                left &= left - uint64(1)


@kernel
def _positions(mask: Words, start: int, found: Integers) -> int:
    """Write the first places from ``start`` on whose bit is set; return how many there were."""
    used = 0
    for group in range(start >> 6, mask.size):
        left = mask[group]
        if group == start >> 6:
            left &= ~uint64(0) << uint64(start & 63)
        while left and used < found.size:
            found[used] = 64 * group + np.int64(lowest_bit(left))
            left &= left - uint64(1)
            used += 1
        if used == found.size:
            break
    return used


def positions(mask: Words, start: int, limit: int) -> Integers:
    """Return the first ``limit`` places from ``start`` on whose bit is set."""
    found = np.empty(max(0, min(limit, 64 * len(mask))), np.int64)
    return found[: _positions(mask, start, found)]


def label_mask(places: Integers, n: int) -> Words:
    """Return a packed mask of n bits in which these places are set."""
    mask = np.zeros((n + 63) // 64, np.uint64)
    np.bitwise_or.at(mask, places >> 6, np.uint64(1) << (places & 63).astype(np.uint64))
    return mask


class Masks:
    """Masks of label records (n, words), computed when they are first needed and cached."""

    def __init__(self, labels: Words) -> None:
        self.labels = labels
        self._kept: dict[int, tuple[int, Words]] = {}  # with the number of records it covers

    def grown(self, labels: Words) -> Self:
        """Return masks of records of which these are the first, unchanged."""
        later = type(self)(labels)
        later._kept = dict(self._kept)
        return later

    def column(self, number: int) -> Words:
        """Return the mask of a label, or of `LIVE`."""
        n, words = self.labels.shape
        covered, known = self._kept.get(number, (0, np.empty(0, np.uint64)))
        if covered == n:
            return known
        mask = np.empty((n + 63) // 64, np.uint64)
        done = covered >> 6  # whole words; the one after them had room
        mask[:done] = known[:done]
        _extract(self.labels.reshape(-1), words, number, done, mask)
        room = CACHED_BYTES // max(1, mask.nbytes)
        for oldest in list(self._kept)[: max(0, len(self._kept) + 1 - room)]:
            self._kept.pop(oldest, None)
        self._kept[number] = n, mask
        return mask

    def keep(self, where: Where, numbers: Mapping[str, int], described: DescribedSlots) -> Words:
        """Combine masks as a filter does.

        Args:
            where: the filter.
            numbers: of given labels, by name.
            described: what else it needs of the same records.

        """
        match where:
            case Label(name):
                return self.column(numbers[name]) if name in numbers else self._nothing()
            case Not(term):
                return self.column(LIVE) & ~self.keep(term, numbers, described)
            case And(terms):
                wanted = [term for term in terms if not isinstance(term, Not)]
                unwanted = [term.term for term in terms if isinstance(term, Not)]
                kept = [self.keep(term, numbers, described) for term in wanted]
                left_out = [self.keep(term, numbers, described) for term in unwanted]
                mask = reduce(np.bitwise_and, kept) if kept else self.column(LIVE)
                return reduce(lambda mask, other: mask & ~other, left_out, mask)
            case Or(terms):
                masks = [self.keep(term, numbers, described) for term in terms]
                return reduce(np.bitwise_or, masks) if masks else self._nothing()
            case leaf:  # removed items keep their records
                return self.column(LIVE) & described.mask(leaf, len(self.labels))

    def _nothing(self) -> Words:
        return np.zeros((len(self.labels) + 63) // 64, np.uint64)

    def counts(self, skipped: Integers) -> Integers:
        """Count the items of every label number, without those skipped."""
        n, words = self.labels.shape
        counts = np.zeros(64 * words, np.int64)
        left_out = label_mask(skipped, n) if len(skipped) else np.empty(0, np.uint64)
        _count(self.labels.reshape(-1), words, left_out, counts)
        return counts
