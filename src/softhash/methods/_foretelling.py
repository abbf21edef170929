"""What a picture's labels would have been expected to be, by pictures that are not it.

A ridge regression from features to labels, each picture left out in turn. Leaving one out needs no
second fit: with leverage h and residual r of the whole fit, the picture's own residual without it
is r/(1 − h). What it says is then made a probability by a logistic regression of labels on it, one
for all: 0.1 may be next to nothing, and 0.5 next to certain.
"""

from collections.abc import Iterable, Iterator
from functools import reduce

import torch
from torch import Tensor

from softhash.heads import scale_of
from softhash.model.labelling import logistic

RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # for each picture; features are standardised
AT_ONCE = 8192  # pictures, of which numbers are held in double precision
ENOUGH = 1_000_000  # guesses to make probabilities by; of more, every so many-th is taken


def foretell(features: Tensor, labels: Tensor) -> Tensor:
    """Say how probable labels (n, classes) of each row of features (n, d) are by all other rows.

    >>> line = torch.linspace(-1, 1, 50)[:, None]
    >>> foretell(line, (line > 0).int())[[0, 24, 25, 49], 0].round(decimals=2)
    tensor([0.0800, 0.5000, 0.5000, 0.9200])
    """
    guesses = leave_one_out(features, labels)
    step = -(-guesses.numel() // ENOUGH)
    x, y = (values.reshape(-1, 1)[::step].double() for values in (guesses, labels))
    weight, bias = logistic(x, y, ridge=1.0)
    return torch.sigmoid(guesses * weight[0] + bias[0]).float()


def leave_one_out(features: Tensor, labels: Tensor) -> Tensor:
    """Guess labels (n, classes) of each row of features (n, d) by a regression on all other rows.

    Of several ridges, the one with the smallest error over all rows and labels is taken.
    """
    count, usual = len(features), labels.double().mean(dim=0)
    rows = torch.split(features, AT_ONCE)
    mean = _sum(x.double().sum(dim=0) for x in rows) / count
    std = (_sum((x.double() - mean).square().sum(dim=0) for x in rows) / count).sqrt()
    scale = scale_of(std)

    def parts() -> Iterator[tuple[Tensor, Tensor]]:
        for x, y in zip(rows, torch.split(labels, AT_ONCE), strict=True):
            yield (x.double() - mean) / scale, y.double() - usual

    spectrum, axes = torch.linalg.eigh(_sum(x.T @ x for x, _ in parts()))
    moments = axes.T @ _sum(x.T @ y for x, y in parts())

    def errors(x: Tensor, y: Tensor, ridge: float) -> Tensor:
        """Residuals of rows, on the axes, each by a regression without it."""
        shrunk = 1 / (spectrum.clamp_min(0) + ridge * count)[:, None]
        leverage = x.square() @ shrunk + 1 / count
        left_out: Tensor = (y - x @ (shrunk * moments)) / (1 - leverage)
        return left_out

    totals = dict.fromkeys(RIDGES, 0.0)
    for x, y in parts():
        on_axes = x @ axes
        for ridge in RIDGES:
            totals[ridge] += float(errors(on_axes, y, ridge).square().sum())
    best = min(totals, key=totals.__getitem__)
    return torch.cat([usual + y - errors(x @ axes, y, best) for x, y in parts()])


def _sum(tensors: Iterable[Tensor]) -> Tensor:
    return reduce(torch.add, tensors)
