"""Multi-k-means: Ercoli, Bertini, Del Bimbo, Compact Hash Codes for Efficient Retrieval, 2017.

k-means with as many centroids as bits; bit k is on where the distance to centroid k is below the
mean of the distances to all centroids: a soft assignment to several clusters at once.

The paper's mean is the geometric one, of the distances. Here it is the quadratic one: then mean_j
‖x − c_j‖² − ‖x − c_k‖² is linear in x, the head is a plain linear layer, and a picture that is a
centroid itself is not a special case. On VOC2012, 12 bits, 2.6 % of the bits differ from those of
the geometric mean and MAP by less than 0.004. A mean over the pictures of the train set, centroid
by centroid, would be another method: MAP falls by 0.05 to 0.07.

Settings: at most 100 iterations, which k-means hardly ever needs. The start is k-means++. Centring
changes no distance. Labels are not looked at. More bits than pictures repeat centroids. The
definition is from memory of the paper.

Checked: centroids against scikit-learn's on separated clusters, and bits by the definition.
"""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from softhash.model.heads import Head
from softhash.training.methods._directions import centred, set_output
from softhash.training.methods.method import Line, Shallow


class MKM(Shallow):
    """Bits that are on where a centroid of k-means is nearer to a picture than the mean."""

    name, title, order = "mkm", "MKM", 560
    line = Line("#56b4e9", "-.", "D")
    unsupervised: ClassVar[bool] = True

    def __init__(self, bits: int, classes: int, *, iterations: int = 100) -> None:
        super().__init__(bits, classes)
        self.iterations = iterations

    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Find the centroids; write the comparison of distances as a linear layer."""
        centroids = k_means(centred(head, features), self.bits, self.iterations)
        lengths = centroids.square().sum(dim=1)
        set_output(head, 2 * (centroids - centroids.mean(dim=0)), lengths.mean() - lengths)


def k_means(x: Tensor, count: int, iterations: int) -> Tensor:
    """Find centroids (count, d) by Lloyd's algorithm; an empty cluster stays where it is.

    Args:
        x: points (n, d).
        count: of centroids.
        iterations: at most.

    """
    centroids = spread_start(x, count)
    for _ in range(iterations):
        member = one_hot(torch.cdist(x, centroids).argmin(dim=1), count).to(x)
        sizes = member.sum(dim=0)[:, None]
        moved = torch.where(sizes > 0, member.T @ x / sizes.clamp_min(1), centroids)
        if torch.equal(moved, centroids):
            break
        centroids = moved
    return centroids


def spread_start(x: Tensor, count: int) -> Tensor:
    """Draw pictures as centroids, those far from all drawn before the likelier (k-means++)."""
    chosen = [int(torch.randint(len(x), ()))]
    nearest = torch.full_like(x[:, 0], torch.inf)
    while len(chosen) < count:
        nearest = torch.minimum(nearest, (x - x[chosen[-1]]).square().sum(dim=1))
        chances = nearest.cpu() if nearest.any() else torch.ones(len(x))
        chosen.append(int(torch.multinomial(chances, 1)))
    return x[chosen]
