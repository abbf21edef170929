"""Leave-one-out predictions of labels from features: what all other pictures make one expect.

A ridge regression from features to labels, with each picture left out in turn. That needs no second
fit: with leverage h and residual r of the whole fit, the residual of a picture without itself is
r/(1 − h). A logistic regression, one for all labels, then turns predictions into probabilities.
"""

from collections.abc import Iterable, Iterator
from functools import reduce

import torch
from torch import Tensor

from softhash.model.heads import choose_scale
from softhash.model.label_classifier import logistic

RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # per picture; features are standardised
ROWS_PER_BLOCK = 8192  # held in double precision at once
MAX_ROWS = 1_000_000  # predictions that the logistic regression is fitted to


def label_estimates(features: Tensor, labels: Tensor) -> Tensor:
    """Estimate the probability of labels (n, classes) of each row of features from all other rows.

    >>> line = torch.linspace(-1, 1, 50)[:, None]
    >>> label_estimates(line, (line > 0).int())[[0, 24, 25, 49], 0].round(decimals=2)
    tensor([0.0800, 0.5000, 0.5000, 0.9200])
    """
    predictions = leave_one_out(features, labels)
    step = -(-predictions.numel() // MAX_ROWS)
    x, y = (values[::step].reshape(-1, 1).double() for values in (predictions, labels))
    weight, bias = logistic(x, y, ridge=1.0)
    return torch.sigmoid(predictions * weight[0] + bias[0]).float()


def leave_one_out(features: Tensor, labels: Tensor) -> Tensor:
    """Predict labels (n, classes) of each row of features (n, d) by a regression on all other rows.

    Of several ridges, the one with the smallest error over all rows and labels is taken.
    """
    count, base_rate = len(features), labels.double().mean(dim=0)
    rows = torch.split(features, ROWS_PER_BLOCK)
    mean = _sum(x.double().sum(dim=0) for x in rows) / count
    std = (_sum((x.double() - mean).square().sum(dim=0) for x in rows) / count).sqrt()
    scale = choose_scale(std)

    def parts() -> Iterator[tuple[Tensor, Tensor]]:
        for x, y in zip(rows, torch.split(labels, ROWS_PER_BLOCK), strict=True):
            yield (x.double() - mean) / scale, y.double() - base_rate

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
    return torch.cat([base_rate + y - errors(x @ axes, y, best) for x, y in parts()])


def _sum(tensors: Iterable[Tensor]) -> Tensor:
    return reduce(torch.add, tensors)
