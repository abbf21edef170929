"""Likely labels of a picture, from the backbone's features.

A logistic regression for each label, fitted beside the codes. It is not made of the codes: those of
pictures they were trained on are surer than any others, and probabilities fitted to them are wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from softhash.errors import InputError
from softhash.model._logits import logits
from softhash.model._safetensors import read_arrays
from softhash.model.config import ModelConfig
from softhash.model.folder import LABELS, read_part
from softhash.model.published_classes import PREFIX, PublishedClasses
from softhash.model.sureness import TERMS, Sureness

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float32]

SURENESS = "sureness"  # the tensor of a file that has it
MIN_PROBABILITY = 0.3  # labels less probable than this are not named,
MAX_LABELS = 8  # nor are more than so many
KEPT_WORDS = 12  # labels of a picture that an index keeps, with their probabilities;
NO_WORD = 65535  # where there are fewer
ITERATIONS = 50
RIDGES = (30.0, 100.0, 300.0, 1000.0)
MAX_ROWS = 20_000  # pictures to fit to; of more, every so many-th is taken
MAX_CHOOSING = 32  # labels that choose the ridge, from common to rare; it is the same for all


class LikelyRows(NamedTuple):
    """The most probable labels of pictures, small enough to be kept: the most probable first.

    Attributes:
        words: places of the labels in `LabelClassifier.classes` (n, 12), `NO_WORD` where unused.
        probabilities: p·255 (n, 12), rounded; 0 where unused, and nowhere else.

    """

    words: NDArray[np.uint16]
    probabilities: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class LabelClassifier:
    """A logistic regression for each label: probabilities σ(x Wᵀ + b) of features x.

    Further labels may stand for classes of the backbone's own classifier; they come last.

    >>> weight, bias = np.array([[2.0, 0.0]], np.float32), np.zeros(1, np.float32)
    >>> classifier = LabelClassifier(weight, bias, ("cat",))
    >>> classifier.probabilities(np.array([[1.0, -1.0], [-1.0, 1.0]])).round(2).tolist()
    [[0.88], [0.12]]
    """

    weight: Floats  # (labels, features)
    bias: Floats  # (labels,)
    classes: tuple[str, ...]
    published: PublishedClasses | None = None
    sureness: Sureness | None = None  # of hits, by likely labels and distances
    _last: list[tuple[bytes, NDArray[np.float64]]] = field(
        default_factory=list, init=False, repr=False
    )

    def probabilities(self, x: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return how probable each label is for each row of x (n, features)."""
        return self._of_one(x) if len(x) == 1 else self._compute(x)

    def _of_one(self, x: NDArray[np.floating]) -> NDArray[np.float64]:
        """Compute those of one picture once: a search names its labels, and judges hits by them."""
        row = x.tobytes()
        for known, found in self._last:
            if known == row:
                return found
        found = self._compute(x)
        found.flags.writeable = False
        self._last[:] = [(row, found)]
        return found

    def _compute(self, x: NDArray[np.floating]) -> NDArray[np.float64]:
        odds = logits(x, self.weight, self.bias)
        probabilities: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
        if self.published is None:
            return probabilities
        return np.hstack((probabilities, self.published.probabilities(x)))

    def likely(
        self, x: NDArray[np.floating], least: float = MIN_PROBABILITY
    ) -> list[dict[str, float]]:
        """Name the labels of each row that are at least so probable, the most probable first.

        >>> weight = np.array([[2.0], [-2.0], [9.0]], np.float32)
        >>> classifier = LabelClassifier(weight, np.zeros(3, np.float32), ("cat", "dog", "sofa"))
        >>> [list(one) for one in classifier.likely(np.ones((1, 1)))]
        [['sofa', 'cat']]
        """
        rows = self.probabilities(x)
        return [
            {self.classes[i]: round(float(row[i]), 4) for i in order if row[i] >= least}
            for row, order in zip(rows, np.argsort(-rows, axis=1)[:, :MAX_LABELS], strict=True)
        ]

    def most_likely(self, x: NDArray[np.floating]) -> LikelyRows:
        """Find the twelve most probable labels of each row (n, features).

        >>> weight = np.array([[2.0], [-9.0], [9.0]], np.float32)
        >>> classifier = LabelClassifier(weight, np.zeros(3, np.float32), ("cat", "dog", "sofa"))
        >>> words, probabilities = classifier.most_likely(np.ones((1, 1)))
        >>> words[0, :3].tolist(), probabilities[0, :3].tolist()
        ([2, 0, 65535], [255, 225, 0])
        """
        found = self.probabilities(x)
        count = min(KEPT_WORDS, found.shape[1])
        top = np.argpartition(-found, count - 1, axis=1)[:, :count]
        top.sort(axis=1)  # so that of equal ones the first comes first
        values = np.take_along_axis(found, top, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        words = np.full((len(found), KEPT_WORDS), NO_WORD, np.uint16)
        probabilities = np.zeros((len(found), KEPT_WORDS), np.uint8)
        probabilities[:, :count] = np.rint(255 * np.take_along_axis(values, order, axis=1))
        words[:, :count] = np.take_along_axis(top, order, axis=1)
        words[probabilities == 0] = NO_WORD
        return LikelyRows(words, probabilities)

    def to_bytes(self) -> bytes:
        """Write it as safetensors."""
        from safetensors.numpy import save

        arrays = {"weight": self.weight, "bias": self.bias}
        if self.published:
            arrays |= self.published.to_arrays()
        if self.sureness:
            arrays[SURENESS] = self.sureness.weights.astype(np.float32)
        return save(arrays)

    @classmethod
    def read(cls, folder: Path, config: ModelConfig) -> Self | None:
        """Read what a model's folder has of `to_bytes`, which may be nothing."""
        if LABELS not in config.sha256:
            return None
        found = read_arrays(read_part(folder, LABELS, config), str(folder / LABELS))
        return cls.from_arrays(found, config, str(folder / LABELS))

    @classmethod
    def from_arrays(cls, found: Mapping[str, NDArray[Any]], config: ModelConfig, name: str) -> Self:
        """Take the arrays of a file, and check that they fit the model.

        Args:
            found: arrays by name, as `to_bytes` writes them.
            config: the model's settings.
            name: what errors call the file.

        Raises:
            InputError: some are missing, or of another model.

        """
        try:
            weight, bias = found["weight"].astype(np.float32), found["bias"].astype(np.float32)
        except KeyError as error:
            raise InputError(f"{name} is damaged, it lacks {error}") from None
        published = None
        if any(key.startswith(PREFIX) for key in found):
            published = PublishedClasses.from_arrays(found, config.features, name)
        sure = found.get(SURENESS)
        if sure is not None and sure.shape != (TERMS,):
            raise InputError(f"{name} is damaged: {SURENESS} has the shape {sure.shape}")
        expected = len(config.classes) - len(published or ()), config.features
        if weight.shape != expected or bias.shape != expected[:1]:
            raise InputError(
                f"{name} has the shape {weight.shape}, but config.json has {expected}: "
                "the files are of different models"
            )
        sureness = None if sure is None else Sureness(sure.astype(np.float64))
        return cls(weight, bias, config.classes, published, sureness)


def fit_label_classifier(
    x: "Tensor",
    labels: "Tensor",
    classes: Sequence[str],
    ridges: Sequence[float] = RIDGES,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> LabelClassifier:
    """Fit the regressions to features (n, d) and multi-hot labels (n, classes).

    What is minimised is the cross-entropy summed over pictures, plus ridge/2·‖W‖² of standardised
    features. Of several ridges, it is the one by which each half of the pictures best predicts some
    labels of the other.

    Args:
        x: features (n, d) of a train set.
        labels: multi-hot (n, classes).
        classes: the name of each label.
        ridges: the strengths of regularisation to choose from.
        progress: called with (ridges tried, ridges and the final fit).

    """
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    from softhash.model.heads import choose_scale

    step = -(-len(x) // MAX_ROWS)
    x, labels = x[::step], labels[::step]
    std, mean = torch.std_mean(x, dim=0, correction=0)
    scale = choose_scale(std)
    standard, y = ((x - mean) / scale).float().cpu(), labels.float().cpu()
    halves = [slice(0, None, 2), slice(1, None, 2)]
    by_count = y.sum(dim=0).argsort(descending=True, stable=True)
    some = y[:, by_count[:: max(1, -(-len(by_count) // MAX_CHOOSING))].sort().values]

    def surprise(ridge: float) -> float:
        """Cross-entropy of each half by regressions on the other, which has half the pictures."""
        entropy = 0.0
        for one, other in (halves, halves[::-1]):
            weight, bias = logistic(standard[one], some[one], ridge / 2)
            logits = standard[other] @ weight.T + bias
            entropy += float(binary_cross_entropy_with_logits(logits, some[other], reduction="sum"))
        return entropy

    surprises = []
    for tried, ridge in enumerate(ridges if len(ridges) > 1 else ()):
        progress(tried, len(ridges) + 1)
        surprises.append(surprise(ridge))
    progress(len(ridges), len(ridges) + 1)
    best = ridges[surprises.index(min(surprises))] if surprises else ridges[0]
    weight, bias = logistic(standard, y, best)
    weight = weight / scale.cpu()
    bias = bias - weight @ mean.cpu()
    return LabelClassifier(weight.float().numpy(), bias.float().numpy(), tuple(classes))


def logistic(x: "Tensor", y: "Tensor", ridge: float) -> "tuple[Tensor, Tensor]":
    """Return weights and bias of logistic regressions, by L-BFGS from how common labels are.

    Args:
        x: features (n, d), standardised.
        y: multi-hot labels (n, k).
        ridge: strength of regularisation.

    """
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    weight = x.new_zeros(y.shape[1], x.shape[1], requires_grad=True)
    bias = ((y.sum(0) + 0.5) / (len(y) + 1)).logit().requires_grad_()
    optimiser = torch.optim.LBFGS(
        [weight, bias], max_iter=ITERATIONS, line_search_fn="strong_wolfe"
    )

    def loss() -> float:
        optimiser.zero_grad()
        entropy = binary_cross_entropy_with_logits(x @ weight.T + bias, y, reduction="sum")
        total = (entropy + ridge / 2 * weight.square().sum()) / len(y)
        total.backward()  # type: ignore[no-untyped-call]
        return float(total.detach())

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    return weight.detach(), bias.detach()
