"""PCA-RR: Jégou et al., Aggregating Local Descriptors into a Compact Image Representation, 2010.

b = sign(RᵀP(x − μ)), P the principal directions and R a random rotation. Few directions hold most
of the variance; R spreads it over the bits, so that each says as much as any other. ITQ (Gong,
Lazebnik, 2011) starts from here and improves R: this is ITQ without its iterations.

No settings. More bits than features are handled as by ITQ. Labels are not looked at.

Checked: distances between projections of all directions are those between the features; the bits
of ITQ with 0 iterations are the same.
"""

from typing import ClassVar

from torch import Tensor

from softhash.model.heads import Head
from softhash.training.methods._directions import (
    centred,
    padded_principal,
    random_rotation,
    set_output,
)
from softhash.training.methods.method import Line, Shallow


class PCA(Shallow):
    """Principal directions, rotated at random so that all bits vary alike."""

    name, title, order = "pca", "PCA-RR", 545
    line = Line("#7a4b9d", "-.", "v")
    unsupervised: ClassVar[bool] = True

    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Find the principal directions, and draw the rotation."""
        directions = padded_principal(centred(head, features), self.bits)
        set_output(head, random_rotation(self.bits, like=directions).T @ directions)
