"""DTSH: likelihood of triplets.

Wang, Shi, Kitani, "Deep Supervised Hashing with Triplet Labels", 2016.

C = mean over triplets of −log σ(Θ_qp − Θ_qn − α) + λ · mean ‖b − u‖², with Θ_ij = u_i·u_j/2,
b = sign(u) and a linear output; −log σ(x) is computed as softplus(−x), which cannot overflow.

Settings: α = q/2 is the authors'. They sum 22,500 triplets per query with λ = 100; with the mean
over a query's triplets that is λ = 0.0044, and 0.02 did better on a validation part of VOC2012's
train set (0.005, 0.02 and 0.1 were tried).

What differs: the authors have one label per picture and draw as many negatives from every other
class out of the remembered outputs of the train set, so that the query alone has a gradient. Here a
positive shares more labels with the query than the negative does, all triplets of the batch are
taken, and all three pictures have a gradient.

Checked against float64 numpy loops, and gradients by finite differences.
"""

from torch import Tensor
from torch.nn.functional import softplus

from softhash.training.methods._triplets import triplet_mean
from softhash.training.methods.method import Line, Method


class DTSH(Method):
    """Likelihood of triplets: the positive's inner product exceeds the negative's by a margin."""

    name, title, order = "dtsh", "DTSH", 280
    line = Line("#56b4e9", "--", "H")
    activation = "identity"

    def __init__(
        self, bits: int, classes: int, *, alpha: float | None = None, lambda_: float = 0.02
    ) -> None:
        super().__init__(bits, classes)
        self.alpha = bits / 2 if alpha is None else alpha
        self.lambda_ = lambda_

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """C = L + λQ."""
        likelihood = triplet_mean(self.triplet_loss, u @ u.T / 2, labels)
        return likelihood + self.lambda_ * (u.sign() - u).square().sum(dim=1).mean()

    def triplet_loss(self, nearer: Tensor) -> Tensor:
        """−log σ(Θ_qp − Θ_qn − α) of the difference of the two."""
        return softplus(self.alpha - nearer)
