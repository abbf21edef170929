"""The equations that methods share, as pure functions. Names in brackets are the IDHN paper's.

Shapes: u (n, bits) real-valued outputs, labels (n, classes) multi-hot, s and P (n, n) over all
ordered pairs of a batch, the diagonal included. P = u uᵀ.
"""

import math

import torch  # noqa: F401 (the examples below use it)
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

HARD = 0.01  # similarities this near to 0 or 1 count as hard


def label_cosine(labels: Tensor) -> Tensor:
    """Cosine of the label vectors, s_ij [eq. s]; 0 where a picture has no label.

    >>> label_cosine(torch.tensor([[1, 1], [1, 0], [0, 0]]))
    tensor([[1.0000, 0.7071, 0.0000],
            [0.7071, 1.0000, 0.0000],
            [0.0000, 0.0000, 0.0000]])
    """
    y = F.normalize(labels.float(), dim=1)
    return y @ y.T


def label_overlap(labels: Tensor) -> Tensor:
    """Coarse similarity, s̄_ij: 1 where two pictures share a label, otherwise 0.

    >>> label_overlap(torch.tensor([[1, 1], [1, 0], [0, 0]]))
    tensor([[1., 1., 0.],
            [1., 1., 0.],
            [0., 0., 0.]])
    """
    return (shared_labels(labels) > 0).float()


def label_jaccard(labels: Tensor) -> Tensor:
    """Shared labels over all labels of the two; 0 where neither has any.

    >>> label_jaccard(torch.tensor([[1, 1], [1, 0]]))
    tensor([[1.0000, 0.5000],
            [0.5000, 1.0000]])
    """
    shared = shared_labels(labels)
    counts = labels.float().sum(dim=1)
    return shared / (counts[:, None] + counts[None, :] - shared).clamp(min=1)


def shared_labels(labels: Tensor) -> Tensor:
    """Count the labels that two pictures share, r_ij."""
    y = labels.float()
    return y @ y.T


def is_hard(s: Tensor) -> Tensor:
    """Return where a similarity is hard, M_ij: nothing shared, or everything [eq. L].

    >>> is_hard(torch.tensor([0.0, 0.5, 1.0]))
    tensor([ True, False,  True])
    """
    return (s < HARD) | (s > 1 - HARD)


def pair_cross_entropy(omega: Tensor, s: Tensor) -> Tensor:
    """Negative log-likelihood of s, log(1 + e^Ω) − s·Ω, in its stable form [eq. l2].

    >>> pair_cross_entropy(torch.tensor([0.0, 100.0]), torch.tensor([1.0, 1.0]))
    tensor([0.6931, 0.0000])
    """
    return F.softplus(omega) - s * omega


def pair_squared_error(product: Tensor, s: Tensor, bits: int) -> Tensor:
    """Squared gap between agreeing bits and their share s of all bits, ((P + q)/2 − s·q)² [eq. l].

    Args:
        product: P (n, n).
        s: similarities (n, n).
        bits: q.

    >>> pair_squared_error(torch.tensor([0.0, 4.0]), torch.tensor([0.5, 0.5]), bits=4)
    tensor([0., 4.])

    """
    return ((product + bits) / 2 - s * bits).square()


def quantisation_l1(u: Tensor) -> Tensor:
    """Mean distance of outputs from ±1, mean ‖|u| − 1‖₁ [eq. Q, averaged].

    >>> quantisation_l1(torch.tensor([[0.5, -1.0]]))
    tensor(0.2500)
    """
    return (u.abs() - 1).abs().mean()


def quantisation_log_cosh(u: Tensor) -> Tensor:
    """Mean distance of outputs from ±1 in a smooth form, mean log cosh(|u| − 1) (Zhu et al. 2016).

    >>> quantisation_log_cosh(torch.tensor([[1.0, -1.0]]))
    tensor(0.)
    """
    gap = u.abs() - 1
    return (gap + F.softplus(-2 * gap) - math.log(2)).mean()


def squared_distances(u: Tensor) -> Tensor:
    """Squared Euclidean distances between all outputs, ‖uᵢ − uⱼ‖².

    >>> squared_distances(torch.tensor([[0.0, 0.0], [3.0, 4.0]]))
    tensor([[ 0., 25.],
            [25.,  0.]])
    """
    norms = u.square().sum(dim=1)
    return (norms[:, None] + norms[None, :] - 2 * u @ u.T).clamp_min(0)
