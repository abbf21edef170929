"""A search as the index runs it: what is searched for, encoded, and which part is wanted."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from softhash.errors import UsageError
from softhash.index.items import Item

Outputs = npt.NDArray[np.floating]


class Window(NamedTuple):
    """The part of a ranking that is wanted.

    Attributes:
        k: how many hits.
        offset: hits to skip before them.
        radius: the largest distance, None for any.

    """

    k: int
    offset: int
    radius: int | None

    @property
    def places(self) -> slice:
        """Where in a ranking its hits are."""
        return slice(self.offset, self.offset + self.k)

    def check(self) -> None:
        """Raise unless it has room for a hit."""
        if self.k < 1 or self.offset < 0:
            raise UsageError(f"k is {self.k} and offset {self.offset}", "give at least 1 and 0")


class AskedWords(NamedTuple):
    """Words that are searched for, as the index has them.

    Attributes:
        words: those of a search by words alone.
        more: those that move items up, beside what else is searched for.
        less: those that move items down.

    """

    words: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    less: tuple[str, ...] = ()

    @property
    def wanted(self) -> tuple[str, ...]:
        """Those that items should have."""
        return (*self.words, *self.more)

    @property
    def weights(self) -> dict[str, float]:
        """What each adds to an item's score."""
        return dict.fromkeys(self.wanted, 1.0) | dict.fromkeys(self.less, -1.0)


class Query(NamedTuple):
    """What is searched for, encoded.

    Attributes:
        code: its code, in packed bytes; empty where words alone are searched for.
        labels: its labels, as far as they are known.
        likely: labels that the model finds likely, with probabilities.
        itself: the item it is, which is not among the hits.
        outputs: the real-valued u (bits,) whose signs are the code.
        features: those of the picture (d,).
        exact: whether its code is compared with all codes in full, see `softhash.index.stages`.
        rescore: what the nearest are ranked again by: "bits", "features", or "" for nothing.
        asked: words that are searched for, alone or beside the code.

    """

    code: bytes
    labels: tuple[str, ...] = ()
    likely: Mapping[str, float] = {}
    itself: Item | None = None
    outputs: Outputs | None = None
    features: Outputs | None = None
    exact: bool = True
    rescore: str = ""
    asked: AskedWords = AskedWords()
