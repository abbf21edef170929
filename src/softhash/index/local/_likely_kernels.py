"""Kernels over likely labels: words (n, 12) and bytes of probability (n, 12), one row per slot."""

import numpy as np
import numpy.typing as npt
from numba import float64, int64, uint64

from softhash._kernels import kernel
from softhash.hamming.words import Words
from softhash.model.label_classifier import KEPT_WORDS

Words16 = npt.NDArray[np.uint16]
Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


@kernel
def extract(words: Words16, probabilities: Bytes, word: int, least: int, mask: Words) -> None:
    """Set the bits of a packed mask of those rows that have a word with at least that byte."""
    for group in range(mask.size):
        found = uint64(0)
        for i in range(min(64, words.shape[0] - 64 * group)):
            row = uint64(64 * group + i)
            hit = False
            for place in range(KEPT_WORDS):
                hit |= (words[row, place] == word) & (probabilities[row, place] >= least)
            found |= uint64(hit) << uint64(i)
        mask[group] = found


@kernel
def count(
    words: Words16,
    probabilities: Bytes,
    least: int,
    labels: Words,
    numbers: Integers,
    mask: Words,
    counts: Integers,
) -> None:
    """Count the rows in a mask by word, where it has at least that byte and is not given.

    Args:
        words: places in the vocabulary.
        probabilities: a byte each.
        least: the least byte that counts.
        labels: records (n, words) of given labels.
        numbers: of the label that each word of the vocabulary is, 0 for none.
        mask: of the rows that count.
        counts: of each word; added to.

    """
    for row in range(min(words.shape[0], labels.shape[0])):
        if not mask[row >> 6] >> uint64(row & 63) & uint64(1):
            continue
        for place in range(KEPT_WORDS):
            word = int64(words[row, place])
            if word < counts.size and probabilities[row, place] >= least:
                number = numbers[word]
                bit = labels[row, number >> 6] >> uint64(number & 63) & uint64(1)
                counts[word] += number == 0 or not bit


@kernel
def score(
    words: Words16,
    probabilities: Bytes,
    places: Integers,
    weights: Scores,
    labels: Words,
    numbers: Integers,
    mask: Words,
    scores: Scores,
) -> None:
    """Sum up weight·p of each row in a mask, in the order of the weights; p is 1 where given.

    Args:
        words: places in the vocabulary.
        probabilities: a byte each.
        places: of the words of the vocabulary among the weights, -1 for none.
        weights: to sum up.
        labels: records (n, words) of given labels.
        numbers: of the label that each weight is of, 0 for none.
        mask: of the rows that count.
        scores: of each row; left as they are where a row does not count.

    """
    found = np.zeros(weights.size, np.float64)
    for row in range(scores.size):
        if not mask[row >> 6] >> uint64(row & 63) & uint64(1):
            continue
        found[:] = 0
        if row < words.shape[0]:
            for place in range(KEPT_WORDS):
                word = int64(words[row, place])
                if word < places.size and places[word] >= 0:
                    found[places[word]] = float64(probabilities[row, place]) / 255
        total = 0.0
        for i in range(weights.size):
            number = numbers[i]
            if number and labels[row, number >> 6] >> uint64(number & 63) & uint64(1):
                found[i] = 1
            total += weights[i] * found[i]
        scores[row] = total
