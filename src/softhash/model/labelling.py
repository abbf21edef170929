"""Likely labels of a picture, from the outputs its code is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from softhash.errors import InputError
from softhash.model.config import ModelConfig
from softhash.model.folders import LABELS, read_part

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float32]

LIKELY = 0.3  # labels less probable than this are not worth telling
ITERATIONS = 100


@dataclass(frozen=True, eq=False)
class Labelling:
    """A logistic regression for each label: probabilities σ(u Wᵀ + b) of outputs u.

    >>> knows = Labelling(np.array([[2.0, 0.0]], np.float32), np.zeros(1, np.float32), ("cat",))
    >>> knows.probabilities(np.array([[1.0, -1.0], [-1.0, 1.0]])).round(2).tolist()
    [[0.88], [0.12]]
    """

    weight: Floats  # (classes, bits)
    bias: Floats  # (classes,)
    classes: tuple[str, ...]

    def probabilities(self, u: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return how probable each label is for each row of u (n, bits)."""
        logits = np.asarray(u, np.float64) @ self.weight.T + self.bias
        probabilities: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(logits, -500, 500)))
        return probabilities

    def likely(self, u: NDArray[np.floating], least: float = LIKELY) -> list[dict[str, float]]:
        """Name the labels of each row that are at least so probable, the most probable first.

        >>> weight = np.array([[2.0], [-2.0], [9.0]], np.float32)
        >>> knows = Labelling(weight, np.zeros(3, np.float32), ("cat", "dog", "sofa"))
        >>> [list(one) for one in knows.likely(np.ones((1, 1)))]
        [['sofa', 'cat']]
        """
        rows = self.probabilities(u)
        return [
            {self.classes[i]: round(float(row[i]), 4) for i in np.argsort(-row) if row[i] >= least}
            for row in rows
        ]

    def to_bytes(self) -> bytes:
        """Write it as safetensors."""
        from safetensors.numpy import save

        return save({"weight": self.weight, "bias": self.bias})

    @classmethod
    def read(cls, folder: Path, config: ModelConfig) -> Self | None:
        """Read what a model's folder has of `to_bytes`, which may be nothing."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        if LABELS not in config.sha256:
            return None
        try:
            found = load(read_part(folder, LABELS, config))
            weight, bias = found["weight"].astype(np.float32), found["bias"].astype(np.float32)
        except (SafetensorError, KeyError) as error:
            raise InputError(f"{folder / LABELS} is damaged: {error}") from None
        expected = len(config.classes), config.bits
        if weight.shape != expected or bias.shape != expected[:1]:
            raise InputError(
                f"{folder / LABELS} has the shape {weight.shape}, but config.json says {expected}: "
                "the files are of different models"
            )
        return cls(weight, bias, config.classes)


def fit_labelling(
    u: "Tensor", labels: "Tensor", classes: Sequence[str], ridge: float = 1.0
) -> Labelling:
    """Fit the regressions to outputs (n, bits) and multi-hot labels (n, classes).

    What is minimised is the cross-entropy summed over pictures, plus ridge/2·‖W‖².
    """
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    u, y = u.detach().double().cpu(), labels.double().cpu()
    weight = torch.zeros(y.shape[1], u.shape[1], dtype=torch.float64, requires_grad=True)
    share = ((y.sum(0) + 0.5) / (len(y) + 1)).logit()  # where it starts: how common labels are
    bias = share.clone().requires_grad_()
    optimiser = torch.optim.LBFGS(
        [weight, bias], max_iter=ITERATIONS, line_search_fn="strong_wolfe"
    )

    def loss() -> float:
        optimiser.zero_grad()
        entropy = binary_cross_entropy_with_logits(u @ weight.T + bias, y, reduction="sum")
        total = (entropy + ridge / 2 * weight.square().sum()) / len(y)
        total.backward()  # type: ignore[no-untyped-call]
        return float(total.detach())

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    as_array = weight.detach().float().numpy(), bias.detach().float().numpy()
    return Labelling(*as_array, tuple(classes))
