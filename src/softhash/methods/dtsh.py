"""DTSH draft."""

from torch import Tensor
from torch.nn.functional import softplus

from softhash.methods._base import Method
from softhash.methods._triplets import anchor_mean, differences, ranked_triplets


class DTSH(Method):
    """Likelihood of triplets: the positive's inner product exceeds the negative's by a margin."""

    activation = "identity"

    def __init__(
        self, bits: int, classes: int, *, alpha: float | None = None, lambda_: float = 0.005
    ) -> None:
        super().__init__(bits, classes)
        self.alpha = bits / 2 if alpha is None else alpha
        self.lambda_ = lambda_

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """−log σ(Θ_qp − Θ_qn − α) + λ‖b − u‖², averaged over triplets and pictures."""
        likelihood = anchor_mean(self.triplet_loss(u @ u.T / 2), ranked_triplets(labels))
        return likelihood + self.lambda_ * (u.sign() - u).square().sum(dim=1).mean()

    def triplet_loss(self, theta: Tensor) -> Tensor:
        """−log σ(x) = log(1 + e^−x), x = Θ_qp − Θ_qn − α, for all triplets."""
        return softplus(self.alpha - differences(theta))


METHODS = {"dtsh": DTSH}
