"""How probable it is that a hit shares a label with the query.

A logistic regression on what a search sees: how far apart the codes are, what the likely labels of
both make one expect, and how sure the model is of anything in the query's picture. It was fitted on
pictures that neither codes nor labels were learned from.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, prod

import numpy as np
from numpy.typing import NDArray

EPSILON = 1e-3  # probabilities are kept this far from 0 and 1, where logits are not finite
TERMS = 4


def expected_overlap(query: Mapping[str, float], item: Mapping[str, float]) -> float:
    """Return the probability that two pictures share a label, were their labels independent.

    >>> expected_overlap({"dog": 0.5, "sea": 0.5}, {"dog": 0.5, "sea": 1.0, "sky": 0.9})
    0.625
    """
    return 1 - prod(1 - p * item[name] for name, p in query.items() if name in item)


@dataclass(frozen=True, eq=False)
class Sureness:
    """P = σ(w·[1, distance/bits, logit(overlap), certainty]).

    >>> Sureness(np.array([2.0, -8.0, 0.0, 0.0])).probability(0.25, 0.5, 1.0)
    0.5

    Attributes:
        weights: (4,).

    """

    weights: NDArray[np.floating]

    def probability(self, distance: float, overlap: float, certainty: float) -> float:
        """Return how probable it is that query and hit share a label.

        Args:
            distance: share of the bits that differ.
            overlap: what `expected_overlap` of likely labels gives.
            certainty: probability of the query's most probable label.

        """
        odds = float(self.weights @ terms(distance, overlap, certainty))
        return float(1 / (1 + np.exp(-odds)))


def terms(distance: float, overlap: float, certainty: float) -> NDArray[np.float64]:
    """Return what the regression sees.

    Args:
        distance: share of the bits that differ.
        overlap: what `expected_overlap` of likely labels gives.
        certainty: probability of the query's most probable label.

    """
    p = min(max(overlap, EPSILON), 1 - EPSILON)
    return np.array([1.0, distance, log(p / (1 - p)), certainty])
