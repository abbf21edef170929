"""Searches by multi-index.bin, which looks at few codes where neighbours are near; see `_tables`.

Results are those of a scan, to the last tie. Blocks of codes that were changed after the tables
were made are masked, and scanned together with later slots. A file that is not there, is damaged
or of another index does nothing.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softhash.errors import InputError, UsageError
from softhash.hamming.multi_index import MultiIndex
from softhash.hamming.words import Words, count_live
from softhash.index.local._columns import Ids
from softhash.index.local._derived_columns import FileCache
from softhash.index.local._ranks import ID_BITS, Keys, merged, ranked, renamed
from softhash.index.local._sums import BLOCK
from softhash.index.local._tables import NAME, Tables, read_tables, write_tables

if TYPE_CHECKING:
    from softhash.index.local._reader import Reader

MASKED = BLOCK // 64  # words of a mask
FEW = 64  # new tables are due where more than one of so many records has to be scanned
MOST = 2  # tables are of no use where more than one of so many has to be
NARROW = 4  # nor are they for the nearest of fewer than one of so many
MIN_SLOTS = 1 << 20  # a scan of fewer takes a fraction of a millisecond
MAX_WORDS = 1  # of codes whose nearest are searched for without a radius
ALL = ~np.uint64(0)
NOTHING = np.iinfo(np.int64).max  # the key of an item that was not found


class Parts(NamedTuple):
    """Which records the tables answer for, and which are scanned.

    Attributes:
        slots: the first so many are in the tables.
        live: a packed mask of those of them that are as they were; None for all.
        firsts: of each block to be scanned, the slots at the end among them.
        ids: the slots of the records to be scanned.
        codes: these records.

    """

    slots: int
    live: Words | None
    firsts: Ids
    ids: Ids
    codes: Words

    def masks(self, mask: Words | None) -> tuple[Words | None, Words | None]:
        """Return what a mask of all records is for either part."""
        if mask is None:
            return self.live, None
        front = mask[: self.slots // 64]
        late = [mask[first // 64 : first // 64 + MASKED] for first in self.firsts.tolist()]
        rest = np.concatenate([mask[:0], *late])
        return front if self.live is None else front & self.live, rest


def _split(codes: Words, changed: Ids, slots: int) -> Parts:
    """Leave records to tables of the first slots, but for some blocks that were changed."""
    live, late = None, codes[slots:]
    old = (changed * BLOCK).tolist()
    if old:
        live = np.full(slots // 64, ALL)
        live.reshape(-1, MASKED)[changed] = 0
        late = np.concatenate([*(codes[first : first + BLOCK] for first in old), late])
    firsts = np.array([*old, *range(slots, len(codes), BLOCK)], np.int64)
    ids = firsts[:, np.newaxis] + np.arange(BLOCK)
    return Parts(slots, live, firsts, ids.reshape(-1)[: len(late)], late)


class TableSearch:
    """The tables beside the records of one snapshot.

    Args:
        kept: reads the file.
        codes: records (slots, words).
        sums: of their blocks; None where the index is too old to have any.

    """

    def __init__(self, kept: "KeptTables", codes: Words, sums: Words | None) -> None:
        self._kept, self._codes = kept, codes
        self._sums = np.empty(0, np.uint64) if sums is None else sums
        self._last: tuple[Tables, Parts] | None = None

    def rank(
        self, queries: Words, codes: Words, k: int, mask: Words | None, *, radius: int | None
    ) -> Keys:
        """Rank as `ranked` does, those within a radius at least.

        Args:
            queries: records (n, words).
            codes: all records.
            k: how many to return for each.
            mask: packed, of the records that count; None for all.
            radius: what is further away may be left out; None for nothing.

        """
        if radius is not None and radius >= 64 * codes.shape[1]:
            radius = None
        tables = self._usable(mask, radius) if len(queries) else None
        if tables is None:
            return ranked(queries, codes, k, mask)
        parts = self._parts(tables)
        live, late = parts.masks(mask)
        index = MultiIndex.of_arrays(codes[: parts.slots].view(np.uint8), tables.arrays)
        found = _looked_up(index, queries, k, live, radius)
        if not len(parts.ids):
            return found
        return merged(found, renamed(ranked(queries, parts.codes, k, late), parts.ids), k)

    def _usable(self, mask: Words | None, radius: int | None) -> Tables | None:
        """Return tables that were checked, where they are expected to pay."""
        if len(self._codes) < MIN_SLOTS:
            return None
        tables = self._kept.read()
        if tables is None or (radius is not None and radius < 0):
            return None
        if self._left(tables) * MOST >= len(self._codes):
            return None
        if radius is None and not self._pay_without_radius(mask):
            return None
        return tables if tables.is_sound() else None

    def _pay_without_radius(self, mask: Words | None) -> bool:
        """Return whether the nearest are near enough: not of few items, nor of long codes."""
        if self._codes.shape[1] > MAX_WORDS:
            return False
        return mask is None or count_live(mask) * NARROW >= len(self._codes)

    def _changed(self, tables: Tables) -> Ids:
        """Return the blocks that are not as they were when tables were made."""
        return np.flatnonzero(self._sums[: len(tables.sums)] != tables.sums)

    def _left(self, tables: Tables) -> int:
        """Return how many records tables do not answer for."""
        blocks, words = len(tables.sums), tables.arrays["masks"].shape[1]
        slots = len(self._codes)
        if words != self._codes.shape[1] or blocks > min(len(self._sums), slots // BLOCK):
            return slots
        return slots - BLOCK * (blocks - len(self._changed(tables)))

    def _parts(self, tables: Tables) -> Parts:
        """Return what tables answer for, and all other records."""
        last = self._last
        if last is None or last[0] is not tables:
            slots = len(tables.sums) * BLOCK
            self._last = last = tables, _split(self._codes, self._changed(tables), slots)
        return last[1]

    def is_outdated(self) -> bool:
        """Return whether new tables would answer for many more records."""
        tables = self._kept.read()
        if tables is None or not tables.is_whole():
            return True
        left = self._left(tables)
        return left >= BLOCK and left * FEW > len(self._codes)


def _looked_up(
    index: MultiIndex, queries: Words, k: int, live: Words | None, radius: int | None
) -> Keys:
    """Rank by tables.

    Args:
        index: the tables.
        queries: records (n, words).
        k: how many to return for each.
        live: packed, of the records that count; None for all.
        radius: what is further away may be left out; None for nothing.

    """
    asked = queries.view(np.uint8)
    if radius is None:
        distances, places = index.nearest(asked, k, mask=live)
        return distances << ID_BITS | places  # type: ignore[no-any-return]
    found = index.within(asked, radius, k=k, mask=live)
    keys = np.full((len(found), max(len(one[0]) for one in found)), NOTHING)
    for row, (distances, places) in zip(keys, found, strict=True):
        row[: len(distances)] = distances << ID_BITS | places
    return keys


class KeptTables:
    """The tables in a folder as they are now."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._cache: FileCache[Tables | None] = FileCache(None)

    def read(self) -> Tables | None:
        """Return them; None where there are none, or their head is damaged."""
        return self._cache.read([self.path], lambda: read_tables(self.path))


class MultiIndexFile:
    """The tables that a local index keeps, if it does; see `softhash.index.multi_index`."""

    def __init__(self, folder: Path, reader: "Reader", *, writable: bool) -> None:
        self._path, self._reader, self._writable = folder / NAME, reader, writable

    @property
    def is_kept(self) -> bool:
        """Whether there are tables, be they damaged or of earlier codes."""
        return self._path.exists()

    @property
    def size(self) -> int:
        """How many bytes they take; 0 where none are kept."""
        return self._path.stat().st_size if self.is_kept else 0

    def is_outdated(self) -> bool:
        """Return whether they are missing, damaged, or of much else than the codes."""
        return self._reader.steady(lambda now: now.tables.is_outdated())

    def make(self) -> None:
        """Make them of the codes as they are, and replace what is there."""
        self._check_writable()
        codes = self._reader.steady(lambda now: now.checked_codes())
        try:
            write_tables(self._path, codes)
        except OSError as error:
            raise InputError(
                f"cannot write {self._path}: {error.strerror}",
                "the items are safe, and searches scan them; make room, or use --no-multi-index",
            ) from error

    def drop(self) -> None:
        """Remove them."""
        self._check_writable()
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"cannot remove {self._path}: {error.strerror}") from error

    def _check_writable(self) -> None:
        if not self._writable:
            raise UsageError(
                f"{self._path.parent} is open for reading", "open it with writable=True"
            )

    def verify(self) -> Sequence[str]:
        """Return a line where there are tables, and not as they were written."""
        tables = KeptTables(self._path.parent).read()
        if not self.is_kept or (tables is not None and tables.is_whole()):
            return []
        return [f"{self._path} is damaged; the next softhash index makes it again"]
