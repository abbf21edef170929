"""ITQ: Gong, Lazebnik, Iterative Quantization: A Procrustean Approach, 2011.

V = XP, X centred, P the principal directions. From a random rotation R, repeat: B = sign(VR); then
R is the rotation that minimises ‖B − VR‖², WUᵀ of the singular values BᵀV = UΣWᵀ. Neither step can
raise the error.

Settings: 50 iterations, the paper's. It has no more bits than features; beyond that V is padded
with zeros here, and R spreads the features over all bits. Labels are not looked at.

Checked: the error falls at every iteration and ends below that of the principal directions alone;
the rotation is orthogonal, and the best among many random ones.
"""

from typing import ClassVar

import torch
from torch import Tensor

from softhash.model.heads import Head
from softhash.training.methods._directions import (
    centred,
    padded_principal,
    random_rotation,
    set_output,
    signs,
)
from softhash.training.methods.method import Line, Shallow


class ITQ(Shallow):
    """Principal directions, rotated so that their signs lose little."""

    name, title, order = "itq", "ITQ", 540
    line = Line("#cc79a7", "-.", "o")
    unsupervised: ClassVar[bool] = True

    def __init__(self, bits: int, classes: int, *, iterations: int = 50) -> None:
        super().__init__(bits, classes)
        self.iterations = iterations

    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Find the principal directions, then the rotation."""
        x = centred(head, features)
        directions = padded_principal(x, self.bits)
        v = x @ directions.T
        rotation = random_rotation(self.bits, like=x)
        for _ in range(self.iterations):
            rotation = improved(v, rotation)
        set_output(head, rotation.T @ directions)


def improved(v: Tensor, rotation: Tensor) -> Tensor:
    """Find the rotation that best maps v (n, bits) to the codes that the present one gives."""
    left, _, right = torch.linalg.svd(signs(v @ rotation).T @ v)
    better: Tensor = right.T @ left.T
    return better


def quantisation_error(v: Tensor, rotation: Tensor) -> Tensor:
    """‖B − VR‖² over all pictures.

    >>> quantisation_error(torch.tensor([[1.0, -1.0]]), torch.eye(2))
    tensor(0.)
    """
    rotated = v @ rotation
    return (signs(rotated) - rotated).square().sum()
