"""What a reader sees between two changes: mapped records, and the pending items."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from softhash.errors import UnknownItemError
from softhash.hamming.resident import ResidentCodes
from softhash.hamming.two_stages import nearest_in_two_stages
from softhash.hamming.words import Words, count_live
from softhash.index.items import Near
from softhash.index.local._columns import Ids
from softhash.index.local._database import State
from softhash.index.local._described import DescribedSlots, KeptDescriptions
from softhash.index.local._filter_cache import Narrowed
from softhash.index.local._first_words import FirstWords
from softhash.index.local._forks import computed_once
from softhash.index.local._guard import Guard
from softhash.index.local._masks import LIVE, Masks, label_mask, positions
from softhash.index.local._multi_index import TableSearch
from softhash.index.local._pending import Pending
from softhash.index.local._ranks import ID_BITS, PLACE, Keys, merged, ranked, renamed
from softhash.index.where import EVERYTHING, Where, canonical

Rank = Callable[[Words, Words, int, Words | None], Keys]


class Guards(NamedTuple):
    """What looks at the records of the two files before they are used."""

    codes: Guard
    labels: Guard


@dataclass(frozen=True)
class Snapshot:
    """The contents of an index at one moment.

    Attributes:
        state: the row of `state` in items.sqlite.
        numbers: of the labels, by name.
        codes: records (slots, words) of codes.bin.
        masks: over the label records.
        pending: items whose records do not count, and the records that count instead.
        late: masks over the pending records.
        guards: to be asked before `codes` and `masks` are used.
        first: the first words of `codes`, for searches in two stages.
        tables: of `codes`, where they are kept.
        descriptions: what else filters look at; likely labels and facts change on their own.
        narrowed: copies of what narrow filters keep.
        resident: `codes` on a device, which then searches; None where the processor does.

    """

    state: State
    numbers: dict[str, int]
    codes: Words
    masks: Masks
    pending: Pending
    late: Masks
    guards: Guards
    first: FirstWords
    tables: TableSearch
    descriptions: KeptDescriptions
    narrowed: Narrowed = field(default_factory=Narrowed)
    resident: ResidentCodes | None = None

    def search(
        self,
        queries: Words,
        k: int,
        radius: int | None,
        where: Where,
        *,
        two_stages: bool = False,
    ) -> list[list[Near]]:
        """Rank the k nearest items by (distance, id) for each query.

        Args:
            queries: records (n, words) of codes.
            k: how many to return for each.
            radius: the largest distance, None for any.
            where: the items that count.
            two_stages: whether first words may choose candidates, where that is faster.

        """
        where = canonical(where)
        staged = two_stages and self.first.pay(self.state.items) and not len(self.pending.ids)
        described = self.describe(where)
        tables = partial(self.tables.rank, radius=radius)
        rank = self._ranked_in_two_stages if staged else tables
        keys = self._scan(queries, k, where, described, rank)
        if len(self.pending.ids):
            late = ranked(queries, self.pending.codes, k, self.kept_late(where, described))
            late = renamed(late, self.pending.ids)
            keys = merged(keys, late, k)
        distances, ids = keys >> ID_BITS, keys & PLACE
        kept = (distances <= radius).sum(axis=1) if radius is not None else [k] * len(keys)
        return [
            list(map(Near, distance[:count].tolist(), id[:count].tolist()))
            for distance, id, count in zip(distances, ids, kept, strict=True)
        ]

    def _scan(
        self, queries: Words, k: int, where: Where, described: DescribedSlots, rank: Rank
    ) -> Keys:
        """Rank by the records of the files."""
        self._check_codes()
        if self.resident is not None:
            return self._ranked_on_device(self.resident, queries, k, where, described)
        if where == EVERYTHING:
            mask = None if self._is_whole else self.kept(where, described)
            return rank(queries, self.codes, k, mask)
        self._check_labels()
        known = where, described.version
        kept = self.narrowed.part(known, lambda: self.kept(where, described), self.codes)
        if isinstance(kept, tuple):
            ids, codes = kept
            return renamed(ranked(queries, codes, k, None), ids)
        return rank(queries, self.codes, k, kept)

    def _ranked_on_device(
        self,
        resident: ResidentCodes,
        queries: Words,
        k: int,
        where: Where,
        described: DescribedSlots,
    ) -> Keys:
        """Rank by the copy on a device, where masks stay too until the index changes."""
        if not len(self.codes) or not len(queries):
            return np.empty((len(queries), 0), np.int64)
        mask, key = None, None
        if where != EVERYTHING or not self._is_whole:
            mask, key = self.kept(where, described), (where, described.version, self.state.change)
        edits = self.state.edits
        distances, places = resident.nearest(queries, self.codes, k, mask, edits=edits, key=key)
        return distances << ID_BITS | places

    def _ranked_in_two_stages(
        self, queries: Words, codes: Words, k: int, mask: Words | None
    ) -> Keys:
        """Rank as `ranked` does, candidates first; exactly where a filter keeps few items."""
        if mask is not None and not self.first.pay(count_live(mask)):
            return ranked(queries, codes, k, mask)
        first = self.first.words()
        found = [nearest_in_two_stages(query, codes, first, k, mask) for query in queries]
        return np.array([distances << ID_BITS | places for distances, places in found], np.int64)

    def find(self, after: int, limit: int, where: Where) -> list[int]:
        """Return the first ids above ``after`` that a filter keeps.

        Args:
            after: the id before the first.
            limit: how many to return.
            where: the filter.

        """
        start = min(max(0, after + 1), len(self.codes))
        if where == EVERYTHING and self._is_whole:
            return list(range(start, min(start + limit, len(self.codes))))
        described = self.describe(where)
        found = positions(self.kept(where, described), start, limit)
        if len(self.pending.ids):
            kept = self.kept_late(where, described)
            late = self.pending.ids[positions(kept, 0, len(self.pending.ids))]
            found = np.sort(np.concatenate([found, late[late >= start]]))[:limit]
        return found.tolist()  # type: ignore[no-any-return]

    def count(self, where: Where) -> int:
        """Count the items that a filter keeps."""
        if where == EVERYTHING:
            return self.state.items
        described = self.describe(where)
        late = count_live(self.kept_late(where, described)) if len(self.pending.ids) else 0
        return int(count_live(self.kept(where, described))) + int(late)

    def records(self, ids: Ids) -> tuple[Words, Words]:
        """Return the records (n, words) of some items' codes, and of their labels."""
        there = (ids >= 0) & (ids < len(self.codes))
        if not there.all():
            raise _unknown(ids[~there])
        self.check()
        codes, labels = self.codes[ids], self.masks.labels[ids]
        late = np.isin(ids, self.pending.ids)
        if late.any():
            places = np.searchsorted(self.pending.ids, ids[late])
            codes[late], labels[late] = self.pending.codes[places], self.pending.labels[places]
        gone = labels[:, 0] & np.uint64(1 << LIVE) == 0
        if gone.any():
            raise _unknown(ids[gone])
        return codes, labels

    def checked_codes(self) -> Words:
        """Return a copy of the records of codes.bin."""
        self._check_codes()
        return np.array(self.codes)

    @computed_once
    def label_counts(self) -> dict[str, int]:
        """How many items each label has, by name."""
        self._check_labels()
        counts = self.masks.counts(self.pending.ids) + self.late.counts(self.pending.ids[:0])
        sizes = {name: int(counts[number]) for name, number in self.numbers.items()}
        return {name: sizes[name] for name in sorted(sizes) if sizes[name]}

    def check(self) -> None:
        """Raise IndexDamagedError unless both files are as they were written."""
        self._check_codes()
        self._check_labels()

    def _check_codes(self) -> None:
        self.guards.codes.check(self.pending.ids, self.pending.codes)

    def _check_labels(self) -> None:
        self.guards.labels.check(self.pending.ids, self.pending.labels)

    @property
    def _is_whole(self) -> bool:
        """Whether every record is that of an item."""
        return self.state.items == self.state.slots and not len(self.pending.ids)

    def describe(self, where: Where, *, likely: bool = False) -> DescribedSlots:
        """Return what a filter needs beside given labels; with `likely`, likely ones anyway."""
        return self.descriptions.read(where, self.state, likely=likely)

    def kept(self, where: Where, described: DescribedSlots) -> Words:
        """Return the mask of the records that count."""
        self._check_labels()
        mask = self.masks.keep(where, self.numbers, described)
        return mask & ~self._outdated if len(self.pending.ids) else mask

    def kept_late(self, where: Where, described: DescribedSlots) -> Words:
        """Return the mask of the pending records that count."""
        return self.late.keep(where, self.numbers, described.take(self.pending.ids))

    @computed_once
    def _outdated(self) -> Words:
        return label_mask(self.pending.ids, len(self.codes))


def _unknown(ids: Ids) -> UnknownItemError:
    return UnknownItemError(f"no item has the id {ids[0]}", "was it removed?")
