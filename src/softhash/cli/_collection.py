"""A collection read for a command that works on all of it."""

from typing import TYPE_CHECKING

from softhash.cli._output import warn

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet


def read_collection(images: str, format: str | None = None) -> "ImageSet":
    """Read a collection, and tell what was left out of it."""
    from softhash.data.image_set import ImageSet

    collection = ImageSet.read(images, format)
    for note in collection.notes:
        warn(note)
    if collection.missing:
        warn(
            f"{len(collection.missing):,} files are named and missing; `softhash check` lists them"
        )
    return collection
