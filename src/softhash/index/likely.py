"""Likely labels kept beside the codes of an index: what its model finds probable, item by item.

They are never mixed with given labels, which are certain. They are derived data: an item without
them is found by all else, and `fill_likely` computes what is missing. A folder keeps them, always,
where the label classifier is kept with the model; Milvus cannot.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, Unpack, cast, runtime_checkable

import numpy as np

from softhash.index._derived import (
    Derived,
    Floats,
    Known,
    compute_features,
    in_parts,
    missing_items,
)
from softhash.index._offers import offers
from softhash.index.features import kept_features
from softhash.index.kept_model import kept_classifier, kept_model
from softhash.index.store import Store
from softhash.index.where import LIKELY
from softhash.model.label_classifier import LabelClassifier, LikelyRows

if TYPE_CHECKING:
    from softhash.index.hamming_index import HammingIndex
    from softhash.model.encoding import EncodeOptions


class KeptLikely(Derived, Protocol):
    """Likely labels, one row per item; a row counts only for the content it was computed of."""

    @property
    def words(self) -> tuple[str, ...]:
        """The labels that the model names; none where likely labels are not kept."""

    def keep(self) -> None:
        """Keep likely labels from now on, where the model names any."""

    def put(self, ids: Sequence[int], contents: Sequence[str], rows: LikelyRows) -> None:
        """Keep the likely labels of items; nothing where they are not kept.

        Args:
            ids: of the items.
            contents: SHA-256 of the files that the rows are of; "" for one that is not kept.
            rows: words, as places in `words`, and probabilities, one row per item.

        """

    def get(self, items: Sequence[Known]) -> list[dict[str, float]]:
        """Read the likely labels of items as they are now, the most probable first."""


@runtime_checkable
class LikelyStore(Protocol):
    """A store that can keep likely labels, and filters by them; see `softhash.index.where`."""

    @property
    def likely(self) -> KeptLikely:
        """The likely labels of its items."""

    def likely_counts(self, at_least: float = LIKELY) -> dict[str, int]:
        """Count the items of each word that is so probable for some, and not given to them."""


def kept_likely(store: Store) -> KeptLikely | None:
    """Return the likely labels that an index keeps; None where it keeps none."""
    found = cast(LikelyStore, store).likely if offers(store, LikelyStore) else None
    return found if found is not None and found.words else None


def can_keep_likely(store: Store) -> bool:
    """Return whether a store can keep likely labels, and its model names labels."""
    return isinstance(store, LikelyStore) and bool(kept_model(store).words)


class LikelyWriter(NamedTuple):
    """Keeps the likely labels of pictures whose features are at hand."""

    kept: KeptLikely
    classifier: LabelClassifier

    def put(self, ids: Sequence[int], contents: Sequence[str], features: Floats) -> None:
        """Keep the likely labels of items.

        Args:
            ids: of the items.
            contents: SHA-256 of the files that the features are of; "" for one that is not kept.
            features: one row per item.

        """
        self.kept.put(ids, contents, self.classifier.most_likely(features))


def keep_likely(store: Store) -> LikelyWriter | None:
    """Make a store, open for writing, keep likely labels; None where it cannot."""
    classifier = kept_classifier(store) if can_keep_likely(store) else None
    if classifier is None or not isinstance(store, LikelyStore):
        return None
    store.likely.keep()
    return LikelyWriter(store.likely, classifier)


def missing_likely(index: "HammingIndex") -> list[Known]:
    """Return the items whose likely labels should be kept and are not."""
    store = index.store
    if not can_keep_likely(store) or not isinstance(store, LikelyStore):
        return []
    return missing_items(store.likely, store)


def fill_likely(
    index: "HammingIndex",
    missing: Sequence[Known] | None = None,
    **options: Unpack["EncodeOptions"],
) -> int:
    """Compute and keep the likely labels of items that have none, and return of how many.

    They are computed from kept features where the index has them, otherwise from the pictures.
    Pictures whose files are gone, broken or not as the index has them are left out. Room that
    removed items take is given back first.

    Args:
        index: open for writing.
        missing: what `missing_likely` found; looked for by default.
        options: those of `Hasher.encode`.

    """
    writer = keep_likely(index.store)
    if writer is None:
        return 0
    asked = missing_likely(index) if missing is None else missing
    writer.kept.compact(len(index), (id for id, _ in index.store.scan()))
    progress = options.pop("progress", None) or (lambda done, total: None)
    left = _fill_from_features(index.store, writer, asked, progress)
    filled = before = len(asked) - len(left)
    options["progress"] = lambda done, _: progress(before + done, len(asked))
    for items, contents, features in compute_features(index, left, **options):
        writer.put([id for id, _ in items], contents, features)
        filled += sum(map(bool, contents))
    return filled


def _fill_from_features(
    store: Store,
    writer: LikelyWriter,
    asked: Sequence[Known],
    progress: Callable[[int, int], None],
) -> list[Known]:
    """Compute what kept features allow, and return the items that have none."""
    kept = kept_features(store)
    if kept is None:
        return list(asked)
    left: list[Known] = []
    done = 0
    for some in in_parts(iter(asked)):
        places, rows, scales = kept.get(some)
        found = [some[place] for place in places.tolist()]
        contents = [entry.sha256 for _, entry in found]
        if found:
            writer.put([id for id, _ in found], contents, scales[:, np.newaxis] * rows)
        there = set(places.tolist())
        left += [one for place, one in enumerate(some) if place not in there]
        done += len(found)
        progress(done, len(asked))
    return left
