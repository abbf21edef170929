"""IDHN: Improved Deep Hashing with Soft Pairwise Similarity for Multi-label Image Retrieval.

The objective is the paper's eq. C1 with the readings that its authors' published code settles: all
ordered pairs of the batch, means instead of sums, α = 5/q, γ = 0.1/q, λ = 0.1 on the mean of
‖|u| − 1‖. A similarity below 0.01 or above 0.99 is hard. The four ablations are the paper's.

Checked against an independent float64 numpy version; gradients by finite differences.
"""

from torch import Tensor, where

from softhash.training.methods.losses import (
    is_hard,
    label_cosine,
    label_overlap,
    pair_cross_entropy,
    pair_squared_error,
    quantisation_l1,
)
from softhash.training.methods.method import Line, Method


class IDHN(Method):
    """Cross-entropy for hard pairs, squared error for soft ones, on the cosine of the labels."""

    name, title, order = "idhn", "IDHN", 100
    line = Line("#d55e00", "-", "s", bold=True)

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        alpha: float | None = None,
        gamma: float | None = None,
        lambda_: float = 0.1,
    ) -> None:
        super().__init__(bits, classes)
        self.alpha = 5 / bits if alpha is None else alpha
        self.gamma = 0.1 / bits if gamma is None else gamma
        self.lambda_ = lambda_

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """C = L + λQ [eq. C]."""
        return self.pair_loss(u @ u.T, labels).mean() + self.lambda_ * quantisation_l1(u)

    def pair_loss(self, product: Tensor, labels: Tensor) -> Tensor:
        """M·(log(1 + e^Ω) − s·Ω) + γ·(1 − M)·((P + q)/2 − s·q)², Ω = αP [eq. L]."""
        s = label_cosine(labels)
        return where(is_hard(s), self.cross_entropy(product, s), self.squared_error(product, s))

    def cross_entropy(self, product: Tensor, s: Tensor) -> Tensor:
        """log(1 + e^Ω) − s·Ω, Ω = αP [eq. l2]."""
        return pair_cross_entropy(self.alpha * product, s)

    def squared_error(self, product: Tensor, s: Tensor) -> Tensor:
        """γ·((P + q)/2 − s·q)² [eq. l]."""
        return self.gamma * pair_squared_error(product, s, self.bits)


class FineCE(IDHN):
    """IDHN's ablation: cross-entropy with the cosine of the labels, on all pairs."""

    name, title, order = "idhn-fine-ce", "IDHN-fine-ce", 110
    line = Line("#0072b2", "-", "o")

    def pair_loss(self, product: Tensor, labels: Tensor) -> Tensor:
        """Score all pairs by cross-entropy, s soft."""
        return self.cross_entropy(product, label_cosine(labels))


class FineMSE(IDHN):
    """IDHN's ablation: squared error with the cosine of the labels, on all pairs."""

    name, title, order = "idhn-fine-mse", "IDHN-fine-mse", 120
    line = Line("#009e73", "-", "s")

    def pair_loss(self, product: Tensor, labels: Tensor) -> Tensor:
        """Score all pairs by squared error, s soft."""
        return self.squared_error(product, label_cosine(labels))


class CoarseCE(IDHN):
    """IDHN's ablation: cross-entropy on whether any label is shared, on all pairs."""

    name, title, order = "idhn-coarse-ce", "IDHN-coarse-ce", 130
    line = Line("#cc79a7", "-", "D")

    def pair_loss(self, product: Tensor, labels: Tensor) -> Tensor:
        """Score all pairs by cross-entropy, s 0 or 1."""
        return self.cross_entropy(product, label_overlap(labels))


class CoarseMSE(IDHN):
    """IDHN's ablation: squared error on whether any label is shared, on all pairs."""

    name, title, order = "idhn-coarse-mse", "IDHN-coarse-mse", 140
    line = Line("#e69f00", "-", "^")

    def pair_loss(self, product: Tensor, labels: Tensor) -> Tensor:
        """Score all pairs by squared error, s 0 or 1."""
        return self.squared_error(product, label_overlap(labels))
