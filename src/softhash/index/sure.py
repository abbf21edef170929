"""How sure a hit is: how probable it is that it shares a label with what was searched for."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from softhash.errors import InputError, UsageError
from softhash.index.kept_model import kept_classifier
from softhash.index.likely import KeptLikely, kept_likely
from softhash.index.query import Query
from softhash.index.store import Store
from softhash.model.label_classifier import LabelClassifier
from softhash.model.sureness import Sureness, expected_overlap


class HitSureness(NamedTuple):
    """What is known of a query, for how sure its hits are.

    Attributes:
        sureness: the model's.
        bits: length of the codes.
        given: the query's labels that are certain.
        probabilities: of all of its labels, given or likely.

    """

    sureness: Sureness
    bits: int
    given: frozenset[str]
    probabilities: Mapping[str, float]

    def judge(
        self, distance: int | None, labels: tuple[str, ...], likely: Mapping[str, float]
    ) -> float | None:
        """Return how sure a hit is: 1 where it shares a given label; None where that is not known.

        Args:
            distance: from the query.
            labels: given to the hit.
            likely: labels of the hit, with probabilities.

        """
        if distance is None or not (labels or likely):
            return None
        if not self.given.isdisjoint(labels):
            return 1.0
        overlap = expected_overlap(self.probabilities, {**likely, **dict.fromkeys(labels, 1.0)})
        certainty = max(self.probabilities.values())
        return self.sureness.probability(distance / self.bits, overlap, certainty)


def find_sureness(store: Store, query: Query) -> HitSureness | None:
    """Return what tells how sure the hits of a query are.

    None where the index keeps no likely labels, its model has no sureness, or nothing is known of
    the query but its code.
    """
    if query.itself is None and query.features is None:
        return None
    kept = kept_likely(store)
    classifier = None if kept is None else kept_classifier(store)
    if kept is None or classifier is None or classifier.sureness is None:
        return None
    likely = _query_likely(kept, classifier, query)
    probabilities = {**likely, **dict.fromkeys(query.labels, 1.0)}
    if not probabilities:
        return None
    given = frozenset(query.labels)
    return HitSureness(classifier.sureness, store.meta.bits, given, probabilities)


def kept_sureness(store: Store) -> Sureness | None:
    """Return the sureness of the model kept with an index, where likely labels are kept too."""
    classifier = kept_classifier(store) if kept_likely(store) is not None else None
    return None if classifier is None else classifier.sureness


def check_can_be_sure(store: Store, *, by_code: bool) -> None:
    """Raise UsageError where hits cannot be left out for not being sure enough.

    Args:
        store: what is searched.
        by_code: whether nothing is known of the query but its code.

    """
    if kept_sureness(store) is None:
        raise UsageError(
            f"{store.location} does not know how sure its hits are",
            "leave at_least out; an index made with the model that comes with softhash knows",
        )
    if by_code:
        hint = "search with the picture or an item, or leave at_least out"
        raise UsageError("how sure the hits of a code are is not known", hint)


def _query_likely(
    kept: KeptLikely, classifier: LabelClassifier, query: Query
) -> Mapping[str, float]:
    if query.itself is not None:
        return kept.get([(query.itself.id, query.itself.entry)])[0]
    return {} if query.features is None else _named(classifier, query.features)


def _named(
    classifier: LabelClassifier, features: np.typing.NDArray[np.floating]
) -> dict[str, float]:
    """Return the likely labels of a picture as an index would keep them."""
    expected = classifier.weight.shape[1:]
    if features.shape != expected:
        hint = f"the model of this index needs {expected}: are they of another model?"
        raise InputError(f"features have the shape {features.shape}", hint)
    words, probabilities = classifier.most_likely(features[np.newaxis])
    pairs = zip(words[0].tolist(), probabilities[0].tolist(), strict=True)
    return {classifier.classes[word]: p / 255 for word, p in pairs if p}
