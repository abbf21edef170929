"""The likely labels of all slots in memory, for filters, counts and rankings by words."""

import itertools
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from softhash.hamming.words import Words
from softhash.index.kept_model import read_model
from softhash.index.local import _likely_kernels as kernels
from softhash.index.local._columns import Ids
from softhash.index.local._derived_columns import FileCache, rows_at, sound_records
from softhash.index.local._layout import MODEL
from softhash.index.local._likely import RECORD, likely_path
from softhash.index.local._likely_kernels import Bytes, Integers, Scores, Words16
from softhash.model.label_classifier import KEPT_WORDS, NO_WORD

_versions = itertools.count()


class LikelyColumns:
    """Words and probabilities of the first slots; slots after them have none.

    Attributes:
        vocabulary: what words are places in.
        version: another one for all that was read another time.

    """

    def __init__(self, vocabulary: tuple[str, ...], words: Words16, probabilities: Bytes) -> None:
        self.vocabulary, self.version = vocabulary, next(_versions)
        self._words, self._probabilities = words, probabilities

    def take(self, ids: Ids) -> "LikelyColumns":
        """Return the rows of some slots."""
        rows = rows_at(self._words, ids, NO_WORD), rows_at(self._probabilities, ids, 0)
        return LikelyColumns(self.vocabulary, *rows)

    def mask(self, name: str, at_least: float, n: int) -> Words:
        """Return a packed mask of the first n slots: where a word is at least so probable.

        Args:
            name: the word.
            at_least: its probability.
            n: how many slots there are.

        """
        mask = np.zeros((n + 63) // 64, np.uint64)
        if name in self.vocabulary:
            word = self.vocabulary.index(name)
            part = self._words[:n], self._probabilities[:n]
            kernels.extract(*part, word, _least_byte(at_least), mask)
        return mask

    def counts(
        self, at_least: float, labels: Words, numbers: Mapping[str, int], mask: Words
    ) -> Integers:
        """Count the slots in a mask for each word that is so probable and is not given there.

        Args:
            at_least: the probability.
            labels: records (n, words) of given labels.
            numbers: of these labels, by name.
            mask: of the slots that count.

        """
        counts = np.zeros(len(self.vocabulary), np.int64)
        given = np.array([numbers.get(name, 0) for name in self.vocabulary], np.int64)
        columns = self._words, self._probabilities
        kernels.count(*columns, _least_byte(at_least), labels, given, mask, counts)
        return counts

    def scores(
        self, weights: Mapping[str, float], labels: Words, numbers: Mapping[str, int], mask: Words
    ) -> Scores:
        """Return Σ weight·p of each slot in a mask, 0 of others; p is 1 where a label is given.

        Args:
            weights: of words.
            labels: records (n, words) of given labels.
            numbers: of these labels, by name.
            mask: of the slots that count.

        """
        scores = np.zeros(len(labels), np.float64)
        order = {name: place for place, name in enumerate(weights)}
        places = np.array([order.get(name, -1) for name in self.vocabulary], np.int64)
        values = np.array(list(weights.values()), np.float64)
        given = np.array([numbers.get(name, 0) for name in weights], np.int64)
        columns = self._words, self._probabilities
        kernels.score(*columns, places, values, labels, given, mask, scores)
        return scores


def _nothing(n: int) -> tuple[Words16, Bytes]:
    shape = n, KEPT_WORDS
    return np.full(shape, NO_WORD, np.uint16), np.zeros(shape, np.uint8)


def _least_byte(at_least: float) -> int:
    """Return the least byte above 0 that stands for at least that probability; 256 for none."""
    return max(1, int(np.searchsorted(np.arange(256) / 255, at_least)))


NO_COLUMNS = LikelyColumns((), *_nothing(0))


class KeptColumns:
    """What an index keeps in its file now: read when it is first used, and when it has changed."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._cache = folder, FileCache(NO_COLUMNS)

    def read(self, model: str) -> LikelyColumns:
        """Return the columns as they are now; `model` is what the index calls its model."""
        kept = read_model(self._folder / MODEL, model)
        path = likely_path(self._folder, kept)
        return self._cache.read([path], lambda: LikelyColumns(kept.words, *_read(path)))


def _read(path: Path) -> tuple[Words16, Bytes]:
    """Read the records of a file; those that are not sound have no words."""
    words, probabilities = _nothing(path.stat().st_size // RECORD.itemsize)
    for rows, records in sound_records(path, RECORD, len(words)):
        words[rows], probabilities[rows] = records["words"], records["probabilities"]
    return words, probabilities
