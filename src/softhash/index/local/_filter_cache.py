"""Codes that a filter keeps, copied next to each other when the filter is used again."""

import threading
from collections import OrderedDict

from softhash.hamming.words import Words, count_live
from softhash.index.local._columns import Ids
from softhash.index.local._masks import positions

NARROW = 4  # only filters that keep less than a fourth are worth a copy
MAX_FILTERS = 1024
KEPT_BYTES = 1 << 27

Part = tuple[Ids, Words]
Chosen = tuple[frozenset[int] | None, frozenset[int]]  # numbers of labels: any of, none of


class Narrowed:
    """A cache of such copies: a scan of one takes less time, the fewer codes its filter keeps.

    What was not used for the longest time goes first, so that memory stays bounded whatever
    clients ask for.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts: OrderedDict[Chosen, Part | None] = OrderedDict()  # None: without a copy
        self.kept_bytes = 0

    def __len__(self) -> int:
        return len(self._parts)

    def part(self, chosen: Chosen, mask: Words, codes: Words) -> Part | None:
        """Return ids and codes that a filter keeps, or None where a mask is faster.

        Args:
            chosen: the labels of the filter.
            mask: the records that it keeps.
            codes: all records.

        """
        with self._lock:
            used_before = chosen in self._parts
            part = self._parts.pop(chosen, None)
            self._parts[chosen] = part  # now the last
            if len(self._parts) > MAX_FILTERS:
                self._drop_oldest()
        if part is not None or not used_before:
            return part
        count = count_live(mask)
        if count * NARROW >= len(codes) or 2 * _size(count, codes) > KEPT_BYTES:
            return None
        ids = positions(mask, 0, count)
        part = ids, codes[ids]
        self._keep(chosen, part)
        return part

    def _keep(self, chosen: Chosen, part: Part) -> None:
        with self._lock:
            replaced = self._parts.pop(chosen, None)  # by another thread at the same time
            self._parts[chosen] = part
            self.kept_bytes += _part_size(part) - _part_size(replaced)
            while self.kept_bytes > KEPT_BYTES or len(self._parts) > MAX_FILTERS:
                self._drop_oldest()

    def _drop_oldest(self) -> None:
        _, part = self._parts.popitem(last=False)
        self.kept_bytes -= _part_size(part)


def _part_size(part: Part | None) -> int:
    return 0 if part is None else _size(len(part[0]), part[1])


def _size(count: int, codes: Words) -> int:
    return count * 8 * (1 + int(codes.shape[1]))
