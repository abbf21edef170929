"""What a search is for, as it was given: a picture or several, an item, a code, or words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes, code_bytes, pack
from softhash.errors import InputError, NoOutputsError, QueryError, UsageError
from softhash.hamming.rescoring import BITS, FEATURES
from softhash.index.features import item_features
from softhash.index.pictures import encode_picture, find_labels, is_several
from softhash.index.query import AskedWords, Query
from softhash.index.store import Store
from softhash.index.vocabulary import find_words, known_words
from softhash.index.words import need_word_store

if TYPE_CHECKING:
    from softhash.index.hamming_index import HammingIndex
    from softhash.model.inputs import Item as Picture

Words = str | Sequence[str]  # a text, or several


class Target(NamedTuple):
    """What is searched for: exactly one of the first four, words alone, or nothing but labels.

    Attributes:
        picture: a path, bytes, a PIL image or an array, or a list of these.
        id: an item of the index.
        code: packed bytes, or the same in hexadecimal.
        outputs: the real-valued u (bits,).
        features: those of the picture that the outputs are of; never alone.
        words: what should be in the hits.
        more: words that move items up, beside one of the others.
        less: words that move items down.

    """

    picture: "Picture | Sequence[Picture] | None" = None
    id: int | None = None
    code: bytes | str | Codes | None = None
    outputs: npt.ArrayLike | None = None
    features: npt.ArrayLike | None = None
    words: Words = ()
    more: Words = ()
    less: Words = ()

    @property
    def has_words(self) -> bool:
        """Whether any words are given."""
        return any(map(len, (self.words, self.more, self.less)))

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is given."""
        return all(value is None for value in self[:5]) and not self.has_words

    def check(self, rescore: str) -> None:
        """Raise unless one thing is given, which can be rescored where that is asked for."""
        given = [name for name in self._fields[:4] if getattr(self, name) is not None]
        if len(self.words) and given:
            hint = "words beside something else are given as more or less"
            raise UsageError(f"words and {given[0]} are both given", hint)
        if len(given) + bool(len(self.words)) != 1:
            count = f"{len(given)} things" if given else "nothing"
            hint = "give exactly one of picture, id, code and outputs, or words or labels alone"
            raise QueryError(f"{count} to search for", hint)
        if rescore and self.has_words:
            raise UsageError("rescoring means nothing where words are asked for", "leave it out")
        if rescore == BITS and given[0] in ("id", "code"):
            raise _not_rescored(f"this {given[0]} has no real-valued outputs")
        if rescore == FEATURES and given[0] in ("code", "outputs") and self.features is None:
            raise _not_rescored(f"this {given[0]} comes without features")

    def find_words(self, store: Store) -> AskedWords:
        """Find the words in what was given, as the index has them.

        Raises:
            UnknownWordError: neither an item has one of them, nor does the model name it.
            UsageError: the store cannot rank by words, or one is asked for both ways.

        """
        if not self.has_words:
            return AskedWords()
        need_word_store(store)
        known = known_words(store)
        words, more, less = (_find_all(some, known) for some in (self.words, self.more, self.less))
        if both := {*words, *more} & {*less}:
            raise UsageError(f"'{min(both)}' is asked for both ways", "leave one of them out")
        return AskedWords(words, more, less)


def _find_all(given: Words, known: Sequence[str]) -> tuple[str, ...]:
    texts = [given] if isinstance(given, str) and given else given
    return tuple(dict.fromkeys(word for text in texts for word in find_words(text, known)))


def _not_rescored(why: str) -> NoOutputsError:
    hint = "search with the picture itself, or leave rescore out"
    return NoOutputsError(f"{why} to rescore by", hint)


def build_query(
    index: "HammingIndex", target: Target, labels: Sequence[str] | None, rescore: str = ""
) -> Query:
    """Find the code of a target, and what else is known of it; a picture is encoded once.

    Args:
        index: what is searched.
        target: what is searched for.
        labels: the target's labels; None to look them up in the index.
        rescore: what the nearest are ranked again by. Those of several pictures are, by bits,
            where nothing else is asked for: their mean is surer of some bits than of others.

    """
    known = None if labels is None else tuple(labels)
    if target.id is not None:
        item = index.get(target.id)
        features = item_features(index.store, item) if rescore == FEATURES else None
        found = item.entry.labels if known is None else known
        return Query(item.code, found, itself=item, features=features, rescore=rescore)
    if target.code is not None:
        return Query(code_bytes(target.code, index.bits), known or (), rescore=rescore)
    if target.picture is not None:
        encoded = encode_picture(index.hasher, target.picture)
        found = find_labels(index.store, target.picture) if known is None else known
        if is_several(target.picture) and not target.has_words:
            rescore = rescore or BITS
        return Query(encoded.code, found, encoded.likely, None, *encoded[:2], rescore=rescore)
    if target.outputs is None:  # words alone
        return Query(b"", known or ())
    u = np.asarray(target.outputs)
    if u.shape != (index.bits,):
        raise InputError(
            f"outputs have the shape {u.shape}", f"a code of this index needs ({index.bits},)"
        )
    features = None if target.features is None else np.asarray(target.features)
    code: bytes = pack(u[np.newaxis])[0].tobytes()
    return Query(code, known or (), outputs=u, features=features, rescore=rescore)
