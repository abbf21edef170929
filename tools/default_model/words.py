"""Words that name what is in a picture: fitted, calibrated and measured on different pictures.

A word that a collection labels is a logistic regression on features. One that no collection has
stands for classes of the backbone's own classifier, corrected by one regression for all of them.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from tools.default_model.material import CALIBRATE, FIT, MEASURE, Collection
from tools.default_model.vocabulary import EXACT, label_columns

from softhash.model.label_classifier import LabelClassifier, fit_label_classifier, logistic
from softhash.model.published_classes import PublishedClasses

MIN_PRECISION = 0.2  # average precision below which a word is left out
SLOPE_PRIOR, OFFSET_PRIOR = 10.0, 1.0  # how strongly calibration is held at no change
BINS = 10  # of a reliability plot

Floats = NDArray[np.floating]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Word:
    """A word with what was measured of it.

    Attributes:
        name: the word itself.
        source: what it was learned from and measured on.
        precision: its average precision, on pictures that nothing was fitted to.
        positives: how many of these pictures show it.

    """

    name: str
    source: str
    precision: float
    positives: int


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """All words that are good enough, and how reliable their probabilities are.

    Attributes:
        classifier: computes their probabilities.
        words: in the classifier's order.
        left_out: words under `MIN_PRECISION`.
        reliability: rows (mean probability, share that shows it, how many) of labels, by bins.
        published_reliability: the same for words of the published classifier that have labels too.

    """

    classifier: LabelClassifier
    words: list[Word]
    left_out: list[Word]
    reliability: list[tuple[float, float, int]]
    published_reliability: list[tuple[float, float, int]]


def fit_words(
    collections: Sequence[Collection],
    groups: dict[str, list[int]],
    published: tuple[Floats, Floats],
    samples: tuple[Floats, NDArray[np.int64]],
) -> Vocabulary:
    """Fit, calibrate and measure all words.

    Args:
        collections: with labels.
        groups: classes that words stand for, by word.
        published: weight and bias of the backbone's classifier.
        samples: features of pictures, and the class of each.

    """
    learned = _fit_labels(collections)
    kept = {name: one for name, one in learned.items() if one.word.precision >= MIN_PRECISION}
    matched = {name: groups[name] for name in groups if name in kept}
    others = {name: classes for name, classes in groups.items() if name not in kept}
    raw = _published(published, matched, 1.0, 0.0)
    odds, truth = _matched_odds(raw, list(matched), collections, kept, CALIBRATE)
    weight, bias = logistic(*map(_column, (odds, truth)), ridge=1e-6)
    correction = float(weight[0, 0]), float(bias[0])
    words = _published(published, others, *correction)
    found = _measure_samples(words, others, samples)
    good = {one.name: others[one.name] for one in found if one.precision >= MIN_PRECISION}
    rows = [one for one in found if one.name in good]
    classifier = LabelClassifier(
        np.stack([one.weight for one in kept.values()]).astype(np.float32),
        np.array([one.bias for one in kept.values()], np.float32),
        (*kept, *good),
        _published(published, good, *correction),
    )
    odds, truth = _matched_odds(raw, list(matched), collections, kept, MEASURE)
    corrected = correction[0] * odds + correction[1]
    return Vocabulary(
        classifier,
        [*(one.word for one in kept.values()), *rows],
        [one.word for name, one in learned.items() if name not in kept]
        + [one for one in found if one.name not in good],
        reliability(
            np.concatenate([one.probabilities for one in kept.values()]),
            np.concatenate([one.truth for one in kept.values()]),
        ),
        reliability(_sigmoid(corrected), truth),
    )


@dataclass(frozen=True, eq=False)
class _Learned:
    """A regression, and what it says of the pictures to measure with."""

    word: Word
    weight: Floats
    bias: float
    probabilities: Floats
    truth: Flags
    sources: tuple[str, ...]


def _fit_labels(collections: Sequence[Collection]) -> dict[str, _Learned]:
    """Fit a regression for each label; words of the same collections are fitted together."""
    columns = {one.name: label_columns(one) for one in collections}
    together = defaultdict(list)
    for word in sorted({word for some in columns.values() for word in some}):
        sources = tuple(one.name for one in collections if word in columns[one.name])
        together[tuple(name for name in sources if name in EXACT) or sources].append(word)
    learned: dict[str, _Learned] = {}
    for sources, words in together.items():
        used = [one for one in collections if one.name in sources]

        def take(part: int, used=used, words=words) -> tuple[Floats, Flags]:  # noqa: ANN001
            x = np.concatenate([one.features[one.parts[part]] for one in used])
            y = [[columns[one.name][word][one.parts[part]] for word in words] for one in used]
            return x, np.concatenate([np.stack(some, axis=1) for some in y])

        x, y = take(FIT)
        fitted = fit_label_classifier(torch.tensor(x), torch.tensor(y.astype(np.float32)), words)
        (x, y), (test, truth) = take(CALIBRATE), take(MEASURE)
        for place, word in enumerate(words):
            weight, bias = fitted.weight[place], float(fitted.bias[place])
            slope, offset = calibrate(x @ weight + bias, y[:, place])
            weight, bias = slope * weight, slope * bias + offset
            p, shows = _sigmoid(test @ weight + bias), truth[:, place]
            row = Word(word, ", ".join(sources), average_precision(p, shows), int(shows.sum()))
            learned[word] = _Learned(row, weight, bias, p, shows, sources)
    return learned


def calibrate(odds: Floats, truth: Flags) -> tuple[float, float]:
    """Return slope and offset that make log-odds probable (Platt), held at 1 and 0 by a prior."""
    z, y = torch.tensor(odds, dtype=torch.float64), torch.tensor(truth, dtype=torch.float64)
    change = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([change], max_iter=50, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        entropy = torch.nn.functional.binary_cross_entropy_with_logits(
            (1 + change[0]) * z + change[1], y, reduction="sum"
        )
        held = SLOPE_PRIOR / 2 * change[0].square() + OFFSET_PRIOR / 2 * change[1].square()
        (entropy + held).backward()
        return entropy + held

    optimiser.step(loss)
    return 1 + float(change[0].detach()), float(change[1].detach())


def _published(
    published: tuple[Floats, Floats], groups: dict[str, list[int]], slope: float, offset: float
) -> PublishedClasses:
    sizes = [len(classes) for classes in groups.values()]
    members = np.array([place for classes in groups.values() for place in classes])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return PublishedClasses(*published, starts, members, slope, offset)


def _matched_odds(
    raw: PublishedClasses,
    names: list[str],
    collections: Sequence[Collection],
    learned: dict[str, _Learned],
    part: int,
) -> tuple[Floats, Flags]:
    """Return log-odds by the published classifier of words that collections label, and labels."""
    odds, truth = [], []
    for one in collections:
        columns, places = label_columns(one), one.parts[part]
        p = raw.probabilities(one.features[places])
        for column, name in enumerate(names):
            if one.name in learned[name].sources:
                odds.append(np.log(p[:, column] / (1 - p[:, column])))
                truth.append(columns[name][places])
    return np.concatenate(odds), np.concatenate(truth)


def _measure_samples(
    words: PublishedClasses,
    groups: dict[str, list[int]],
    samples: tuple[Floats, NDArray[np.int64]],
) -> list[Word]:
    features, classes = samples
    p = words.probabilities(features)
    rows = []
    for column, (name, group) in enumerate(groups.items()):
        shows = np.isin(classes, group)
        precision = average_precision(p[:, column], shows)
        rows.append(Word(name, "imagenet samples", precision, int(shows.sum())))
    return rows


def average_precision(scores: Floats, truth: Flags) -> float:
    """Return the mean, over pictures that show a word, of the precision down to each of them."""
    hit = truth[np.argsort(-scores, kind="stable")]
    if not hit.any():
        return 0.0
    return float((np.cumsum(hit) / np.arange(1, len(hit) + 1))[hit].mean())


def reliability(p: Floats, truth: Flags) -> list[tuple[float, float, int]]:
    """Return, for bins of probability: its mean, the share that is true, and how many there are."""
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    return [
        (float(p[bins == i].mean()), float(truth[bins == i].mean()), int((bins == i).sum()))
        for i in range(BINS)
        if (bins == i).any()
    ]


def _sigmoid(z: Floats) -> Floats:
    return 1 / (1 + np.exp(-z))


def _column(values: NDArray) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)[:, None]
