"""Codes that a filter keeps, copied next to each other when the filter is used again."""

from softhash.hamming.words import Words, count_live
from softhash.index.items import Filter
from softhash.index.local._columns import Ids
from softhash.index.local._masks import positions

NARROW = 4  # only filters that keep less than a fourth are worth a copy
KEPT_BYTES = 1 << 27

Part = tuple[Ids, Words]


class Narrowed:
    """A cache of such copies: a scan of one takes less time, the fewer codes its filter keeps."""

    def __init__(self) -> None:
        self._parts: dict[Filter, Part | None] = {}  # None: used once

    def part(self, where: Filter, mask: Words, codes: Words) -> Part | None:
        """Return ids and codes that a filter keeps, or None where a mask is faster.

        Args:
            where: the filter.
            mask: the records that it keeps.
            codes: all records.

        """
        if where not in self._parts:
            self._parts[where] = None
            return None
        part = self._parts[where]
        if part is None:
            count = count_live(mask)
            if count * NARROW >= len(codes) or 2 * _size(count, codes) > KEPT_BYTES:
                return None
            ids = positions(mask, 0, count)
            part = ids, codes[ids]
            self._keep(where, part)
        return part

    def _keep(self, where: Filter, part: Part) -> None:
        self._parts[where] = part
        kept = {key: one for key, one in list(self._parts.items()) if one is not None}
        room = KEPT_BYTES - sum(_size(len(ids), codes) for ids, codes in kept.values())
        for key, (ids, codes) in kept.items():  # the oldest first
            if room >= 0:
                break
            self._parts.pop(key, None)
            room += _size(len(ids), codes)


def _size(count: int, codes: Words) -> int:
    return count * 8 * (1 + int(codes.shape[1]))
