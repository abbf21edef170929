"""Stores that keep likely labels, without a model: a vocabulary is all that they need."""

import numpy as np

from softhash.model.config import ModelConfig
from softhash.model.folder import CONFIG, GRAPH, LABELS, WEIGHTS
from softhash.model.label_classifier import LikelyRows


def keep_words(store, words):
    """Make an empty store keep likely labels of this vocabulary."""
    if hasattr(store.likely, "keep"):
        folder = store.model_folder
        folder.mkdir()
        config = ModelConfig(store.meta.bits, None, 4, classes=tuple(words), sha256={LABELS: "ab"})
        (folder / CONFIG).write_text(config.to_json())
        for name in (WEIGHTS, GRAPH):
            (folder / name).touch()
        store.likely.keep()
    else:
        store.likely.words = tuple(words)
    assert store.likely.words == tuple(words)


def likely_rows(words, *rows):
    """Build rows from dicts of a word and a byte."""
    places = np.full((len(rows), 12), 65535, np.uint16)
    values = np.zeros((len(rows), 12), np.uint8)
    for at, row in enumerate(rows):
        for place, (word, value) in enumerate(row.items()):
            places[at, place], values[at, place] = words.index(word), value
    return LikelyRows(places, values)
