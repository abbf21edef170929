"""A labelled collection of pictures.

>>> import numpy as np
>>> labels = np.array([[1, 1], [0, 0]])
>>> images = ImageSet(Path("photos"), ("a.jpg", "b.jpg"), labels, ("sea", "sky"))
>>> images
ImageSet(2 images, 2 classes, 1.00 labels per image, 1 without labels; table in photos)
>>> images.select(images.without_labels).file_names
('b.jpg',)
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from softhash.data.decoding import Size, open_image
from softhash.data.names import is_text, several
from softhash.errors import InputError

if TYPE_CHECKING:
    from softhash.data.splits.split import Split


def is_binary(labels: NDArray[Any]) -> bool:
    """Return whether a label matrix has no other values than 0 and 1."""
    if not labels.size:
        return True
    if labels.dtype == np.uint8:  # as readers make them: without copies of what may be large
        return bool(labels.max() <= 1)
    return bool(((labels == 0) | (labels == 1)).all())


@dataclass(frozen=True, eq=False)
class ImageSet:
    """File names, a multi-hot label matrix and the names of its columns.

    Attributes:
        root: the folder that the file names are relative to.
        file_names: one per picture, with `/` between the parts.
        labels: (n, c) multi-hot, uint8; a row of zeros is a picture without labels.
        classes: the name of each column.
        format: the layout the set was read from.
        missing: files the annotations name and the folder lacks; they are in no other attribute.
        notes: one line for anything else that was left out or repaired.
        skipped: files beside the pictures that are not read, counted by kind, such as videos.
        partition: positions by the names the data set gives its own split, or None.

    """

    root: Path
    file_names: tuple[str, ...]
    labels: NDArray[np.uint8]
    classes: tuple[str, ...]
    format: str = "table"
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    partition: Mapping[str, NDArray[np.int64]] | None = field(default=None)

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        expected = (len(self.file_names), len(self.classes))
        if labels.shape != expected:
            raise InputError(
                f"labels have the shape {labels.shape}, but {expected[0]} file names and "
                f"{expected[1]} classes need {expected}"
            )
        if not is_binary(labels):
            raise InputError("labels have other values than 0 and 1", "give a multi-hot matrix")
        if not all(map(is_text, self.classes)):
            wrong = [ascii(name[:80]) for name in self.classes if not is_text(name)]
            raise InputError(f"labels are not text: {several(wrong)}", "rename them")
        if len(set(self.classes)) < len(self.classes):
            twice = sorted({name for name in self.classes if self.classes.count(name) > 1})
            raise InputError(
                f"classes are named twice: {', '.join(twice[:5])}", "rename one of each"
            )
        object.__setattr__(self, "labels", labels.astype(np.uint8, copy=False))

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        labels_from: str | Sequence[str] = (),
        **options: object,
    ) -> "ImageSet":
        """Read a collection from a folder, or from a file that lists it.

        Args:
            path: a folder (its layout is detected), a metadata.csv, .jsonl or .json file, or
                `scenes`, the built-in drawn collection.
            format: one of `softhash.data.formats.FORMATS`, where detection is not wanted.
            labels_from: labels beside those of the layout: `folders`, the names of the folders that
                a picture is in, `tags`, the XMP and IPTC keywords in it or beside it, or both.
            options: the named arguments of that format's reader, such as `difficult="drop"` for
                VOC.

        Raises:
            InputError: the path does not exist, has no known layout, or its files are damaged.

        """
        from softhash.data import (  # the readers build ImageSets: they import this module
            formats,
            labelling,
            scenes,
        )

        path = Path(path)
        if path == Path("scenes") and not path.exists():
            path = scenes.built_in()
        images = formats.read(path, format, **options)
        return labelling.add_labels(images, labelling.source_names(labels_from))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the set as a table, metadata.csv by default, that `read` reads back.

        Names in a table are relative to its folder, so `path` must be `root` or a folder above it,
        or a .csv or .jsonl file there. A .csv keeps every class in its order; a .jsonl is easier to
        read, but its classes come back sorted and without those that no picture has.

        Args:
            path: the folder or file to write.
            force: whether an existing table is overwritten.

        Returns:
            The path of the table.

        """
        from softhash.data.formats.writing import write

        return write(self, Path(path), force=force)

    def __len__(self) -> int:
        return len(self.file_names)

    def __repr__(self) -> str:
        mean = self.labels.sum() / max(len(self), 1)
        parts = [f"{len(self):,} images", f"{len(self.classes)} classes"]
        parts.append(f"{mean:.2f} labels per image")
        parts.append(f"{int(self.without_labels.sum()):,} without labels")
        parts += [f"{len(self.missing):,} missing"] if self.missing else []
        parts += [f"{len(self.notes)} notes"] if self.notes else []
        return f"ImageSet({', '.join(parts)}; {self.format} in {self.root})"

    @property
    def without_labels(self) -> NDArray[np.bool_]:
        """A mask (n,) of the pictures that have no label."""
        return np.logical_not(self.labels.any(axis=1))

    def path(self, position: int) -> Path:
        """Return the path of a picture."""
        return self.root / self.file_names[position]

    def label_names(self, position: int) -> tuple[str, ...]:
        """Return the names of a picture's labels, in the order of the classes.

        >>> labels = np.array([[0, 1, 1]])
        >>> ImageSet(Path("photos"), ("a.jpg",), labels, ("boat", "sea", "sky")).label_names(0)
        ('sea', 'sky')
        """
        return tuple(self.classes[i] for i in np.flatnonzero(self.labels[position]))

    def open(self, position: int, size: Size | None = None) -> Image.Image:
        """Open one picture, upright and in RGB.

        Args:
            position: which one.
            size: the side of a square, or (height, width); see `open_image`.

        """
        return open_image(self.path(position), size=size)

    def select(self, which: Sequence[int] | NDArray[Any]) -> "ImageSet":
        """Return a set of the pictures at these positions, in this order, or of a boolean mask."""
        chosen = np.asarray(which)
        if chosen.dtype == bool:
            if chosen.shape != (len(self),):
                raise InputError(f"a mask of shape {chosen.shape} does not fit {len(self)} images")
            chosen = np.flatnonzero(chosen)
        chosen = chosen.astype(np.int64)
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < len(self)):
            outside = chosen[(chosen < 0) | (chosen >= len(self))]
            raise InputError(f"position {outside[0]} is not within 0 and {len(self) - 1}")
        partition = self.partition and {
            name: np.flatnonzero(np.isin(chosen, part)) for name, part in self.partition.items()
        }
        names = tuple(self.file_names[i] for i in chosen)
        return replace(self, file_names=names, labels=self.labels[chosen], partition=partition)

    def split(
        self, protocol: str | os.PathLike[str] = "random", *, seed: int = 0, **options: object
    ) -> "Split":
        """Split the set: `train, query, database = images.split("random", seed=0)`.

        Args:
            protocol: one of `softhash.data.splits.PROTOCOLS`, or the path of a .json file that
                `Split.save` wrote.
            seed: what the draw depends on, beside the file names.
            options: the protocol's own, such as `query=500`, and `train_in_database=True`.

        """
        from softhash.data.splits import draw_split  # which builds on this module

        return draw_split(self, protocol, seed=seed, **options)
