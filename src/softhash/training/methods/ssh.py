"""SSH: Wang, Kumar, Chang, Semi-Supervised Hashing for Scalable Image Retrieval, 2010.

M = X_l S X_lᵀ + η X Xᵀ: pairs known to be similar (S = 1) are to agree, the others (S = −1) not to,
and bits are to vary over all pictures, labelled or not. Its top eigenvectors U are the orthogonal
solution. As the paper notes, few directions hold most of the variance, so that the later ones are
poor; here MAP falls from 12 to 48 bits. Its remedy is the default: punish instead of forbid
directions that are not orthogonal, which gives W = LU with LLᵀ = 1 + M/ρ, ρ > max(0, −λ_min(M)).

Multi-label: S is 1 where any label is shared. Both terms are means here, over pairs and over
pictures, so that η does not depend on how many there are: η of the printed sums is η·n_l²/n.

Settings: `labelled`, pictures whose pairs are looked at (all of them, up to 4,000; the paper takes
1,000 to 2,000 of a larger set). `eta`: the paper gives no value; chosen on a part of VOC2012's
train set, as was ρ: 1.01 times its bound, at least 0.001 of the largest eigenvalue. There are at
most d eigenvectors; more bits than that get random directions. Features are centred, as in the
paper. The equations are from memory of the paper.

Checked against numpy's eigenvectors of the printed matrix, summed pair by pair.
"""

import torch
from torch import Tensor

from softhash.model.heads import Head
from softhash.training.methods._directions import centred, drawn, eigenvectors, normal, set_output
from softhash.training.methods.losses import label_overlap
from softhash.training.methods.method import Line, Shallow

ABOVE_BOUND = 1.01
LEAST_RHO = 1e-3  # of the largest eigenvalue


class SSH(Shallow):
    """Directions that agree on similar pairs, disagree on others, and vary over all pictures."""

    name, title, order = "ssh", "SSH", 530
    line = Line("#009e73", "-.", "H")

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        eta: float = 0.01,
        labelled: int = 4000,
        orthogonal: bool = False,
    ) -> None:
        super().__init__(bits, classes)
        self.eta = eta
        self.labelled = labelled
        self.orthogonal = orthogonal

    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Find the directions, and fill up with random ones."""
        x = centred(head, features)
        chosen = drawn(self.labelled, len(x), x)
        s = 2 * label_overlap(labels[chosen]) - 1
        matrix = adjusted_covariance(x, x[chosen], s, self.eta)
        found = directions(matrix, self.bits, self.orthogonal)
        more = normal(self.bits - len(found), x.shape[1], like=x)
        set_output(head, torch.cat([found, more]))


def adjusted_covariance(x: Tensor, labelled: Tensor, s: Tensor, eta: float) -> Tensor:
    """Mean over pairs of s_ij x_i x_jᵀ, and η times the mean over pictures of x xᵀ.

    Args:
        x: centred features of all pictures (n, d).
        labelled: those of the labelled pictures (m, d).
        s: similarities of the labelled pictures, ±1 (m, m).
        eta: η.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> adjusted_covariance(x, x, torch.tensor([[1.0, -1.0], [-1.0, 1.0]]), eta=1.0)
    tensor([[ 0.7500, -0.2500],
            [-0.2500,  0.7500]])

    """
    pairs = labelled.T @ (s.to(x) @ labelled) / len(labelled) ** 2
    return pairs + eta * (x.T @ x) / len(x)


def directions(matrix: Tensor, bits: int, orthogonal: bool) -> Tensor:
    """Rows (at most bits, d): the top eigenvectors of M, or their image under L.

    Args:
        matrix: M (d, d).
        bits: wanted.
        orthogonal: whether the eigenvectors are returned as they are.

    """
    top = eigenvectors(matrix)[:, :bits]
    values = torch.linalg.eigvalsh(matrix)
    rho = torch.maximum(-ABOVE_BOUND * values[0], LEAST_RHO * values[-1])
    if orthogonal or rho <= 0:
        return top.T
    root: Tensor = torch.linalg.cholesky(torch.eye(len(matrix)).to(matrix) + matrix / rho)
    return (root @ top).T
