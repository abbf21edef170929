"""KSH: Liu, Wang, Ji, Jiang, Chang, Supervised Hashing with Kernels, 2012.

k(x) are similarities exp(−‖x − a‖²/2σ²) to m anchors, less their means; b = sign(A k(x)). Codes of
n labelled pictures are to give Σ b bᵀ = qS, S = ±1. Bit by bit, with the residue R = qS − Σ b bᵀ of
the bits so far, bᵀRb is to be large. The start is the top generalised eigenvector of KᵀRKa = λKᵀKa,
scaled to ‖Ka‖² = n; then Nesterov's descent on the smooth −yᵀRy, y = 2/(1 + e^−Ka) − 1, with a step
that is halved as long as it is too long. The better of the two, by its signs, is kept.

Settings, all of the authors' code: 300 anchors, 2,000 labelled pictures, at most 500 steps that
stop where the objective changes by less than 0.01 n; σ² the mean squared distance to the anchors.
Features are only centred, which changes no distance. Directions in which K is flat to the
precision of float32 are left out of the eigenproblem.

Multi-label: S is 1 where any label is shared, as in the IDHN paper's comparison.

Checked: the eigenvector against numpy's, the gradient by finite differences, the objective falls
with every bit on a planted set, and its codes separate that set.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

from softhash.model.heads import Head
from softhash.training.methods._anchors import KernelMethod, place_anchors
from softhash.training.methods._directions import drawn, set_output, signs
from softhash.training.methods.losses import label_overlap
from softhash.training.methods.method import Line

FLAT = 1e-10  # of the largest eigenvalue of KᵀK
STILL = 0.01  # change of the objective per picture that ends the descent
DOUBLINGS = 50


class KSH(KernelMethod):
    """Kernel codes whose products fit similar and dissimilar pairs, learnt bit by bit."""

    name, title, order = "ksh", "KSH", 500
    line = Line("#7a4b9d", ":", "X")

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        anchors: int = 300,
        labelled: int = 2000,
        steps: int = 500,
    ) -> None:
        super().__init__(bits, classes)
        self.anchors = anchors
        self.labelled = labelled
        self.steps = steps

    @torch.no_grad()
    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Place the anchors, then learn the weights of one bit after the other."""
        used = place_anchors(head, features)
        chosen = drawn(self.labelled, len(features), features)
        k = head.lifted(features[chosen])[:, :used].double()
        weight = greedy_bits(k, labels[chosen], self.bits, self.steps)
        set_output(head, pad(weight, (0, self.anchors - used)))


class Residue:
    """R = qS − Σ b bᵀ over the bits so far, as a product with vectors (n,) or matrices (n, k).

    Pictures with the same labels have the same rows in S: products with S go through sums over
    such groups, of which there are few, and R itself is never made.
    """

    def __init__(self, labels: Tensor, bits: int) -> None:
        groups, self.group, self.sizes = torch.unique(
            labels, dim=0, return_inverse=True, return_counts=True
        )
        self.order = self.group.argsort(stable=True)
        self.similar = bits * (2 * label_overlap(groups).double() - 1)
        self.codes = self.similar.new_zeros(len(labels), 0)

    def __matmul__(self, y: Tensor) -> Tensor:
        sums = torch.segment_reduce(y[self.order], "sum", lengths=self.sizes)
        return (self.similar @ sums)[self.group] - self.codes @ (self.codes.T @ y)

    def add(self, b: Tensor) -> None:
        """Take another bit's codes (n,) into account."""
        self.codes = torch.cat([self.codes, b[:, None]], 1)


def greedy_bits(k: Tensor, labels: Tensor, bits: int, steps: int) -> Tensor:
    """Learn the weights (bits, m) of all bits, one bit after the other.

    Args:
        k: kernel features (n, m).
        labels: (n, classes), multi-hot.
        bits: length of the codes.
        steps: of the descent on a bit, at most.

    """
    residue = Residue(labels, bits)
    whitening = inverse_root(k.T @ k)
    white = k @ whitening
    wanted = white.T @ (residue @ white)
    found = []
    for _ in range(bits):
        top = torch.linalg.eigh(wanted).eigenvectors[:, -1]
        start = whitening @ top * len(k) ** 0.5
        end = descend(k, residue, start, steps)
        weight = max((start, end), key=lambda a: float(agreement(signs(k @ a), residue)))
        b = signs(k @ weight)
        residue.add(b)
        wanted = wanted - torch.outer(white.T @ b, white.T @ b)
        found.append(weight)
    return torch.stack(found)


def inverse_root(matrix: Tensor) -> Tensor:
    """Z (m, rank) with ZᵀMZ = 1, for a symmetric M without negative eigenvalues.

    >>> inverse_root(torch.tensor([[4.0, 0.0], [0.0, 0.0]])).abs()
    tensor([[0.5000],
            [0.0000]])
    """
    values: Tensor
    vectors: Tensor
    values, vectors = torch.linalg.eigh(matrix)
    kept = values > FLAT * values[-1].clamp_min(FLAT)
    if not kept.any():
        return vectors[:, -1:]
    return vectors[:, kept] / values[kept].sqrt()


def agreement(y: Tensor, residue: Residue) -> Tensor:
    """yᵀRy."""
    return y @ (residue @ y)


def slope(k: Tensor, residue: Residue, a: Tensor) -> tuple[Tensor, Tensor]:
    """−yᵀRy and its gradient, y = tanh(Ka/2) = 2/(1 + e^−Ka) − 1.

    Args:
        k: K (n, m).
        residue: R.
        a: weights of the bit (m,).

    """
    y = torch.tanh(k @ a / 2)
    product = residue @ y
    return -(y @ product), -(k.T @ (product * (1 - y.square())))


def descend(k: Tensor, residue: Residue, start: Tensor, steps: int) -> Tensor:
    """Follow −yᵀRy down by Nesterov's method; the inverse step length only ever doubles.

    Args:
        k: K (n, m).
        residue: R.
        start: weights of the bit (m,).
        steps: at most.

    """
    before = now = start
    height = -agreement(torch.tanh(k @ now / 2), residue)
    delta, curvature = (0.0, 1.0), 1.0
    for _ in range(steps):
        ahead = now + (delta[0] - 1) / delta[1] * (now - before)
        value, gradient = slope(k, residue, ahead)
        for _ in range(DOUBLINGS):
            point = ahead - gradient / curvature
            reached = -agreement(torch.tanh(k @ point / 2), residue)
            if reached <= value - gradient @ gradient / (2 * curvature):
                break
            curvature *= 2
        else:
            return now
        before, now = now, point
        delta = delta[1], (1 + (1 + 4 * delta[1] ** 2) ** 0.5) / 2
        if abs(reached - height) <= STILL * len(k):
            break
        height = reached
    return now
