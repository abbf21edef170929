"""A collection read and split for a command, with everything to keep in mind about it on stderr."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softhash.cli._output import warn

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.data.loading import Broken
    from softhash.data.splits.split import Split

BROKEN_SHOWN = 10

LabelsFrom = Annotated[
    list[str] | None,
    typer.Option(
        help="More labels: `folders`, the names of the folders that a picture is in, or `tags`, "
        "XMP and IPTC keywords in it or beside it; give it twice for both."
    ),
]


def read_collection(
    images: str,
    format: str | None = None,
    *,
    concepts: int | None = None,
    labelled: bool = False,
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


def label_collection(collection: "ImageSet", labels_from: Sequence[str]) -> "ImageSet":
    """Add labels from folders and tags; print where there are tags that nobody asked for."""
    from softhash.cli._progress import show_progress
    from softhash.data.labelling import TAGS_HINT, add_labels, has_tags

    if not labels_from:
        if not collection.classes and has_tags(collection):
            warn(TAGS_HINT)
        return collection
    with show_progress("reading labels", "pictures") as progress:
        labelled = add_labels(collection, labels_from, progress=progress)
    for note in labelled.notes[len(collection.notes) :]:
        warn(note)
    return labelled


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


def warn_skipped(broken: "Sequence[Broken]", beside: Mapping[str, int]) -> None:
    """Name the first pictures that could not be read, and count all skipped files by kind.

    Args:
        broken: the pictures, with the reasons.
        beside: other files that are not read, as `ImageSet.skipped` counts them.

    """
    from softhash.data.skipped import count_skipped, describe_skipped

    for one in [one for one in broken if one.kind != "heic"][:BROKEN_SHOWN]:
        warn(f"skipped: {one.reason}")
    if counts := count_skipped(beside, broken):
        warn(describe_skipped(counts) + ("; `softhash check` lists broken ones" if broken else ""))
