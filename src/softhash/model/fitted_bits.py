"""Bits of a code that are fitted to a collection: its own features, no labels, a few seconds.

What labels taught a model holds for pictures like those it was trained on. Fitted bits keep what
tells the pictures of one collection apart. They are found by ITQ (Gong, Lazebnik, 2011): principal
directions, rotated until their signs lose little. Two things differ from the paper:

- Features are centred by half. Codes are to follow the cosine of features, which is not centred at
  all: codes of wholly centred features lose MAP, those of uncentred ones the first hits.
- A small collection is a poor sample. So features of more pictures are drawn from a normal
  distribution, that of the pictures the model was trained on (`Prior`), and added to its own.

Both were chosen on train pictures of COCO and IAPR TC-12.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

CENTRING = 0.5  # how much of the mean is taken off
DRAWN = 1000  # pictures of the prior beside those of the collection
ITERATIONS = 50
MAX_PICTURES = 10_000  # that bits are fitted to: more change nothing


class Prior(NamedTuple):
    """A normal distribution of features: mean + Σ zᵢ·axisᵢ, with zᵢ from N(0, 1).

    Attributes:
        mean: (d,).
        axes: (k, d) principal directions, each as long as its standard deviation.

    """

    mean: Floats
    axes: Floats

    def draw(self, count: int, seed: int = 0) -> NDArray[np.float64]:
        """Draw features (count, d); the same ones for the same seed."""
        z = np.random.default_rng(seed).standard_normal((count, len(self.axes)))
        return z @ np.asarray(self.axes, np.float64) + self.mean


def fit_bits(features: Floats, count: int, prior: Prior, seed: int = 0) -> tuple[Floats, Floats]:
    """Fit a linear map whose signs are bits; its outputs have a standard deviation of about 1.

    Args:
        features: of the collection (n, d); n may be 0.
        count: how many bits.
        prior: of features, for what a small collection does not show.
        seed: of the rotation that ITQ starts with.

    Returns:
        The weight (count, d) and the bias (count,): bit i is 1 where weightᵢ·x + biasᵢ > 0.

    """
    x = np.concatenate([np.asarray(features, np.float64), prior.draw(DRAWN)])
    offset = CENTRING * x.mean(axis=0)
    x -= offset
    directions = _principal(x, count)
    v = x @ directions.T
    rotation = np.linalg.qr(np.random.default_rng(seed).standard_normal((count, count))).Q
    for _ in range(ITERATIONS):
        rotation = improved(v, rotation)
    weight = rotation.T @ directions / (v @ rotation).std()
    return weight, -weight @ offset


def improved(v: NDArray[np.float64], rotation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find the rotation that best maps v (n, bits) to the codes that the present one gives."""
    signs = np.where(v @ rotation > 0, 1.0, -1.0)
    left, _, right = np.linalg.svd(signs.T @ v)
    better: NDArray[np.float64] = right.T @ left.T
    return better


def _principal(x: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return directions (count, d) along which rows are longest, the longest first."""
    _, vectors = np.linalg.eigh(x.T @ x)
    directions: NDArray[np.float64] = vectors[:, ::-1][:, :count].T
    # Each has the sign that makes its largest entry positive, so that machines agree.
    largest = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(count), largest])[:, np.newaxis]
    return directions


def take_turns(learned: int, fitted: int) -> NDArray[np.int64]:
    """Return the order of so many learned bits, then so many fitted ones, as a code has them.

    They take turns evenly, so that the first bits of a code have both.

    >>> take_turns(2, 6).tolist()
    [0, 2, 3, 4, 1, 5, 6, 7]
    """
    places = np.concatenate(
        [np.arange(learned) / max(learned, 1), (np.arange(fitted) + 0.5) / max(fitted, 1)]
    )
    return np.argsort(places, kind="stable")
