"""The words that an index can be searched for, and how they are found in a text.

They are the labels that items were given, and those that the model kept with the index names.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache

from softhash.errors import UnknownWordError, UsageError
from softhash.index.kept_model import kept_model
from softhash.index.store import Store

EXAMPLES = 5  # words that an error names

SMALL_WORDS = {
    "a", "an", "and", "are", "at", "beside", "by", "for", "from", "in", "is", "my", "near", "next",
    "of", "on", "or", "some", "the", "to", "under", "with",
}  # fmt: skip
# Each stands for the others where only one of a group is known.
SYNONYMS = (
    ("airplane", "aeroplane", "plane", "aircraft"),
    ("bicycle", "bike", "cycle"),
    ("car", "auto", "automobile"),
    ("cell phone", "cellphone", "mobile phone", "phone", "smartphone"),
    ("child", "children", "kid"),
    ("couch", "sofa", "settee"),
    ("dining table", "diningtable"),
    ("donut", "doughnut"),
    ("foot", "feet"),
    ("forest", "woods"),
    ("leaf", "leaves"),
    ("man", "men"),
    ("motorcycle", "motorbike"),
    ("mouse", "mice"),
    ("person", "people", "human"),
    ("potted plant", "pottedplant", "houseplant"),
    ("rabbit", "bunny"),
    ("refrigerator", "fridge"),
    ("road", "street"),
    ("sea", "ocean"),
    ("truck", "lorry"),
    ("tv", "television", "tvmonitor", "tv monitor"),
    ("woman", "women"),
)
_SAME = {name: group for group in SYNONYMS for name in group}

_PART = re.compile(r'"([^"]*)"|(\S+)')
_GAPS = re.compile(r"[\s_-]+")
_ENDS = ",;:.!?()'\""


def known_words(store: Store) -> list[str]:
    """Return the model's words and all given labels, sorted."""
    return sorted({*kept_model(store).words, *store.labels()})


def find_words(text: str, known: Collection[str]) -> list[str]:
    """Find the words of a text, each once, in their order.

    Longest phrases come first, and quotes keep a phrase together. Neither case nor a plural's -s,
    -es or -ies matters. Words such as "on the" are passed over.

    >>> find_words('Dogs on the beach, "traffic light"', ["beach", "dog", "light", "traffic light"])
    ['dog', 'beach', 'traffic light']

    Raises:
        UnknownWordError: it has a word that is not known.
        UsageError: it has no words.

    """
    table = _build_table(tuple(known))
    whole = table.find(text)
    found = [whole] if whole else list(_find_all(text, table, known))
    if not found:
        raise UsageError(f"'{text}' has no word to search for", "name what is in the pictures")
    return list(dict.fromkeys(found))


def complete(prefix: str, known: Iterable[str], limit: int) -> list[str]:
    """Return words that begin with a prefix, then those that contain it, each in their order.

    Args:
        prefix: in any case; all words begin with "".
        known: the words that there are.
        limit: how many to return at most.

    >>> complete("Bo", ["boat", "dog", "rainbow", "book"], 3)
    ['boat', 'book', 'rainbow']

    """
    start = _plain(prefix)
    plain = [(word, _plain(word)) for word in known]
    first = [word for word, name in plain if name.startswith(start)]
    later = [word for word, name in plain if start in name and not name.startswith(start)]
    return [*first, *later][:limit]


def unknown_word(word: str, known: Collection[str]) -> UnknownWordError:
    """Build the error for a word that is not known.

    >>> print(unknown_word("dgo", ["dog"]))
    unknown word 'dgo'; did you mean 'dog'? words are given labels and what the model names: dog
    """
    names = {_plain(name): name for name in sorted(known)}
    close = [names[name] for name in get_close_matches(_plain(word), names, n=3)]
    guess = f"did you mean {' or '.join(f'{name!r}' for name in close)}? " if close else ""
    shown = ", ".join(sorted(known)[:EXAMPLES]) or "this index has none"
    more = f" and {len(known) - EXAMPLES:,} more" if len(known) > EXAMPLES else ""
    hint = f"{guess}words are given labels and what the model names: {shown}{more}"
    return UnknownWordError(f"unknown word '{word}'", hint)


class _Table:
    """Known words by every way of writing them."""

    def __init__(self, known: Iterable[str]) -> None:
        names = sorted(known)
        self._exact = set(names)
        self._names: dict[str, str] = {}
        for name in names:
            self._names.setdefault(_plain(name), name)
        for name in names:
            for form in _forms(_plain(name)):
                self._names.setdefault(form, name)
        self.longest = max((name.count(" ") + 1 for name in self._names), default=1)

    def find(self, phrase: str) -> str | None:
        """Return the known word that a phrase means."""
        if phrase in self._exact:
            return phrase
        forms = _forms(_plain(phrase))
        same = (other for form in forms for other in _SAME.get(form, ()))
        return next((self._names[form] for form in (*forms, *same) if form in self._names), None)


@lru_cache(maxsize=4)
def _build_table(known: tuple[str, ...]) -> _Table:
    return _Table(known)


def _find_all(text: str, table: _Table, known: Collection[str]) -> Iterator[str]:
    parts, place = _PART.findall(text), 0
    while place < len(parts):
        quoted, word = parts[place]
        if quoted:
            found, place = table.find(quoted), place + 1
        else:
            found, place = _longest(parts, place, table)
        if found:
            yield found
        elif quoted or not _is_small(word):
            raise unknown_word(quoted or word.strip(_ENDS), known)


def _longest(parts: Sequence[tuple[str, str]], start: int, table: _Table) -> tuple[str | None, int]:
    """Return the word that the longest phrase from a place on means, and the place after it."""
    words: list[str] = []
    for quoted, word in parts[start : start + table.longest]:
        if quoted:
            break
        words.append(word)
    for count in range(len(words), 0, -1):
        if all(map(_is_small, words[:count])):
            continue
        phrase = " ".join(words[:count])
        found = table.find(phrase) or table.find(phrase.strip(_ENDS))
        if found:
            return found, start + count
    return None, start + 1


def _is_small(word: str) -> bool:
    plain = word.strip(_ENDS).casefold()
    return not plain or plain in SMALL_WORDS


def _plain(name: str) -> str:
    """Return a name in small letters, with a space where it has gaps, `_` or `-`."""
    return _GAPS.sub(" ", name.casefold()).strip()


def _forms(name: str) -> list[str]:
    """Return a name, and what it may be the plural of.

    >>> _forms("traffic lights"), _forms("cherries"), _forms("glass")
    (['traffic lights', 'traffic light'], ['cherries', 'cherrie', 'cherri', 'cherry'], ['glass'])
    """
    forms = [name]
    if len(name) > 3 and name.endswith("s") and not name.endswith("ss"):
        forms.append(name[:-1])
        forms += [name[:-2]] if name.endswith("es") else []
        forms += [f"{name[:-3]}y"] if name.endswith("ies") else []
    return forms
