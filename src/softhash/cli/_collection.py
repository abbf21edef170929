"""A collection read and split for a command, with everything to keep in mind about it on stderr."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softhash.cli._output import warn

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.data.loading import Broken
    from softhash.data.splits.split import Split

BROKEN_SHOWN = 10


def read_collection(
    images: str, format: str | None = None, *, concepts: int | None = None, labelled: bool = False
) -> "ImageSet":
    """Read a collection, and print what was left out of it.

    Args:
        images: a folder, a table, or `scenes`.
        format: its layout, where detection is not wanted.
        concepts: how many labels to read, for the layouts that have such an option.
        labelled: whether pictures without labels are left out.

    """
    from softhash.data.formats import detect
    from softhash.data.image_set import ImageSet

    options: dict[str, Any] = {}
    if concepts is not None:
        format, options = format or detect(Path(images)), {"concepts": concepts}
    collection = ImageSet.read(images, format, **options)
    for note in collection.notes:
        warn(note)
    if collection.missing:
        warn(
            f"{len(collection.missing):,} files are named and missing; `softhash check` lists them"
        )
    if labelled and collection.without_labels.any():
        count = int(collection.without_labels.sum())
        warn(f"{count:,} pictures without labels are left out")
        collection = collection.select(~collection.without_labels)
    return collection


def split_collection(images: "ImageSet", protocol: str, *, seed: int = 0) -> "Split":
    """Split a collection, and print what was left out or done otherwise than asked.

    Args:
        images: the collection.
        protocol: the name of a protocol, or a split file.
        seed: of the split.

    """
    split = images.split(protocol, seed=seed)
    for note in split.notes:
        warn(note)
    return split


def warn_broken(broken: "Sequence[Broken]", total: int) -> None:
    """Name the first pictures that could not be read, and count them all.

    Args:
        broken: the pictures, with the reasons.
        total: how many there were with those that could be read.

    """
    for one in broken[:BROKEN_SHOWN]:
        warn(f"skipped: {one.reason}")
    if broken:
        warn(f"{len(broken):,} of {total:,} pictures cannot be read; `softhash check` lists them")
