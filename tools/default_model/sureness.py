"""How sure a hit is: fitted on queries that nothing else was fitted to, measured on others."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from tools.default_model.codes import FITTED, LEARNED, find_prior, learn_bits, whole_code
from tools.default_model.material import CALIBRATE, FIT, MEASURE, Collection
from tools.default_model.words import reliability

from softhash.codes import pack
from softhash.hamming import nearest
from softhash.model.label_classifier import LabelClassifier, logistic
from softhash.model.sureness import TERMS, Sureness, expected_overlap, terms

QUERIES = 400  # of each collection
HITS = 100  # of each query
BITS = LEARNED + FITTED

Rows = tuple[NDArray[np.float64], NDArray[np.bool_]]  # terms (n, 4), and whether a label is shared


def fit_sureness(
    collections: Sequence[Collection], classifier: LabelClassifier
) -> tuple[Sureness, dict[str, list[tuple[float, float, int]]]]:
    """Fit the regression, and return it with its reliability on each collection.

    Args:
        collections: codes are learned from the parts to fit to.
        classifier: of likely labels, fitted to the same parts.

    """
    fit = [(one.features[one.parts[FIT]], one.labels[one.parts[FIT]]) for one in collections]
    learned, prior = learn_bits(fit), find_prior([x for x, _ in fit])
    found: dict[str, dict[int, Rows]] = {}
    for one in collections:
        places = np.concatenate([one.parts[CALIBRATE], one.parts[MEASURE]])
        code = whole_code(learned, one.features[places], prior)
        packed = pack(code(one.features[places]).astype(np.float32))
        likely = _likely(classifier, one.features[places])
        first = len(one.parts[CALIBRATE])
        found[one.name] = {
            part: _rows(packed, likely, one.labels[places], range(start, start + QUERIES))
            for part, start in ((CALIBRATE, 0), (MEASURE, first))
        }
    x, y = (
        np.concatenate(some)
        for some in zip(*(one[CALIBRATE] for one in found.values()), strict=True)
    )
    weight, bias = logistic(
        torch.tensor(x[:, 1:]), torch.tensor(y[:, None], dtype=torch.float64), ridge=1e-3
    )
    sureness = Sureness(np.concatenate([bias.numpy(), weight[0].numpy()]))
    measured = {
        name: reliability(
            1 / (1 + np.exp(-(some[MEASURE][0] @ sureness.weights))), some[MEASURE][1]
        )
        for name, some in found.items()
    }
    return sureness, measured


def _likely(classifier: LabelClassifier, features: NDArray[np.float32]) -> list[dict[str, float]]:
    """Return what an index keeps of the likely labels of pictures."""
    words, p = classifier.most_likely(features)
    return [
        {classifier.classes[w]: b / 255 for w, b in zip(*row, strict=True) if b}
        for row in zip(words.tolist(), p.tolist(), strict=True)
    ]


def _rows(
    codes: NDArray[np.uint8],
    likely: list[dict[str, float]],
    labels: NDArray[np.uint8],
    queries: range,
) -> Rows:
    def look() -> Iterator[tuple[NDArray[np.float64], bool]]:
        distances, places = nearest(codes[queries.start : queries.stop], codes, HITS + 1)
        for query, row, far in zip(queries, places.tolist(), distances.tolist(), strict=True):
            certainty = max(likely[query].values(), default=0.0)
            for item, distance in zip(row, far, strict=True):
                if item != query:
                    overlap = expected_overlap(likely[query], likely[item])
                    shared = bool((labels[query] & labels[item]).any())
                    yield terms(distance / BITS, overlap, certainty), shared

    seen, shared = zip(*look(), strict=True)
    return np.array(seen).reshape(-1, TERMS), np.array(shared)
