"""Words that stand for classes of the backbone's own, published classifier.

A word stands for every class below it, *dog* for each breed: its probability is the sum of theirs.
A softmax expects one thing per picture, and photographs show several; one logistic regression on
pictures with known labels, the same for all words, corrects for that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from softhash.errors import InputError
from softhash.model._logits import logits

Floats = NDArray[np.float32]

PREFIX = "published."  # of its tensors in a file
EPSILON = 1e-6  # sums are kept this far from 0 and 1, where their logits would not be finite


@dataclass(frozen=True, eq=False)
class PublishedClasses:
    """A softmax over classes, summed for each word: p = σ(slope·logit(Σ softmax) + offset).

    >>> weight, members = np.eye(3, dtype=np.float32), np.array([0, 1, 2])
    >>> words = PublishedClasses(weight, np.zeros(3), np.array([0, 2, 3]), members, 1.0, 0.0)
    >>> words.probabilities(np.zeros((1, 3))).round(2).tolist()
    [[0.67, 0.33]]

    Attributes:
        weight: of the classifier (classes, features).
        bias: of the classifier (classes,).
        starts: where the classes of each word begin in `members`, and where the last end.
        members: positions of classes, word by word.
        slope: of the regression that corrects probabilities.
        offset: of that regression.

    """

    weight: Floats
    bias: Floats
    starts: NDArray[np.integer]
    members: NDArray[np.integer]
    slope: float
    offset: float

    def __len__(self) -> int:
        return len(self.starts) - 1

    def probabilities(self, x: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return how probable each word is for each row of x (n, features)."""
        odds = logits(x, self.weight, self.bias)
        shares = np.exp(odds - odds.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        sums = np.add.reduceat(shares[:, self.members], self.starts[:-1], axis=1)
        sums = np.clip(sums, EPSILON, 1 - EPSILON)
        corrected = self.slope * np.log(sums / (1 - sums)) + self.offset
        probabilities: NDArray[np.float64] = 1 / (1 + np.exp(-corrected))
        return probabilities

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `from_arrays` takes."""
        correction = np.array([self.slope, self.offset], np.float32)
        arrays = {"weight": self.weight, "bias": self.bias, "correction": correction}
        arrays |= {"starts": self.starts.astype(np.int32), "members": self.members.astype(np.int32)}
        return {PREFIX + name: array for name, array in arrays.items()}

    @classmethod
    def from_arrays(cls, found: Mapping[str, NDArray[Any]], features: int, name: str) -> Self:
        """Read arrays of a file, and check that they fit together.

        Args:
            found: arrays of `to_arrays`, perhaps among others.
            features: how many numbers the backbone gives.
            name: what errors call the file.

        Raises:
            InputError: some are missing, or do not fit.

        """
        try:
            weight, bias, correction, starts, members = (
                found[PREFIX + key] for key in ("weight", "bias", "correction", "starts", "members")
            )
        except KeyError as error:
            raise InputError(f"{name} is damaged, it lacks {error}") from None
        classes = len(bias) if bias.ndim == 1 else -1
        fits = weight.shape == (classes, features) and correction.shape == (2,)
        if not fits or not _are_groups(starts, members, classes):
            raise InputError(f"{name} is damaged: its published classes do not fit together")
        numbers = weight.astype(np.float32), bias.astype(np.float32)
        return cls(
            *numbers, starts.astype(np.int64), members.astype(np.int64), *correction.tolist()
        )


def _are_groups(starts: NDArray[Any], members: NDArray[Any], classes: int) -> bool:
    """Return whether each word has a class, and all of them exist."""
    if starts.ndim != 1 or members.ndim != 1 or len(starts) < 2:
        return False
    if starts.dtype.kind not in "iu" or members.dtype.kind not in "iu":
        return False
    sizes = np.diff(starts.astype(np.int64))
    whole = starts[0] == 0 and starts[-1] == len(members)
    return bool(whole and (sizes > 0).all() and (members >= 0).all() and (members < classes).all())
