"""Near copies: found by perceptual hashes, confirmed by codes and, where kept, by features.

A picture is a near copy of another where their codes differ in at most a quarter of the bits, and

- their hashes differ in at most `SURE` of 64 bits: it was scaled, compressed or brightened; or
- their hashes differ in at most `tolerance` bits, and their features, where the index keeps them,
  have a cosine of 0.88 or more: it was cropped a little, or taken a moment later.

Hashes come first because they decide: in a collection of some size nearly every code has another
one near it, but hardly any hash has.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes
from softhash.data.loading import Progress
from softhash.hamming import nearest, within

TOLERANCE = 10  # bits of the hash
SURE = 4  # bits of the hash: pictures that differ in no more are hardly ever different ones
MAX_CODE_SHARE = 0.25  # of the bits
MAX_COSINE_DISTANCE = 0.12
COMPARED_AT_ONCE = 4096  # hashes, with all others

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.floating]
CosineDistances = Callable[[int, Places], Floats]  # of a picture from others; NaN: not known


class Fingerprints(NamedTuple):
    """What near copies are recognised by.

    Attributes:
        hashes: (n, 8), perceptual, packed.
        codes: (n, bytes), packed.
        bits: length of the codes.
        cosine_distances: of a picture's features from those of others.

    """

    hashes: Codes
    codes: Codes
    bits: int
    cosine_distances: CosineDistances


class NearCopies(NamedTuple):
    """Of each picture which one it is a copy of: itself, where it is of none.

    Attributes:
        first: (n,) places of these pictures.
        distances: (n,) of their codes.
        hash_distances: (n,) of their perceptual hashes.

    """

    first: Places
    distances: Places
    hash_distances: Places

    @classmethod
    def none(cls, count: int) -> "NearCopies":
        """Return that no picture is a copy."""
        return cls(np.arange(count), np.zeros(count, np.int64), np.zeros(count, np.int64))


def with_neighbour(hashes: Codes, radius: int, progress: Progress | None = None) -> Mask:
    """Return which hashes have another one at `radius` or less.

    >>> with_neighbour(np.array([[0], [1], [255]], np.uint8), 1).tolist()
    [True, True, False]

    Args:
        hashes: packed (n, bytes).
        radius: the largest distance.
        progress: called with (hashes done, hashes in all).

    """
    found = np.zeros(len(hashes), bool)
    for start in range(0, len(hashes) if len(hashes) > 1 else 0, COMPARED_AT_ONCE):
        stop = min(start + COMPARED_AT_ONCE, len(hashes))
        distances, _ = nearest(hashes[start:stop], hashes, 2)  # the first is the hash itself
        found[start:stop] = distances[:, 1] <= radius
        if progress:
            progress(stop, len(hashes))
    return found


def find_near_copies(prints: Fingerprints, order: Iterable[int], tolerance: int) -> NearCopies:
    """Make every picture a copy of the first one, in a given order, that it is near to.

    So each is near to the first of its group: no chain of small differences joins two pictures
    that are not alike.

    Args:
        prints: of the pictures.
        order: all places, those that shall be the first of a group before others.
        tolerance: bits of the hash that may differ.

    """
    found = NearCopies.none(len(prints.hashes))
    free = np.ones(len(prints.hashes), bool)
    for place in order:
        if not free[place]:
            continue
        free[place] = False
        near = within(prints.hashes[place : place + 1], prints.hashes, tolerance)[0]
        hash_distances, places = (part[free[near[1]]] for part in near)
        distances = np.bitwise_count(prints.codes[places] ^ prints.codes[place]).sum(axis=1)
        kept = _confirmed(prints, place, places, hash_distances, distances / prints.bits)
        free[places[kept]] = False
        found.first[places[kept]] = place
        found.distances[places[kept]] = distances[kept]
        found.hash_distances[places[kept]] = hash_distances[kept]
    return found


def _confirmed(
    prints: Fingerprints, place: int, places: Places, hash_distances: Places, shares: Floats
) -> Mask:
    """Return which pictures with a similar hash are copies; `shares` are of bits that differ."""
    kept: Mask = shares <= MAX_CODE_SHARE
    unsure = np.flatnonzero(kept & (hash_distances > SURE))
    if unsure.size:
        apart = prints.cosine_distances(place, places[unsure])
        kept[unsure] = apart <= MAX_COSINE_DISTANCE  # never where they are not known
    return kept
