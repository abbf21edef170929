"""Features kept beside the codes of an index, for searches that rescore by them.

They are derived data: an item without them keeps its place by bits, and `fill_features` computes
what is missing. Whether a store can keep them is up to the store: a folder can, Milvus cannot.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, Unpack, runtime_checkable

import numpy as np
import numpy.typing as npt

from softhash.errors import NoFeaturesError, UsageError
from softhash.hamming.cosine import Rows
from softhash.index._derived import Derived, Floats, compute_features, missing_items
from softhash.index.items import Entry, Item
from softhash.index.store import Store

if TYPE_CHECKING:
    from softhash.index.hamming_index import HammingIndex
    from softhash.model.encoding import EncodeOptions


class FoundRows(NamedTuple):
    """What is kept of some items: where they are among those asked for, rows and their scales."""

    places: npt.NDArray[np.int64]  # (m,)
    rows: Rows  # (m, width)
    scales: npt.NDArray[np.float32]  # (m,)


class KeptFeatures(Derived, Protocol):
    """Features as int8, one row per item; a row counts only for the content it was computed of."""

    @property
    def width(self) -> int:
        """How many numbers a row has; 0 where no features are kept."""

    def keep(self, width: int) -> None:
        """Keep features of that width from now on; nothing changes where they are kept."""

    def put(self, ids: Sequence[int], contents: Sequence[str], features: Floats) -> None:
        """Keep the features (n, width) of items; nothing where no features are kept.

        Args:
            ids: of the items.
            contents: SHA-256 of the files that the features are of; "" for one that is not kept.
            features: one row per item.

        """

    def get(self, items: Sequence[tuple[int, Entry]]) -> FoundRows:
        """Read the rows of items as they are now; those that are missing are left out."""


@runtime_checkable
class FeatureStore(Protocol):
    """A store that can keep features."""

    @property
    def features(self) -> KeptFeatures:
        """The features of its items."""


def kept_features(store: Store) -> KeptFeatures | None:
    """Return the features that an index keeps; None where it keeps none."""
    found = store.features if isinstance(store, FeatureStore) else None
    return found if found is not None and found.width else None


def need_features(store: Store) -> KeptFeatures:
    """Return the features that an index keeps, or raise NoFeaturesError."""
    found = kept_features(store)
    if found is None:
        raise NoFeaturesError(
            f"{store.location} keeps no features to rescore by",
            "keep them with softhash.index.features.keep_features, or rescore by bits",
        )
    return found


def check_keeps_features(store: object, location: str) -> FeatureStore:
    """Return a store, or a class of stores, where it can keep features; else raise UsageError."""
    if not isinstance(store, FeatureStore):
        raise UsageError(f"{location} cannot keep features", "only an index in a folder can")
    return store


def keep_features(index: "HammingIndex") -> None:
    """Make an index keep features from now on; `fill_features` computes those of its items.

    Raises:
        UsageError: its store cannot keep features, or its model takes features and has none.

    """
    found = check_keeps_features(index.store, index.store.location)
    if index.hasher.backbone is None:
        raise UsageError("a model of features computes none to keep", "it takes them")
    found.features.keep(index.hasher.config["features"])


def drop_features(index: "HammingIndex") -> None:
    """Let the features of an index go; codes and items stay."""
    if isinstance(index.store, FeatureStore):
        index.store.features.drop()


def item_features(store: Store, item: Item) -> Floats:
    """Return the kept features (width,) of an item, or raise NoFeaturesError."""
    found = need_features(store).get([(item.id, item.entry)])
    if not len(found.places):
        raise NoFeaturesError(
            f"item {item.id} of {store.location} has no features",
            "compute them with softhash.index.features.fill_features, or rescore by bits",
        )
    features: Floats = found.scales[0] * found.rows[0]
    return features


def missing_features(index: "HammingIndex") -> list[tuple[int, Entry]]:
    """Return the items whose features are not kept."""
    return missing_items(need_features(index.store), index.store)


def fill_features(
    index: "HammingIndex",
    missing: Sequence[tuple[int, Entry]] | None = None,
    **options: Unpack["EncodeOptions"],
) -> int:
    """Compute and keep the features of items that have none, and return of how many.

    Pictures whose files are gone, broken or not as the index has them are left out. Room that
    removed items take is given back first.

    Args:
        index: open for writing.
        missing: what `missing_features` found; looked for by default.
        options: those of `Hasher.encode`.

    """
    kept, filled = need_features(index.store), 0
    asked = missing_features(index) if missing is None else missing
    kept.compact(len(index), (id for id, _ in index.store.scan()))
    for items, contents, features in compute_features(index, asked, **options):
        kept.put([id for id, _ in items], contents, features)
        filled += sum(map(bool, contents))
    return filled
