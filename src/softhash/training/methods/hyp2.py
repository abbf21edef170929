"""HyP²: HyP² Loss: Beyond Hypersphere Metric Space for Multi-label Image Retrieval.

Xu, Chai, Xu, Yuan, Fan and Wang, ACM Multimedia 2022. Every class has a learnable proxy p; with
cosines of outputs and proxies, and of outputs among themselves:

    L = mean (1 − cos(u, p)) over (picture, its class)
      + α·mean [cos(u, p) − ζ]₊ over (picture, other class)
      + β·mean [cos(u, u′) − ζ]₊ over pairs that share nothing and have several labels each

The last term is what proxies alone cannot express: pictures of several classes that lie between the
same proxies may share none of them. ζ = 1 − 2d/q, where d is the smallest distance of the best
known linear code of length q that has a word for every class. The authors read it from Grassl's
table, and so do we (`_best_codes`): up to 256 classes and 256 bits ζ is that of their sheet. Up to
512 classes it differs where the best distance is open: the sheet has a middle between the bounds.
Beyond, d is a bound. α = 1, β = 0.5 and the proxies' start are those of the authors' published
code, as is the restriction to several labels. Outputs are linear and there is no quantisation
term, as there.

Checked against an independent float64 version by loops; gradients by finite differences.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from softhash.training.methods._best_codes import best_distance
from softhash.training.methods.losses import shared_labels
from softhash.training.methods.method import Line, Method


class HyP2(Method):
    """Learnable class proxies with a margin from coding theory, and a loss on unrelated pairs."""

    name, title, order = "hyp2", "HyP²", 420
    line = Line("#8a6d3b", ":", "P")
    activation = "identity"

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        alpha: float = 1.0,
        beta: float = 0.5,
        margin: float | None = None,
    ) -> None:
        super().__init__(bits, classes)
        self.alpha = alpha
        self.beta = beta
        self.margin = 1 - 2 * best_distance(bits, classes) / bits if margin is None else margin
        self.proxies = nn.Parameter(torch.empty(classes, bits))
        nn.init.kaiming_normal_(self.proxies, mode="fan_out")

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """L = L_pos + α·L_neg + β·L_pair."""
        y, direction = labels.to(u.dtype), F.normalize(u, dim=1)
        to_proxies = direction @ F.normalize(self.proxies.to(u.dtype), dim=1).T
        near = _mean(1 - to_proxies, y)
        far = _mean(F.relu(to_proxies - self.margin), 1 - y)
        pairs = _mean(F.relu(direction @ direction.T - self.margin), unrelated(y))
        return near + self.alpha * far + self.beta * pairs


def unrelated(labels: Tensor) -> Tensor:
    """Mark by 1 the pairs of pictures with several labels each that share none.

    >>> unrelated(torch.tensor([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]]))
    tensor([[0., 1., 0.],
            [1., 0., 0.],
            [0., 0., 0.]])
    """
    several = labels.sum(1) > 1
    return ((shared_labels(labels) == 0) & several[:, None] & several[None, :]).float()


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    """Average the values that count; 0 where none does."""
    return (values * weights).sum() / weights.sum().clamp(min=1)
