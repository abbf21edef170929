"""LSMH, a reconstruction: matrix decomposition of the features, with the loss of encoding in it.

Lu, Zheng, Li, Latent Semantic Minimal Hashing for Image Retrieval, 2017. Its text was not
available. Its abstract says: a latent semantic feature is learnt by matrix decomposition, and a
minimum encoding loss is minimised in the same process. The plainest such objective is

    J = ‖X − VUᵀ‖² + λ‖B − V‖²,   UᵀU = 1,   B ∈ {±1},

X the centred features (n, d), U a basis, V the latent features (n, q), B their codes. In turn, each
to its minimum, so that J never rises: B = sign(XU), V = (XU + λB)/(1 + λ), and U = PQᵀ of the
singular values XᵀV = PΣQᵀ. B = sign(V) too, so that B and V are the joint minimum for a given U. A
new picture has the code sign(Uᵀ(x − μ)). ITQ would keep the span of U and rotate within it.

Settings, ours: λ = 10, the best of 0.1, 1 and 10 on a validation part of VOC2012's train set, and
50 iterations. X is scaled so that its first q principal directions have a mean variance of 1, that
of B. The start is those directions, rotated at random, as in ITQ. More bits than features: X is
padded with zeros. Labels are not looked at. Results of this method are ours, not the paper's.

Checked: J against float64 loops; it falls at every iteration; no code, V or U tried is better.
"""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import pad

from softhash.model.heads import Head
from softhash.training.methods._directions import (
    centred,
    principal,
    random_rotation,
    set_output,
    signs,
)
from softhash.training.methods.method import Line, Shallow


class LSMHReconstruction(Shallow):
    """LSMH, a reconstruction: latent features of a decomposition that lose little as codes."""

    name, title, order = "lsmh", "LSMH", 543
    line = Line("#009e73", "-.", "P")
    unsupervised: ClassVar[bool] = True

    def __init__(
        self, bits: int, classes: int, *, lambda_: float = 10.0, iterations: int = 50
    ) -> None:
        super().__init__(bits, classes)
        self.lambda_ = lambda_
        self.iterations = iterations

    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Decompose the features; the basis is the layer."""
        x = centred(head, features)
        d = x.shape[1]
        x = pad(x, (0, max(self.bits - d, 0)))
        basis = principal(x, self.bits).T @ random_rotation(self.bits, like=x)
        x = x / (x @ basis).square().mean().sqrt().clamp_min(torch.finfo(x.dtype).tiny)
        for _ in range(self.iterations):
            basis = best_basis(x, latent_features(x @ basis, self.lambda_))
        set_output(head, basis[:d].T)


def latent_features(projected: Tensor, lambda_: float) -> Tensor:
    """V = (XU + λ·sign(XU))/(1 + λ), the best latent features (n, bits) for a basis.

    >>> latent_features(torch.tensor([[2.0, -0.5]]), 1.0)
    tensor([[ 1.5000, -0.7500]])
    """
    return (projected + lambda_ * signs(projected)) / (1 + lambda_)


def best_basis(x: Tensor, v: Tensor) -> Tensor:
    """U (d, bits), orthonormal, that minimises ‖X − VUᵀ‖².

    >>> best_basis(torch.tensor([[0.0, 3.0]]), torch.tensor([[1.0]]))
    tensor([[0.],
            [1.]])
    """
    left, _, right = torch.linalg.svd(x.T @ v, full_matrices=False)
    basis: Tensor = left @ right
    return basis


def objective(x: Tensor, basis: Tensor, v: Tensor, lambda_: float) -> Tensor:
    """J = ‖X − VUᵀ‖² + λ‖B − V‖², B = sign(V).

    Args:
        x: scaled features (n, d).
        basis: U (d, bits).
        v: V (n, bits).
        lambda_: what the loss of encoding counts.

    """
    return (x - v @ basis.T).square().sum() + lambda_ * (signs(v) - v).square().sum()
