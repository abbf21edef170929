"""Words that stand for classes of a softmax."""

import math

import numpy as np
import pytest

from softhash import InputError
from softhash.model.config import ModelConfig
from softhash.model.label_classifier import LabelClassifier
from softhash.model.published_classes import PublishedClasses
from softhash.model.sureness import Sureness


@pytest.fixture
def words():
    draw = np.random.default_rng(0)
    weight = draw.standard_normal((4, 3)).astype(np.float32)
    starts, members = np.array([0, 1, 3]), np.array([2, 0, 3])
    return PublishedClasses(weight, np.zeros(4, np.float32), starts, members, 0.5, -0.25)


def test_a_word_has_the_corrected_sum_of_its_classes(words):
    x = np.array([[0.3, -1.0, 2.0]])
    logits = [sum(w * v for w, v in zip(row, x[0], strict=True)) for row in words.weight.tolist()]
    shares = [math.exp(one) / sum(map(math.exp, logits)) for one in logits]
    for column, classes in enumerate(([2], [0, 3])):
        p = sum(shares[one] for one in classes)
        expected = 1 / (1 + math.exp(-(0.5 * math.log(p / (1 - p)) - 0.25)))
        assert words.probabilities(x)[0, column] == pytest.approx(expected, rel=1e-6)


def test_a_certain_class_is_finite(words):
    found = words.probabilities(np.array([[1e4, 0, 0], [-1e4, 0, 0]]))
    assert np.isfinite(found).all()
    assert ((found > 0) & (found < 1)).all()


def test_a_classifier_with_words_is_read_as_it_was_written(words, tmp_path):
    draw = np.random.default_rng(1)
    names = ("sea", "dog", "cat")
    weight, bias = draw.standard_normal((1, 3)).astype(np.float32), np.ones(1, np.float32)
    before = LabelClassifier(weight, bias, names, words, Sureness(np.arange(4.0)))
    (tmp_path / "labels.safetensors").write_bytes(before.to_bytes())
    from softhash.model.folder import sha256

    config = ModelConfig(8, None, 3, classes=names)
    config = config.with_sha256({"labels.safetensors": sha256(before.to_bytes())})
    again = LabelClassifier.read(tmp_path, config)
    x = draw.standard_normal((5, 3))
    assert np.allclose(again.probabilities(x), before.probabilities(x))
    assert again.probabilities(x).shape == (5, 3)
    assert again.sureness.weights.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("published.starts", np.array([0, 5], np.int32)),
        ("published.starts", np.array([0, 3, 3], np.int32)),
        ("published.starts", np.array([0.0, 1.0, 3.0], np.float32)),
        ("published.members", np.array([2, 0, 9], np.int32)),
        ("published.members", np.array([2, 0, -1], np.int32)),
        ("published.bias", np.zeros(7, np.float32)),
        ("published.correction", np.zeros(3, np.float32)),
        ("sureness", np.zeros(9, np.float32)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(words, name, array):
    found = {"weight": np.zeros((1, 3)), "bias": np.zeros(1), **words.to_arrays(), name: array}
    config = ModelConfig(8, None, 3, classes=("sea", "dog", "cat"))
    with pytest.raises(InputError, match=r"damaged|different models"):
        LabelClassifier.from_arrays(found, config, "labels.safetensors")


def test_a_missing_array_is_named(words):
    found = {"weight": np.zeros((1, 3)), "bias": np.zeros(1), **words.to_arrays()}
    del found["published.members"]
    config = ModelConfig(8, None, 3, classes=("sea", "dog", "cat"))
    with pytest.raises(InputError, match=r"lacks 'published\.members'"):
        LabelClassifier.from_arrays(found, config, "labels.safetensors")
