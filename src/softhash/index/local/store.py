"""An index in a folder: codes scanned in place, items in SQLite, one writer, many readers.

>>> import tempfile
>>> from softhash.index.items import Entry
>>> with tempfile.TemporaryDirectory() as folder:
...     store = LocalStore.create(folder, Meta(bits=8))
...     store.add(np.array([[0], [7]], np.uint8), [Entry("a.jpg"), Entry("b.jpg", ("sea",))])
...     store.search(np.array([[3]], np.uint8), k=2)
...     store.close()
[0, 1]
[[Near(distance=1, id=1), Near(distance=2, id=0)]]
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np

from softhash.codes import Codes, check_packed, row_bytes
from softhash.errors import IndexDamagedError, UnknownItemError, UsageError
from softhash.hamming.words import Words
from softhash.index.items import Entry, Item, Near
from softhash.index.kept_model import kept_model
from softhash.index.local import _layout, _words
from softhash.index.local._columns import in_records
from softhash.index.local._database import ITEMS
from softhash.index.local._facts import FactFile
from softhash.index.local._features import FeatureFile
from softhash.index.local._items import fetch, find_content, find_name
from softhash.index.local._likely import LikelyFile
from softhash.index.local._likely_kernels import Scores
from softhash.index.local._multi_index import MultiIndexFile
from softhash.index.local._reader import Reader
from softhash.index.local._rows import Row, decode_entry, decode_item
from softhash.index.local._verify import limit_lines, verify
from softhash.index.local._writer import Writer
from softhash.index.store import Meta
from softhash.index.where import EVERYTHING, LIKELY, Where

__all__ = ["LocalStore"]


class LocalStore:
    """A `Store` in a folder; several threads may use it. Open it with `create` or `open`."""

    def __init__(self, location: str, bits: int, *, writable: bool) -> None:
        self._location, self._bits = location, bits
        self._folder = Path(location)
        self._writer = Writer(self._folder, bits) if writable else None
        try:
            self._reader = Reader(self._folder, bits)
        except BaseException:
            if self._writer is not None:
                self._writer.close()
            raise

    @classmethod
    def create(cls, location: str, meta: Meta) -> Self:
        """Make an empty index, open for writing; raise InputError when something is there."""
        _layout.create(Path(location), meta)
        return cls.open(location, writable=True)

    @classmethod
    def open(cls, location: str, *, writable: bool = False) -> Self:
        """Open an index; raise IndexBusyError where another process has it open for writing.

        Opening for writing completes what a crash interrupted, drops incomplete records, and makes
        .bin files again that were deleted.
        """
        return cls(location, _layout.read_about(Path(location)).bits, writable=writable)

    def close(self) -> None:
        """Close files, lock and connections; may be called twice."""
        self._reader.close()
        if self._writer is not None:
            self._writer.close()

    def search_on(self, device: str) -> None:
        """Keep the codes on a device, which searches; see `softhash.index.device`."""
        self._reader.search_on(device)

    @property
    def location(self) -> str:
        """The folder, as given."""
        return self._location

    @property
    def meta(self) -> Meta:
        """Bits, model and root."""
        state = self._reader.snapshot().state
        return Meta(state.bits, state.model, state.root)

    @property
    def model_folder(self) -> Path:
        """Where the model that made the codes is kept, if it is."""
        return self._folder / _layout.MODEL

    @property
    def features(self) -> FeatureFile:
        """The features kept beside the codes, if they are; see `softhash.index.features`."""
        return FeatureFile(self._folder, self.meta.model, writable=self._writer is not None)

    @property
    def likely(self) -> LikelyFile:
        """The likely labels kept beside the codes, if they are; see `softhash.index.likely`."""
        return LikelyFile(self._folder, kept_model(self), writable=self._writer is not None)

    @property
    def facts(self) -> FactFile:
        """The facts of photographs kept beside the codes; see `softhash.index.facts`."""
        return FactFile(self._folder, writable=self._writer is not None)

    @property
    def multi_index(self) -> MultiIndexFile:
        """The tables kept beside the codes, if they are; see `softhash.index.multi_index`."""
        return MultiIndexFile(self._folder, self._reader, writable=self._writer is not None)

    @property
    def version(self) -> int:
        """A number that changes whenever any process changed the contents."""
        return self._reader.snapshot().state.change

    def __len__(self) -> int:
        return self._reader.snapshot().state.items

    def _writing(self) -> Writer:
        if self._writer is None:
            raise UsageError(f"{self._location} is open for reading", "open it with writable=True")
        return self._writer

    def set_root(self, root: str) -> None:
        """Change the folder that file names are relative to."""
        self._writing().set_root(root)

    def add(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add new items, all or none, and return their ids; raise InputError for a known name."""
        return self._writing().add(codes, entries)

    def upsert(self, codes: Codes, entries: Sequence[Entry]) -> list[int]:
        """Add items, or replace code and entry of those whose file name is there, by the same id.

        Within one call the last of several entries with one name counts.
        """
        return self._writing().upsert(codes, entries)

    def names_later(self) -> AbstractContextManager[None]:
        """Sort names once, when everything is added; see `softhash.index.code_import`."""
        return self._writing().names_later()

    def revise(self, entries: Mapping[int, Entry]) -> None:
        """Replace entries by id: another name, other labels, another time; codes stay."""
        self._writing().revise(entries)

    def remove(self, ids: Sequence[int]) -> int:
        """Remove items, and return how many were there."""
        return self._writing().remove(ids)

    def get(self, ids: Sequence[int]) -> list[Item]:
        """Fetch items in the order asked for; raise UnknownItemError for one that is not there."""
        rows = self._fetch(ids)
        for id in ids:
            if id not in rows:
                self._check_gone(id)
                raise UnknownItemError(f"no item has the id {id}", "was it removed?")
        return [decode_item(rows[id]) for id in ids]

    def _fetch(self, ids: Sequence[int]) -> dict[int, Row]:
        with self._reader.items() as items:
            return fetch(*items, ids)

    def _check_gone(self, id: int) -> None:
        """Raise IndexDamagedError where only the row of an item is gone."""
        before = self._reader.snapshot().state
        if not 0 <= id < before.slots:
            return
        with suppress(UnknownItemError):
            self.codes([id])
            if not self._fetch([id]) and self.version == before.change:
                raise _lost(self._folder, f"item {id} is")

    def codes(self, ids: Sequence[int]) -> Codes:
        """Read codes in place, in the order asked for; raise UnknownItemError as `get` does."""
        wanted = np.asarray(ids, np.int64)
        records = self._reader.steady(lambda now: now.records(wanted)[0])
        return np.ascontiguousarray(records.view(np.uint8)[:, : row_bytes(self._bits)])

    def find_names(self, file_names: Sequence[str]) -> dict[str, int]:
        """Look up ids by file name; names that are not there are left out."""
        with self._reader.items() as items:
            found = {name: find_name(*items, name) for name in file_names}
        return {name: id for name, id in found.items() if id is not None}

    def find_content(self, sha256: str) -> int | None:
        """Look up the lowest id of a file with that content."""
        with self._reader.items() as items:
            return find_content(*items, sha256)

    def search(
        self,
        codes: Codes,
        k: int,
        *,
        offset: int = 0,
        radius: int | None = None,
        where: Where = EVERYTHING,
    ) -> list[list[Near]]:
        """Rank items by (distance, id) for each code, and return the k after `offset`."""
        words = self._words(codes, k, offset)
        found = self._reader.steady(lambda now: now.search(words, offset + k, radius, where))
        return [near[offset:] for near in found] if offset else found

    def search_in_two_stages(
        self, codes: Codes, k: int, *, offset: int = 0, where: Where = EVERYTHING
    ) -> list[list[Near]]:
        """Rank items as `search` does, candidates first; see `softhash.index.stages`."""
        words, first = self._words(codes, k, offset), offset + k
        found = self._reader.steady(
            lambda now: now.search(words, first, None, where, two_stages=True)
        )
        return [near[offset:] for near in found]

    def _words(self, codes: Codes, k: int, offset: int) -> Words:
        """Return query codes as records, after a look at all that may be wrong with a search."""
        _check_window(k, offset)
        queries = in_records(check_packed(np.asarray(codes), self._bits, "query codes"))
        return queries.view(np.uint64)

    def items(
        self, *, after: int = -1, limit: int = 100, offset: int = 0, where: Where = EVERYTHING
    ) -> list[Item]:
        """Return up to `limit` items with ids above `after`, in id order."""
        seen = -1
        while True:
            ids = self._reader.steady(lambda now: now.find(after, offset + limit, where)[offset:])
            rows = self._fetch(ids)
            if len(rows) == len(ids):
                return [decode_item(rows[id]) for id in ids]
            if (now := self.version) == seen:  # otherwise some were removed meanwhile
                raise _lost(self._folder, f"{len(ids) - len(rows):,} items are")
            seen = now

    def count(self, *filters: Where) -> list[int]:
        """Count the items that each of these filters keeps."""
        return self._reader.steady(lambda now: [now.count(where) for where in filters])

    def scan(self) -> Iterator[tuple[int, Entry]]:
        """Iterate over all entries in id order, in bounded memory."""
        before, count = self._reader.snapshot().state, 0
        for row in self._reader.rows():
            yield row[0], decode_entry(row)
            count += 1
        if count != before.items and self.version == before.change:
            raise _lost(self._folder, f"{before.items - count:,} of {before.items:,} items are")

    def labels(self) -> dict[str, int]:
        """Count the items of every label that some item has, sorted by name."""
        return dict(self._reader.steady(lambda now: now.label_counts))

    def likely_counts(self, at_least: float = LIKELY) -> dict[str, int]:
        """Count the items of each word that is so probable for some, and not given to them."""
        return self._reader.steady(lambda now: _words.likely_counts(now, at_least))

    def rank_by_words(
        self, weights: Mapping[str, float], k: int, *, offset: int = 0, where: Where = EVERYTHING
    ) -> list[tuple[float, int]]:
        """Rank items by words, given or likely; see `softhash.index.words`."""
        _check_window(k, offset)
        first = offset + k
        return self._reader.steady(lambda now: _words.rank_by_words(now, weights, first, where))[
            offset:
        ]

    def word_scores(self, ids: Sequence[int], weights: Mapping[str, float]) -> Scores:
        """Return what some items are ranked by in `rank_by_words`; raise as `get` does."""
        wanted = np.asarray(ids, np.int64)
        return self._reader.steady(lambda now: _words.word_scores(now, wanted, weights))

    def verify(self, progress: Callable[[int, int], None] | None = None) -> list[str]:
        """Check every byte, and return one line for each problem."""
        wrong = verify(self._folder, self._reader, progress)
        kept = self.features, self.likely, self.facts
        each = (one.verify(id for id, _ in self.scan()) for one in kept)
        lines = chain(chain.from_iterable(each), self.multi_index.verify())
        return wrong or limit_lines(list(lines))


def _check_window(k: int, offset: int) -> None:
    if k < 1 or offset < 0:
        raise UsageError(f"k is {k} and offset {offset}", "give at least 1 and 0")


def _lost(folder: Path, what: str) -> IndexDamagedError:
    return IndexDamagedError(
        f"{folder / ITEMS} is damaged: {what} missing",
        "copy it from a backup, or make the index again",
    )
