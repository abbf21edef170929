"""The tables of an index at the command line: made, made again, removed."""

import time
from typing import TYPE_CHECKING

from softhash.cli._output import say

if TYPE_CHECKING:
    from softhash.index import HammingIndex


def check_location(location: str | None, keep: bool | None) -> None:
    """Raise UsageError where tables are to be kept that an index there could not keep."""
    if not keep or location is None:
        return
    from softhash.index.multi_index import check_keeps_tables
    from softhash.index.registry import choose_store

    check_keeps_tables(choose_store(location), location)


def choose_tables(location: str, keep: bool | None) -> None:
    """Keep the tables of an index or remove them; None for what it did before.

    Args:
        location: of the index, which is closed.
        keep: whether to keep them.

    """
    from softhash.index import HammingIndex, multi_index
    from softhash.index.registry import choose_store

    if not isinstance(choose_store(location), multi_index.MultiIndexStore):
        return
    with HammingIndex.open(location) as opened:
        kept = multi_index.check_keeps_tables(opened.store, location).multi_index
        if keep is None and not (kept.is_kept and kept.is_outdated()):
            return
    with HammingIndex.open(location, writable=True) as opened:
        if keep is False:
            multi_index.drop_multi_index(opened)
            say("the multi-index is no longer kept; results stay what they are")
        else:
            _make(opened)


def _make(opened: "HammingIndex") -> None:
    """Make tables, and print how long it took."""
    from softhash.index import multi_index

    start = time.perf_counter()
    kept = multi_index.check_keeps_tables(opened.store, opened.store.location).multi_index
    made = multi_index.keep_multi_index(opened)
    seconds, size = time.perf_counter() - start, kept.size / 1e6
    done = f"made in {seconds:,.1f} s" if made else "kept as it is"
    say(f"multi-index: {done}, {size:,.1f} MB")
