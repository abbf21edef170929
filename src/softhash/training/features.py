"""Features of a backbone, computed once for every picture and kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from softhash.data.image_set import ImageSet
from softhash.data.loading import Broken, Progress
from softhash.data.row_cache import Computed, RowCache, fill

if TYPE_CHECKING:
    from softhash.model.hasher import Hasher


@dataclass(frozen=True, eq=False)
class Features:
    """Features of a collection.

    Attributes:
        values: (n, d), one row per readable picture.
        positions: of these pictures in the collection (n,).
        broken: the pictures that could not be read.

    """

    values: NDArray[np.float32]
    positions: NDArray[np.int64]
    broken: tuple[Broken, ...]


def compute_features(
    hasher: "Hasher",
    images: ImageSet,
    *,
    device: str = "auto",
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Features:
    """Compute the backbone's features of the readable pictures of a collection.

    Args:
        hasher: whose backbone it is.
        images: the collection.
        device: `auto`, `cpu` or `cuda`.
        cache: a folder that keeps features: those of pictures that have not changed since are
            taken from it. Without it nothing is kept on disk.
        progress: called with (pictures dealt with, pictures in all).

    """
    from softhash.model.weights import fingerprint

    if cache is None:
        found = hasher.encode_readable(images, "features", device=device, progress=progress)
        return Features(found.values, found.positions, found.broken)
    config = hasher.config
    what = f"features {hasher.backbone} {hasher.size} {fingerprint(hasher.network, 'backbone.')}"

    def compute(order: Sequence[int]) -> Iterator[Computed]:
        chosen = np.asarray(order, np.int64)
        for part in hasher.stream(images.select(chosen), "features", device=device):
            broken = tuple(replace(one, position=int(chosen[one.position])) for one in part.broken)
            yield Computed(chosen[part.positions], part.values, broken)

    with RowCache(cache, images.root, what, (config["features"],), np.float32) as store:
        rows, broken = fill(store, images, compute, progress)
        readable = np.flatnonzero(rows >= 0)
        return Features(np.array(store.array()[rows[readable]]), readable, broken)
