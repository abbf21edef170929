"""Adding many items whose names are known to differ: names are sorted once, at the end."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np

from softhash.index.store import Store

FEW = 100_000  # items, which are added as fast one by one
MAX_NAMES = 1 << 28  # of which the hashes take 2 GiB


@runtime_checkable
class NamesLaterStore(Protocol):
    """What a `Store` may offer too."""

    def names_later(self) -> AbstractContextManager[None]:
        """Let names be indexed at the end of what is done within, where the store is empty.

        Only `add` may be called within, and whoever calls it answers for it that names differ.
        """


def can_index_later(store: Store, items: int) -> TypeGuard[NamesLaterStore]:
    """Return whether a store can index the names of so many items later, and it pays."""
    return isinstance(store, NamesLaterStore) and not len(store) and FEW <= items <= MAX_NAMES


def all_differ(batches: Iterable[Sequence[str]]) -> bool:
    """Return whether all names differ; by chance, one time in 3,000 for 100 million, False too.

    >>> all_differ([["a", "b"], ["c"]]), all_differ([["a"], ["b", "a"]])
    (True, False)
    """
    parts = [np.fromiter(map(hash, names), np.int64, len(names)) for names in batches]
    hashes = np.concatenate([np.empty(0, np.int64), *parts])
    parts.clear()
    hashes.sort()
    return not (hashes[1:] == hashes[:-1]).any()
