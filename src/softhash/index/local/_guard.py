"""What is looked at before records are used, so that a damaged file never answers."""

from softhash.errors import IndexDamagedError
from softhash.hamming.words import Words
from softhash.index.local._columns import Ids, Mapped
from softhash.index.local._sums import BLOCK, block_sum

Seen = dict[int, tuple[int, ...]]  # block → its sum, its records and their words


class Guard:
    """Checks one .bin file: how long it is at every use, its blocks once."""

    def __init__(self, file: Mapped, sums: Words | None, seen: Seen) -> None:
        """Take what is expected of a file.

        Args:
            file: the mapped records.
            sums: of the blocks, None where the index is too old to have any.
            seen: the blocks that were checked before; blocks that will be are added.

        """
        self._file, self._sums, self._seen = file, sums, seen

    def check(self, ids: Ids, records: Words) -> None:
        """Raise IndexDamagedError unless the file is as it was written.

        Args:
            ids: of pending items, whose records in the file do not count.
            records: those that count instead.

        """
        self._file.check_length()
        if self._sums is None:
            return
        for number, expected in enumerate(self._sums.tolist()):
            first = number * BLOCK
            block = self._file.records[first : first + BLOCK]
            known = (expected, *block.shape)
            if self._seen.get(number) == known:
                continue
            if block_sum(_settled(block, first, ids, records)) != expected:
                raise IndexDamagedError(
                    f"{self._file.path} is damaged: the records {first:,} to "
                    f"{first + len(block) - 1:,} do not match their checksum",
                    "delete it, and the next opening for writing makes it again from the items",
                )
            self._seen[number] = known
        self._sums = None


def _settled(block: Words, first: int, ids: Ids, records: Words) -> Words:
    """Return the records of a block as they will be when nothing is pending."""
    late = (ids >= first) & (ids < first + len(block))
    if not late.any():
        return block
    settled = block.copy()
    settled[ids[late] - first] = records[late]
    return settled
