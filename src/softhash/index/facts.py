"""Facts of photographs kept beside the codes of an index: date, camera and place of each item.

They are what the files' EXIF data claims, see `softhash.data.photo_facts`, and derived data: an
item without them is found by all else, and `fill_facts` reads what is missing, from the headers of
files alone. A folder keeps them, always; Milvus cannot.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from softhash.data.photo_facts import PhotoFacts, read_facts
from softhash.devices import usable_cores
from softhash.index._derived import Derived, Known, in_parts, is_as_kept, missing_items
from softhash.index._offers import offers
from softhash.index.items import Item
from softhash.index.store import Store

if TYPE_CHECKING:
    from softhash.index.hamming_index import HammingIndex


class KeptFacts(Derived, Protocol):
    """Facts, one row per item; a row counts only for the content it was read from."""

    @property
    def is_kept(self) -> bool:
        """Whether facts are kept."""

    def keep(self) -> None:
        """Keep facts from now on."""

    def put(self, ids: Sequence[int], contents: Sequence[str], facts: Sequence[PhotoFacts]) -> None:
        """Keep the facts of items; nothing where they are not kept.

        Args:
            ids: of the items.
            contents: SHA-256 of the files that the facts are of; "" for one that is not kept.
            facts: one per item.

        """

    def get(self, items: Sequence[Known]) -> list[PhotoFacts]:
        """Read the facts of items as they are now; empty ones where they are missing."""


@runtime_checkable
class FactStore(Protocol):
    """A store that can keep facts, and filters by them; see `softhash.index.where`."""

    @property
    def facts(self) -> KeptFacts:
        """The facts of its items."""


def kept_facts(store: Store) -> KeptFacts | None:
    """Return the facts that an index keeps; None where it keeps none."""
    found = cast(FactStore, store).facts if offers(store, FactStore) else None
    return found if found is not None and found.is_kept else None


def keep_facts(store: Store) -> KeptFacts | None:
    """Make a store, open for writing, keep facts; None where it cannot."""
    if not isinstance(store, FactStore):
        return None
    store.facts.keep()
    return store.facts


def item_facts(store: Store, items: Sequence[Item]) -> list[PhotoFacts]:
    """Return the facts of some items; empty ones where an index keeps none."""
    kept = kept_facts(store)
    if kept is None:
        return [PhotoFacts()] * len(items)
    return kept.get([(item.id, item.entry) for item in items])


def missing_facts(index: "HammingIndex") -> list[Known]:
    """Return the items whose facts should be kept and are not."""
    store = index.store
    return missing_items(store.facts, store) if isinstance(store, FactStore) else []


def fill_facts(
    index: "HammingIndex",
    missing: Sequence[Known] | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Read and keep the facts of items that have none, and return of how many.

    Files that are gone, or not as the index has them, are left out. Room that removed items take is
    given back first.

    Args:
        index: open for writing.
        missing: what `missing_facts` found; looked for by default.
        progress: called with (items looked at, items).

    """
    asked = missing_facts(index) if missing is None else missing
    kept, root = keep_facts(index.store), index.root
    if kept is None or root is None:
        return 0
    kept.compact(len(index), (id for id, _ in index.store.scan()))
    filled = done = 0
    with ThreadPoolExecutor(usable_cores()) as pool:
        for some in in_parts(iter(asked)):
            read = list(pool.map(lambda one: _read(root, one), some))
            contents = [content for content, _ in read]
            kept.put([id for id, _ in some], contents, [facts for _, facts in read])
            filled += sum(map(bool, contents))
            done += len(some)
            if progress:
                progress(done, len(asked))
    return filled


def _read(root: Path, item: Known) -> tuple[str, PhotoFacts]:
    """Return the content of an item's file and its facts; "" for a file that has changed."""
    _, entry = item
    facts = read_facts(root / entry.file_name)
    return entry.sha256 if is_as_kept(root, entry) else "", facts
