"""Files of codes, as `softhash encode` writes them of shards, added to an index one by one."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softhash.codes import Codes
from softhash.data.names import clean_names, several
from softhash.data.shards.code_file import About, count_codes, read_about, read_codes
from softhash.errors import InputError, ModelMismatchError
from softhash.index._new_names import all_differ, can_index_later
from softhash.index.hamming_index import HammingIndex
from softhash.index.items import Entry
from softhash.index.registry import choose_store
from softhash.index.store import Meta, Store

Batch = tuple[list[str], Codes]

MAX_SLOTS = 1 << 36  # ids beyond are hashes, of which no list of bits can be kept


class ImportSummary(NamedTuple):
    """What an import did: items added, items replaced, and how many there are now."""

    added: int
    changed: int
    items: int


def check_alike(paths: Sequence[Path]) -> About:
    """Read what made some files of codes, and raise unless that is one model.

    Raises:
        InputError: a file is not one of codes, or is not whole.
        ModelMismatchError: two of them differ in the model, or the number of bits.

    """
    first = read_about(paths[0])
    for path in paths[1:]:
        about = read_about(path)
        if about[:2] != first[:2]:
            raise ModelMismatchError(
                f"{path} has {_described(about)}, {paths[0]} {_described(first)}",
                "an index has codes of one model: make one for each",
            )
    return first


def _described(about: About) -> str:
    return f"codes of {about.bits} bits by the weights {about.model[:12]}…"


def create_for_codes(location: str | os.PathLike[str], about: About) -> HammingIndex:
    """Make an empty index for codes of a model that is not at hand."""
    meta = Meta(about.bits, about.model)
    return HammingIndex(choose_store(location).create(os.fspath(location), meta))


def check_store(store: Store, about: About) -> None:
    """Raise where an index has codes of another model."""
    made_by = store.meta.model or about.model
    if (store.meta.bits, made_by) != about[:2]:
        raise ModelMismatchError(
            f"{store.location} has codes of {store.meta.bits} bits by the weights "
            f"{made_by[:12]}…, the files have {_described(about)}",
            "make a new index with another -o",
        )


def import_codes(
    index: HammingIndex,
    paths: Sequence[Path],
    about: About,
    *,
    with_shard: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ImportSummary:
    """Add codes, or replace those whose ids are in the index as file names.

    Args:
        index: open for writing.
        paths: of the files.
        about: what `check_alike` found.
        with_shard: whether items are named SHARD/ID, for ids that several shards have.
        progress: called with (files done, files in all).

    Raises:
        InputError: an id cannot be a file name, or is there twice.

    """
    check_store(index.store, about)
    before, rows, seen = len(index), 0, SeenIds()
    batches = partial(_read_batches, about=about, with_shard=with_shard)
    with _names_later(index.store, paths, batches) as all_new:
        for done, path in enumerate(paths, start=1):
            for names, codes in batches(path):
                entries = [Entry(name) for name in names]
                if all_new:
                    index.add_codes(codes, entries)
                elif (again := seen.first_known(index.upsert_codes(codes, entries))) is not None:
                    raise _twice(names[again], path, "and in a file before it")
                rows += len(names)
            if progress:
                progress(done, len(paths))
    added = len(index) - before
    return ImportSummary(added, rows - added, len(index))


@contextmanager
def _names_later(
    store: Store, paths: Sequence[Path], batches: Callable[[Path], Iterator[Batch]]
) -> Iterator[bool]:
    """Have names sorted at the end, where all of them are new; return whether they are."""
    every = (names for path in paths for names, _ in batches(path))
    if can_index_later(store, sum(map(count_codes, paths))) and all_differ(every):
        with store.names_later():
            yield True
    else:
        yield False


def _read_batches(path: Path, about: About, *, with_shard: bool) -> Iterator[Batch]:
    """Read names and codes of items, some at a time."""
    prefix = f"{path.stem}/" if with_shard else ""
    for ids, codes in read_codes(path, about):
        names = clean_names(f"{prefix}{id}" for id in ids)
        _check_unique(names, path)
        yield names, codes


def _check_unique(names: list[str], path: Path) -> None:
    if len(set(names)) < len(names):
        known: set[str] = set()
        twice = [name for name in names if name in known or known.add(name)]  # type: ignore[func-returns-value]
        raise _twice(several(twice), path, "more than once")


def _twice(name: str, path: Path, where: str) -> InputError:
    return InputError(
        f"{name} is in {path} {where}",
        "make a new index whose items are named after the shards too: with_shard=True",
    )


class SeenIds:
    """The ids that one run has written, one bit each; a hash as id is not remembered."""

    def __init__(self) -> None:
        self._bits = np.zeros(1 << 10, np.uint8)

    def first_known(self, ids: Sequence[int]) -> int | None:
        """Return where the first id is that was here before, and remember all of them."""
        places: NDArray[np.int64] = np.asarray(ids, np.int64)
        if not len(places) or int(places.max()) >= MAX_SLOTS or int(places.min()) < 0:
            return None
        needed = int(places.max()) // 8 + 1
        if needed > len(self._bits):
            grown = np.zeros(max(needed, 2 * len(self._bits)), np.uint8)
            grown[: len(self._bits)] = self._bits
            self._bits = grown
        masks = np.left_shift(1, places % 8).astype(np.uint8)
        known = np.flatnonzero(self._bits[places // 8] & masks)
        np.bitwise_or.at(self._bits, places // 8, masks)
        return int(known[0]) if len(known) else None
