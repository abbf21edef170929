"""What a picture's labels would have been expected to be, by pictures that are not it.

A ridge regression from features to labels, each picture left out in turn. Leaving one out needs no
second fit: with leverage h and residual r of the whole fit, the picture's own residual without it
is r/(1 − h). What it says is then made a probability by a logistic regression of labels on it, one
for all: 0.1 may be next to nothing, and 0.5 next to certain.
"""

import torch
from torch import Tensor

from softhash.model.labelling import logistic

RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # for each picture; features are standardised
SCALE_FLOOR = 0.01  # of the mean deviation, as in `softhash.heads`


def foretell(features: Tensor, labels: Tensor) -> Tensor:
    """Say how probable labels (n, classes) of each row of features (n, d) are by all other rows.

    >>> line = torch.linspace(-1, 1, 50)[:, None]
    >>> foretell(line, (line > 0).int())[[0, 24, 25, 49], 0].round(decimals=2)
    tensor([0.0800, 0.5000, 0.5000, 0.9200])
    """
    guesses = leave_one_out(features, labels)
    weight, bias = logistic(guesses.reshape(-1, 1), labels.double().reshape(-1, 1), ridge=1.0)
    return torch.sigmoid(guesses * weight[0] + bias[0]).float()


def leave_one_out(features: Tensor, labels: Tensor) -> Tensor:
    """Guess labels (n, classes) of each row of features (n, d) by a regression on all other rows.

    Of several ridges, the one with the smallest error over all rows and labels is taken.
    """
    x, y = features.double(), labels.double()
    std, mean = torch.std_mean(x, dim=0, correction=0)
    scale = std.clamp_min(SCALE_FLOOR * std.mean()) if std.any() else torch.ones_like(std)
    usual = y.mean(dim=0)
    x, y = (x - mean) / scale, y - usual
    spectrum, axes = torch.linalg.eigh(x.T @ x)
    x = x @ axes
    moments = x.T @ y

    def residuals(ridge: float) -> Tensor:
        shrunk = 1 / (spectrum.clamp_min(0) + ridge * len(x))[:, None]
        leverage = x.square() @ shrunk + 1 / len(x)
        left_out: Tensor = (y - x @ (shrunk * moments)) / (1 - leverage)
        return left_out

    errors = min((residuals(ridge) for ridge in RIDGES), key=lambda r: float(r.square().mean()))
    guesses: Tensor = usual + y - errors
    return guesses
