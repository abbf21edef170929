"""Codes and labels together, on the processor: one part of the queries per thread."""

import numpy as np
import numpy.typing as npt

from softhash._threads import in_parts
from softhash.codes import Codes
from softhash.hamming import _count_kernels
from softhash.hamming.words import Words, as_words

Labels = npt.NDArray[np.uint8]


def _flat_words(queries: Codes, items: Codes) -> tuple[tuple[Words, Words], tuple[int, ...]]:
    """Return both sides as flat words, and a tuple as long as a row."""
    query_words, words = as_words(queries), as_words(items)
    return (query_words.reshape(-1), words.reshape(-1)), (0,) * words.shape[1]


def _packed(labels: Labels) -> Codes:
    return np.packbits(np.asarray(labels) > 0, axis=1)


def _levels(query_labels: Labels, labels: Labels) -> int:
    """Count the levels 0, 1, 2, … of shared labels that can occur."""
    most = [int((np.asarray(side) > 0).sum(axis=1).max()) for side in (query_labels, labels)]
    return min(most) + 1


def histogram(
    query_codes: Codes, codes: Codes, query_labels: Labels, labels: Labels, threads: int
) -> npt.NDArray[np.int32]:
    """Count the items at each distance and number of shared labels, for each query."""
    words, width = _flat_words(query_codes, codes)
    label_words, label_width = _flat_words(_packed(query_labels), _packed(labels))
    counts = np.zeros(
        (len(query_codes), 8 * codes.shape[1] + 1, _levels(query_labels, labels)), np.int32
    )

    def work(start: int, stop: int) -> None:
        _count_kernels.histogram(words, label_words, start, counts[start:stop], width, label_width)

    in_parts(len(query_codes), threads, work)
    return counts


def ranked_gains(
    query_codes: Codes,
    codes: Codes,
    query_labels: Labels,
    labels: Labels,
    first: int,
    threads: int,
) -> npt.NDArray[np.uint16]:
    """Count the shared labels of the ``first`` nearest items, ties in database order."""
    words, width = _flat_words(query_codes, codes)
    label_words, label_width = _flat_words(_packed(query_labels), _packed(labels))
    shape = 8 * codes.shape[1] + 1, _levels(query_labels, labels)
    gains = np.empty((len(query_codes), first), np.uint16)

    def work(start: int, stop: int) -> None:
        part = gains[start:stop]
        _count_kernels.ranked_gains(words, label_words, start, shape, part, width, label_width)

    in_parts(len(query_codes), threads, work)
    return gains
