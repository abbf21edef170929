"""A look through a collection before it is used: what is there, what is missing, what is broken."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softhash.data.duplicates import identical_copies
from softhash.data.image_set import ImageSet
from softhash.data.labelling import TAGS_HINT, has_tags
from softhash.data.loading import Broken, load
from softhash.data.skipped import count_skipped

TINY = 8  # pixels per side: decoding to it reads every byte of a picture and costs the least
UNLABELLED = (
    "no picture has a label: `softhash index` needs none, nor does `softhash train --method itq`"
)


@dataclass(frozen=True, eq=False)
class Inspection:
    """What `inspect` found.

    Attributes:
        images: the collection.
        broken: the pictures that cannot be opened, with the reason.
        copies: groups of positions whose files have the same bytes.
        tagged: whether there are tags that are not among the labels.

    """

    images: ImageSet
    broken: tuple[Broken, ...]
    copies: tuple[tuple[int, ...], ...]
    tagged: bool = False

    @property
    def labels_per_image(self) -> NDArray[np.int64]:
        """How many pictures have 0, 1, 2, … labels."""
        return np.bincount(self.images.labels.sum(axis=1, dtype=np.int64))

    @property
    def images_per_class(self) -> dict[str, int]:
        """How many pictures each class has."""
        counts = self.images.labels.sum(axis=0, dtype=np.int64)
        return dict(zip(self.images.classes, counts.tolist(), strict=True))

    @property
    def unlabelled(self) -> list[str]:
        """The names of the pictures without labels."""
        return [self.images.file_names[i] for i in np.flatnonzero(self.images.without_labels)]

    @property
    def hints(self) -> list[str]:
        """What can be done about what was found, one line each."""
        unlabelled = [] if self.images.labels.any() else [UNLABELLED]
        return [TAGS_HINT, *unlabelled] if self.tagged else unlabelled

    @property
    def skipped(self) -> dict[str, int]:
        """How many files were not read, by kind."""
        return count_skipped(self.images.skipped, self.broken)

    def as_dict(self) -> dict[str, Any]:
        """Return everything that was found, for programs."""
        images, names = self.images, self.images.file_names
        return {
            "format": images.format,
            "images": len(images),
            "classes": len(images.classes),
            "labels_per_image_mean": float(images.labels.sum() / max(len(images), 1)),
            "labels_per_image": self.labels_per_image.tolist(),
            "images_per_class": self.images_per_class,
            "partition": {name: len(part) for name, part in (images.partition or {}).items()},
            "missing": list(images.missing),
            "broken": [{"file_name": one.file_name, "reason": one.reason} for one in self.broken],
            "skipped": self.skipped,
            "duplicates": [[names[i] for i in group] for group in self.copies],
            "without_labels": self.unlabelled,
            "notes": list(images.notes),
            "hints": self.hints,
        }


def inspect(
    images: ImageSet,
    *,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Inspection:
    """Open every picture and compare their files.

    Args:
        images: the collection.
        workers: threads that decode; the cores this process may use by default.
        progress: called with (pictures opened, pictures in all).

    """
    broken: list[Broken] = []
    for batch in load(images, TINY, workers=workers, progress=progress):
        broken += batch.broken
    copies = tuple(map(tuple, identical_copies(images)))
    tagged = not images.classes and has_tags(images)
    return Inspection(images, tuple(broken), copies, tagged)
