"""Rankings by words: those of a text, say, with the weight of each."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from softhash.errors import UsageError
from softhash.index.store import Store
from softhash.index.where import EVERYTHING, Where


@runtime_checkable
class WordStore(Protocol):
    """A store that ranks items by words: by Σ weight·p.

    p is 1 for a label that is given, the kept probability for one that is likely, else 0.
    """

    def rank_by_words(
        self, weights: Mapping[str, float], k: int, *, offset: int = 0, where: Where = EVERYTHING
    ) -> list[tuple[float, int]]:
        """Rank items by (score, the largest first, id); only those whose score is above 0.

        Args:
            weights: of words.
            k: how many to return.
            offset: items to skip before them.
            where: the items that count.

        """

    def word_scores(
        self, ids: Sequence[int], weights: Mapping[str, float]
    ) -> npt.NDArray[np.float64]:
        """Return the scores of some items; raise UnknownItemError for one that is not there."""


def need_word_store(store: Store) -> WordStore:
    """Return a store that ranks by words, or raise UsageError."""
    if not isinstance(store, WordStore):
        raise UsageError(
            f"{store.location} cannot be searched by words",
            "only an index in a folder can; filter by labels instead",
        )
    return store
