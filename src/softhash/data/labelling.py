"""Labels that no annotation file holds: the names of folders, and the tags within pictures."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np

from softhash.data._keywords import clean_keywords
from softhash.data.formats.assembly import check_label_matrix, one_of
from softhash.data.image_set import ImageSet
from softhash.data.listing import Listing
from softhash.data.loading import Progress
from softhash.data.names import several
from softhash.data.tags import read_tags
from softhash.devices import usable_cores
from softhash.errors import InputError

READ_AT_ONCE = 256
LOOKED_AT = 32  # pictures, to find out whether a collection has tags

TAGS_HINT = "some of these pictures have tags; --labels-from tags makes them labels"

Words = list[list[str]]  # of each picture


def add_labels(
    images: ImageSet, sources: Sequence[str], *, progress: Progress | None = None
) -> ImageSet:
    """Return a set with more labels than its layout gives; new classes come last, sorted.

    Args:
        images: the set.
        sources: `folders`, each folder on the way to a picture, or `tags`, the XMP and IPTC
            keywords in it and in sidecars; or both.
        progress: called with (pictures looked at, pictures in all).

    Raises:
        UsageError: there is no such source.

    """
    if not sources:
        return images
    notes = list(images.notes)
    given: list[list[str]] = [[] for _ in images.file_names]
    for source in dict.fromkeys(sources):
        words, problems = SOURCES[one_of("source of labels", source, SOURCES)](images, progress)
        different = len({word for row in words for word in row})
        labelled = sum(map(bool, words))
        notes.append(
            f"{labelled:,} of {len(images):,} pictures have labels from {source}, "
            f"{different:,} different ones"
        )
        notes += problems
        given = [[*row, *more] for row, more in zip(given, words, strict=True)]
    return _with_words(replace(images, notes=tuple(notes)), given)


def has_tags(images: ImageSet) -> bool:
    """Return whether any of a few pictures, spread over the set, has tags."""
    step = max(len(images) // LOOKED_AT, 1)
    words, problems = _from_tags(images.select(range(0, len(images), step)[:LOOKED_AT]), None)
    return any(words) or bool(problems)


def _with_words(images: ImageSet, words: Words) -> ImageSet:
    new = sorted(set().union(*words) - set(images.classes)) if words else []
    classes = (*images.classes, *new)
    check_label_matrix(len(images), classes)
    column = {name: i for i, name in enumerate(classes)}
    labels = np.zeros((len(images), len(classes)), np.uint8)
    labels[:, : len(images.classes)] = images.labels
    for row, of_one in zip(labels, words, strict=True):
        row[[column[word] for word in of_one]] = 1
    return replace(images, labels=labels, classes=classes)


def _from_folders(images: ImageSet, _: Progress | None) -> tuple[Words, list[str]]:
    return [clean_keywords(name.split("/")[:-1]) for name in images.file_names], []


def _from_tags(images: ImageSet, progress: Progress | None) -> tuple[Words, list[str]]:
    """Read tags in threads, which wait for the disk together."""
    read = partial(_read_or_error, images, Listing(images.root))
    words: Words = []
    wrong: list[str] = []
    with ThreadPoolExecutor(usable_cores()) as pool:
        for start in range(0, len(images), READ_AT_ONCE):
            for found in pool.map(read, images.file_names[start : start + READ_AT_ONCE]):
                if isinstance(found, str):
                    wrong.append(found)
                words.append([] if isinstance(found, str) else found)
            if progress:
                progress(len(words), len(images))
    problems = [f"the tags of {len(wrong):,} pictures cannot be read: {several(wrong)}"]
    return words, problems if wrong else []


def _read_or_error(images: ImageSet, listing: Listing, name: str) -> list[str] | str:
    try:
        return read_tags(images.root, name, listing)
    except InputError as error:
        return f"{name} ({error.detail})"


SOURCES: dict[str, Callable[[ImageSet, Progress | None], tuple[Words, list[str]]]] = {
    "folders": _from_folders,
    "tags": _from_tags,
}


def source_names(sources: str | Iterable[str]) -> list[str]:
    """Return sources of labels as a list; text may name several, with commas between them.

    >>> source_names("folders,tags"), source_names(["tags"])
    (['folders', 'tags'], ['tags'])
    """
    texts = [sources] if isinstance(sources, str) else sources
    return [name.strip() for text in texts for name in text.split(",")]
