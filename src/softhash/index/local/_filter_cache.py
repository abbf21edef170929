"""What a filter keeps, for when it is used again: its mask, or copies of the few codes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from softhash.hamming.words import Words, count_live
from softhash.index.local._columns import Ids
from softhash.index.local._masks import positions

NARROW = 4  # only filters that keep less than a fourth are worth a copy
MAX_FILTERS = 1024
KEPT_BYTES = 1 << 27

Part = tuple[Ids, Words]


class Narrowed:
    """A cache by filter: a scan of copies takes less time, the fewer codes the filter keeps.

    What was not used for the longest time goes first, so that memory stays bounded whatever
    clients ask for.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts: OrderedDict[Hashable, Part | Words | None] = OrderedDict()  # None: used once
        self.kept_bytes = 0

    def __len__(self) -> int:
        return len(self._parts)

    def part(self, where: Hashable, find_mask: Callable[[], Words], codes: Words) -> Part | Words:
        """Return ids and codes that a filter keeps, or its mask where that is faster.

        Args:
            where: the filter, in its canonical form, and what else its mask depends on.
            find_mask: returns the mask of the records that it keeps.
            codes: all records.

        """
        with self._lock:
            used_before = where in self._parts
            part = self._parts.pop(where, None)
            self._parts[where] = part  # now the last
            if len(self._parts) > MAX_FILTERS:
                self._drop_oldest()
        if part is not None:
            return part
        mask = find_mask()
        if not used_before:
            return mask
        count = count_live(mask)
        if count * NARROW >= len(codes) or 2 * _size(count, codes) > KEPT_BYTES:
            part = mask
        else:
            ids = positions(mask, 0, count)
            part = ids, codes[ids]
        if 2 * _part_size(part) <= KEPT_BYTES:
            self._keep(where, part)
        return part

    def _keep(self, where: Hashable, part: Part | Words) -> None:
        with self._lock:
            replaced = self._parts.pop(where, None)  # by another thread at the same time
            self._parts[where] = part
            self.kept_bytes += _part_size(part) - _part_size(replaced)
            while self.kept_bytes > KEPT_BYTES or len(self._parts) > MAX_FILTERS:
                self._drop_oldest()

    def _drop_oldest(self) -> None:
        _, part = self._parts.popitem(last=False)
        self.kept_bytes -= _part_size(part)


def _part_size(part: Part | Words | None) -> int:
    if isinstance(part, tuple):
        return _size(len(part[0]), part[1])
    return 0 if part is None else part.nbytes


def _size(count: int, codes: Words) -> int:
    return count * 8 * (1 + int(codes.shape[1]))
