"""Logits: the same for one picture as for many, and computed once where asked for twice."""

from math import fsum

import numpy as np
import pytest

from softhash.model import label_classifier
from softhash.model._logits import FEW, logits
from softhash.model.label_classifier import LabelClassifier

RNG = np.random.default_rng(0)
WEIGHT = RNG.standard_normal((23, 77)).astype(np.float32)
BIAS = RNG.standard_normal(23).astype(np.float32)


def exact(x, weight, bias):
    """Sum without rounding, as far as doubles hold the products."""

    def logit(row, row_weight, offset):
        return fsum([*(a * b for a, b in zip(row, row_weight, strict=True)), offset])

    classes = list(zip(weight, bias, strict=True))
    return [[logit(row, *of) for of in classes] for row in np.asarray(x, np.float64).tolist()]


@pytest.mark.parametrize("rows", [0, 1, 2, FEW, FEW + 1])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_logits_are_the_sums_of_products(rows, kind):
    x = RNG.standard_normal((rows, 77)).astype(kind)
    expected = np.reshape(exact(x, WEIGHT.tolist(), BIAS.tolist()), (rows, 23))
    np.testing.assert_allclose(logits(x, WEIGHT, BIAS), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("weight", [WEIGHT.astype(np.float64), np.asfortranarray(WEIGHT)])
def test_weights_of_another_kind_or_order_give_the_same(weight):
    x = RNG.standard_normal((77, 2)).T
    np.testing.assert_allclose(logits(x, weight, BIAS), logits(x, WEIGHT, BIAS), atol=1e-12)


def test_the_labels_of_a_picture_are_computed_once_however_often_they_are_asked_for(monkeypatch):
    calls = []
    monkeypatch.setattr(
        label_classifier, "logits", lambda *given: calls.append(given) or logits(*given)
    )
    classifier = LabelClassifier(WEIGHT, BIAS, tuple(f"label {i}" for i in range(23)))
    one, other = RNG.standard_normal((2, 1, 77)).astype(np.float32)
    alone = classifier.probabilities(one).copy()
    classifier.likely(one)
    classifier.most_likely(one.copy())
    assert len(calls) == 1
    classifier.likely(other)
    assert len(calls) == 2
    both = classifier.probabilities(np.vstack((one, other)))
    np.testing.assert_allclose(both[:1], alone, atol=1e-12)
    np.testing.assert_allclose(both[1:], classifier.probabilities(other), atol=1e-12)


def test_what_is_kept_of_a_picture_cannot_be_written_to():
    classifier = LabelClassifier(WEIGHT, BIAS, tuple(f"label {i}" for i in range(23)))
    found = classifier.probabilities(np.ones((1, 77), np.float32))
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = 0.0
