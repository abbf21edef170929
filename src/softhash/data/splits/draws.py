"""Random draws that any language and any version can repeat."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from softhash.data.image_set import ImageSet

Positions = NDArray[np.int64]
Option = bool | float | tuple[str, ...]


def seeded_order(names: Sequence[str], seed: int) -> Positions:
    """Shuffle names: sort them by the SHA-256 of `<seed>:<name>` in UTF-8, and return positions.

    No random generator takes part: the order depends on the seed and the names alone, not on the
    order in which they are given, the machine, or the version of a library. In a shell:
    `printf '1:a.jpg' | sha256sum`.

    >>> seeded_order(["a.jpg", "b.jpg", "c.jpg"], seed=1).tolist()
    [0, 2, 1]
    >>> seeded_order(["c.jpg", "b.jpg", "a.jpg"], seed=1).tolist()
    [2, 0, 1]
    """
    keys = [hashlib.sha256(_utf8(f"{seed}:{name}")).digest() for name in names]
    return np.array(sorted(range(len(names)), key=keys.__getitem__), dtype=np.int64)


def minus(positions: Positions, others: Positions) -> Positions:
    """Leave out the others and keep the order.

    >>> minus(np.array([3, 1, 2]), np.array([1])).tolist()
    [3, 2]
    """
    return positions[~np.isin(positions, others)]


@dataclass(frozen=True)
class Pool:
    """The pictures that may be drawn, in the seed's order, and which files are copies."""

    images: ImageSet
    order: Positions
    copies: list[list[int]]
    seed: int

    @property
    def labelled(self) -> Positions:
        """The pictures that have labels."""
        return self.order[~self.images.without_labels[self.order]]

    def among(self, positions: Positions) -> "Pool":
        """Keep these pictures alone."""
        return replace(self, order=self.order[np.isin(self.order, positions)])

    def without(self, positions: Positions) -> "Pool":
        """Take these pictures out."""
        return replace(self, order=minus(self.order, positions))

    def find_copies(self, queries: Positions) -> Positions:
        """Name the copies of these pictures that are in the pool and not among them."""
        chosen = set(queries.tolist())
        groups = [group for group in self.copies if not chosen.isdisjoint(group)]
        copies = np.array([i for group in groups for i in group], dtype=np.int64)
        return np.intersect1d(minus(copies, queries), self.order)


@dataclass(frozen=True)
class Drawn:
    """What a protocol chose: the pool it drew from, the three parts, notes, options it settled."""

    pool: Pool
    train: Positions
    query: Positions
    database: Positions
    notes: tuple[str, ...] = ()
    options: Mapping[str, Option] = field(default_factory=dict)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # names of files need not be text
