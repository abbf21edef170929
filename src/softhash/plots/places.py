"""Places in a column of a table: what is marked as the best, and what as level with it."""

from collections.abc import Mapping, Set

DIGITS = 4
BEST, SECOND, LEVEL = 1, 2, 3


def rank_places(means: Mapping[str, float]) -> dict[str, int]:
    """Find the best and the second as they are shown; a lone value has no place.

    >>> rank_places({"a": 0.7, "b": 0.70001, "c": 0.6, "d": 0.5})
    {'a': 1, 'b': 1, 'c': 2}
    """
    shown = {name: round(mean, DIGITS) for name, mean in means.items()}
    first = sorted(set(shown.values()), reverse=True)[:SECOND]
    if len(first) < SECOND:
        return {}
    return {name: first.index(mean) + 1 for name, mean in shown.items() if mean in first}


def level_places(means: Mapping[str, float], level: Set[str]) -> dict[str, int]:
    """Mark the best alone, or all that are level with it alike.

    >>> level_places({"a": 0.7, "b": 0.69, "c": 0.6}, {"a"})
    {'a': 1}
    >>> level_places({"a": 0.7, "b": 0.69, "c": 0.6}, {"a", "b"})
    {'a': 3, 'b': 3}
    """
    shown = {name: round(mean, DIGITS) for name, mean in means.items()}
    top = max(shown.values())
    alike = [name for name in means if name in level or shown[name] == top]
    return dict.fromkeys(alike, LEVEL if len(alike) > 1 else BEST)
