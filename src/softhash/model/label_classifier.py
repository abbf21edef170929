"""Likely labels of a picture, from the backbone's features.

A logistic regression for each label, fitted beside the codes. It is not made of the codes: those of
pictures they were trained on are surer than any others, and probabilities fitted to them are wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from softhash.errors import InputError
from softhash.model._safetensors import read_arrays
from softhash.model.config import ModelConfig
from softhash.model.folder import LABELS, read_part

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float32]

MIN_PROBABILITY = 0.3  # labels less probable than this are not named,
MAX_LABELS = 8  # nor are more than so many
ITERATIONS = 50
RIDGES = (30.0, 100.0, 300.0, 1000.0)
MAX_ROWS = 20_000  # pictures to fit to; of more, every so many-th is taken
MAX_CHOOSING = 32  # labels that choose the ridge, from common to rare; it is the same for all


@dataclass(frozen=True, eq=False)
class LabelClassifier:
    """A logistic regression for each label: probabilities σ(x Wᵀ + b) of features x.

    >>> weight, bias = np.array([[2.0, 0.0]], np.float32), np.zeros(1, np.float32)
    >>> classifier = LabelClassifier(weight, bias, ("cat",))
    >>> classifier.probabilities(np.array([[1.0, -1.0], [-1.0, 1.0]])).round(2).tolist()
    [[0.88], [0.12]]
    """

    weight: Floats  # (classes, features)
    bias: Floats  # (classes,)
    classes: tuple[str, ...]

    def probabilities(self, x: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return how probable each label is for each row of x (n, features)."""
        logits = np.asarray(x, np.float64) @ self.weight.T + self.bias
        probabilities: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(logits, -500, 500)))
        return probabilities

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

    def to_bytes(self) -> bytes:
        """Write it as safetensors."""
        from safetensors.numpy import save

        return save({"weight": self.weight, "bias": self.bias})

    @classmethod
    def read(cls, folder: Path, config: ModelConfig) -> Self | None:
        """Read what a model's folder has of `to_bytes`, which may be nothing."""
        if LABELS not in config.sha256:
            return None
        found = read_arrays(read_part(folder, LABELS, config), str(folder / LABELS))
        try:
            weight, bias = found["weight"].astype(np.float32), found["bias"].astype(np.float32)
        except KeyError as error:
            raise InputError(f"{folder / LABELS} is damaged, it lacks {error}") from None
        expected = len(config.classes), config.features
        if weight.shape != expected or bias.shape != expected[:1]:
            raise InputError(
                f"{folder / LABELS} has the shape {weight.shape}, but config.json has {expected}: "
                "the files are of different models"
            )
        return cls(weight, bias, config.classes)


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
