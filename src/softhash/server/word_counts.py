"""The words of an index, and how many items have each."""

from dataclasses import dataclass
from typing import Any

from softhash.index.likely import LikelyStore
from softhash.index.store import Store
from softhash.index.vocabulary import complete, known_words
from softhash.index.words import WordStore


@dataclass(frozen=True)
class WordCounts:
    """How many items have each word.

    Attributes:
        given: items of every label that is given to some.
        likely: items of every label that is likely for some and not given to them.
        known: all words that can be searched for, the most common first; none where the store
            cannot be searched by words.

    """

    given: dict[str, int]
    likely: dict[str, int]
    known: tuple[str, ...]

    @classmethod
    def read(cls, store: Store) -> "WordCounts":
        """Count the items of an index."""
        given = store.labels()
        likely = store.likely_counts() if isinstance(store, LikelyStore) else {}
        known = known_words(store) if isinstance(store, WordStore) else []
        common = sorted(known, key=lambda word: -given.get(word, 0) - likely.get(word, 0))
        return cls(given, likely, tuple(common))

    def complete(self, prefix: str, limit: int) -> list[dict[str, Any]]:
        """Return what `schemas.Word` describes of the words that complete a beginning.

        >>> WordCounts({"sea": 3}, {"seal": 2, "sea": 1}, ("sea", "seal")).complete("se", 1)
        [{'word': 'sea', 'given': 3, 'likely': 1}]
        """
        return [
            {"word": word, "given": self.given.get(word, 0), "likely": self.likely.get(word, 0)}
            for word in complete(prefix, self.known, limit)
        ]
