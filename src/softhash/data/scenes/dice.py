"""Chance that falls the same way on every machine and Python version."""

import random
from collections.abc import Sequence
from typing import TypeVar

Option = TypeVar("Option")


class Dice:
    """Whole numbers, choices and yes or no, from a seed of any printable parts.

    Everything rests on ``random.Random.random``, the one method whose sequence Python promises to
    keep from version to version.

    >>> dice = Dice("example", 1)
    >>> [dice.between(1, 6) for _ in range(8)]
    [6, 6, 5, 6, 4, 4, 5, 5]
    """

    def __init__(self, *seed: str | int) -> None:
        text = ":".join(str(part) for part in seed)
        self._random = random.Random(text).random  # noqa: S311  (pictures, not secrets)

    def between(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return low + int(self._random() * (high - low + 1))

    def chance(self, percent: int) -> bool:
        """Return True in that many of a hundred calls."""
        return self._random() * 100 < percent

    def pick(self, options: Sequence[Option]) -> Option:
        """Return one of the options, each as likely as the others."""
        return options[int(self._random() * len(options))]
