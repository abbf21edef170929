"""All triplets of a batch, for the methods that learn from (anchor, positive, negative).

A positive shares more labels with the anchor than the negative does; with one label per picture,
that is the usual meaning. All triplets are formed, by masks over (n, n, n): no sampling, so no seed
and the least noise, and shapes that depend on nothing but the batch, as a captured step needs. A
batch of 128 takes 8 MB per tensor, one of 256 64 MB.
"""

import torch
from torch import Tensor

from softhash.training.methods.losses import shared_labels


def ranked_triplets(labels: Tensor) -> Tensor:
    """Return which (anchor, positive, negative) are triplets: (n, n, n), true or false.

    >>> ranked_triplets(torch.tensor([[1, 1], [1, 1], [1, 0]])).nonzero().tolist()
    [[0, 1, 2], [1, 0, 2]]
    """
    shared = shared_labels(labels)
    others = ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    pairs = others[:, :, None] & others[:, None, :]
    return (shared[:, :, None] > shared[:, None, :]) & pairs


def differences(values: Tensor) -> Tensor:
    """Take, for every anchor, the value of each second item from that of each first: (n, n, n).

    >>> differences(torch.tensor([[1.0, 5.0]]))
    tensor([[[ 0., -4.],
             [ 4.,  0.]]])
    """
    return values[:, :, None] - values[:, None, :]


def anchor_mean(values: Tensor, chosen: Tensor) -> Tensor:
    """Average chosen triplets (n, n, n): first those of an anchor, then over anchors that have any.

    Every anchor counts the same, as every query does in MAP; without triplets the mean is 0.

    >>> anchor_mean(torch.ones(2, 2, 2), torch.zeros(2, 2, 2, dtype=torch.bool))
    tensor(0.)
    """
    count = chosen.sum(dim=(1, 2))
    means = (values * chosen).sum(dim=(1, 2)) / count.clamp(min=1)
    return means.sum() / (count > 0).sum().clamp(min=1)
