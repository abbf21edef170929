"""Tables beside the codes of an index, by which searches for near items look at few codes.

They are derived data of the codes alone, see `softhash.hamming.MultiIndex`: results are the same
without them. They are made when that is asked for, since they take several times the room of the
codes. A folder can keep them; Milvus has indexes of its own.
"""

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from softhash.errors import UsageError

if TYPE_CHECKING:
    from softhash.index.hamming_index import HammingIndex


class KeptMultiIndex(Protocol):
    """The tables of one index."""

    @property
    def is_kept(self) -> bool:
        """Whether there are tables, be they damaged or of earlier codes."""

    @property
    def size(self) -> int:
        """How many bytes they take; 0 where none are kept."""

    def is_outdated(self) -> bool:
        """Return whether they are missing, damaged, or of much else than the codes."""

    def make(self) -> None:
        """Make them of the codes as they are, and replace what is there."""

    def drop(self) -> None:
        """Remove them."""


@runtime_checkable
class MultiIndexStore(Protocol):
    """A store that can keep tables."""

    @property
    def multi_index(self) -> KeptMultiIndex:
        """The tables of its codes."""


def check_keeps_tables(store: object, location: str) -> MultiIndexStore:
    """Return a store, or a class of stores, where it can keep tables; else raise UsageError."""
    if not isinstance(store, MultiIndexStore):
        raise UsageError(f"{location} cannot keep a multi-index", "only an index in a folder can")
    return store


def keep_multi_index(index: "HammingIndex") -> bool:
    """Make the tables of an index that is open for writing; return whether there was a need to.

    Items that are added later are scanned, until `refresh_multi_index` or this is called again.
    """
    kept = check_keeps_tables(index.store, index.store.location).multi_index
    if is_needed := not kept.is_kept or kept.is_outdated():
        kept.make()
    return is_needed


def refresh_multi_index(index: "HammingIndex") -> bool:
    """Make tables again where there are any, and outdated ones; return whether there were."""
    store = index.store
    if not isinstance(store, MultiIndexStore) or not store.multi_index.is_kept:
        return False
    return keep_multi_index(index)


def drop_multi_index(index: "HammingIndex") -> None:
    """Remove the tables of an index; results stay what they are."""
    if isinstance(index.store, MultiIndexStore):
        index.store.multi_index.drop()
