"""SPQ, a reconstruction: product quantisation with sparse sums of atoms, at the bits of PQ.

Ning, Zhu, Zhong, Hoi, Chen, Scalable Image Retrieval by Sparse Product Quantization, 2017; only the
beginning of its text was available. The space is cut into subspaces, as in product quantisation,
but a sub-vector is a sparse combination of atoms of its dictionary, not the nearest of them:

    min Σ ‖z − Σ_l a_l·d_{k_l}‖²,   L atoms d_k with coefficients a_l for each sub-vector

Not a Hamming method: a query's own z is compared with the sum, as in DQN. Reconstructed is how
coefficients fit into q bits. They have a few levels, learnt for each place l, and an index of log₂K
bits names atom and level: there are K/levels atoms, and K words a·d. So L of PQ's M = q/log₂K
indices describe a subspace, and L = 1 with one level is PQ; more subspaces than dimensions there
are not. In turn, none raising the error: indices by iterated conditional modes, atoms by least
squares with a ridge about what they are, levels place by place. The start is k-means and matching
pursuit, with levels at quantiles of its coefficients.

Settings, ours: L = 2, 20 rounds, K as DQN has it; z are 300 principal components, or all, rotated
at random so that subspaces vary alike. One level: bits are better spent on atoms. At 48 bits on
VOC2012 the error is 0.61 of the variance, with two levels 0.65, with four 0.71, and 0.66 for PQ,
whose MAP is as good or better all the same. Results of this method are ours, not the paper's.
Labels are not looked at.

Checked: the error, which falls with every part of a round, and both minima, against float64 loops
and least squares; PQ's words against scikit-learn's centroids; planted sparse sums are found.
"""

from typing import ClassVar, cast

import torch
from torch import Tensor
from torch.nn.functional import one_hot, pad

from softhash.model.config import HeadOptions, check_words
from softhash.model.heads import Head, QuantiserHead
from softhash.model.quantiser import RIDGE, assign, reconstruct
from softhash.training.methods._directions import centred, principal, random_rotation, set_output
from softhash.training.methods.dqn import default_words
from softhash.training.methods.method import Line, Shallow
from softhash.training.methods.mkm import k_means

LLOYD_ROUNDS, TINY = 15, 1e-30


class SPQReconstruction(Shallow):
    """SPQ, a reconstruction: sub-vectors as sparse sums of atoms; ranks by quantiser distance."""

    name, title, order = "spq", "SPQ", 547
    line = Line("#0072b2", "-.", "X")
    ranking: ClassVar[str] = "quantiser"
    unsupervised: ClassVar[bool] = True

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        embedding: int = 300,
        words: int | None = None,
        sparsity: int = 2,
        levels: int = 1,
        rounds: int = 20,
    ) -> None:
        super().__init__(bits, classes)
        self.embedding, self.sparsity, self.levels = embedding, sparsity, levels
        self.rounds = rounds
        self.words = words or default_words(bits)
        check_words(self.words, bits)
        if levels < 1 or self.words % levels:
            raise ValueError(f"{levels} levels do not divide {self.words} words")

    def head_options(self, hidden: int, dropout: float) -> HeadOptions:
        """Return a linear head that gives indices of words."""
        own: HeadOptions = {"embedding": self.embedding, "words": self.words}
        return super().head_options(hidden, dropout) | own

    @torch.no_grad()
    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Project, then learn the words of one subspace after the other."""
        x = centred(head, features)
        axes = principal(x, self.embedding)
        axes = random_rotation(len(axes), like=x) @ axes
        set_output(head, pad(axes, (0, 0, 0, self.embedding - len(axes))))
        codebooks = cast(QuantiserHead, head).codebooks.zero_()
        count = min(-(-len(codebooks) // self.sparsity), len(axes))
        subspaces = torch.arange(len(axes)).tensor_split(count)
        for books, dims in zip(codebooks.tensor_split(count), subspaces, strict=True):
            z = x @ axes[dims].T
            part = SparseCode(z, len(books), self.words // self.levels, self.levels)
            for _ in range(self.rounds):
                part.improve()
            books[:, :, dims] = part.codebooks().to(books)


class SparseCode:
    """Sub-vectors as sums of a few words a·d, which are learnt together with their indices.

    Args:
        z: sub-vectors (n, d).
        places: atoms in a sum, L.
        atoms: of the dictionary.
        levels: values that the coefficient of a place can have.

    """

    def __init__(self, z: Tensor, places: int, atoms: int, levels: int) -> None:
        self.z = rest = z
        self.atoms = k_means(z, atoms, LLOYD_ROUNDS)
        self.levels = z.new_ones(places, levels)
        self.codes = torch.zeros(len(z), places, dtype=torch.long, device=z.device)
        norms = self.atoms.norm(dim=1).clamp_min(TINY)
        middles = (torch.arange(levels, device=z.device) + 0.5).to(z) / levels
        for place in range(places):
            atom = (rest @ self.atoms.T / norms).abs().argmax(dim=1)
            along = (rest * self.atoms[atom]).sum(dim=1) / norms[atom].square()
            self.levels[place] = along.quantile(middles)
            book = self.codebooks()[[place]]
            self.codes[:, [place]] = assign(rest, book)
            rest = rest - reconstruct(self.codes[:, [place]], book)

    def codebooks(self) -> Tensor:
        """Multiply atoms and levels to words: (places, atoms · levels, d)."""
        return (self.levels[:, None, :, None] * self.atoms[:, None, :]).flatten(1, 2)

    def rest(self) -> Tensor:
        """Compute what the sums leave of the sub-vectors, z − Σ a·d."""
        return self.z - reconstruct(self.codes, self.codebooks())

    def improve(self) -> None:
        """Improve indices, atoms and levels in turn; none raises ‖z − Σ a·d‖²."""
        self.codes = assign(self.z, self.codebooks(), self.codes)
        self.fit_atoms()
        for place in range(len(self.levels)):
            self.fit_levels(place)

    def fit_atoms(self) -> None:
        """Move the atoms to where the error is smallest, by least squares."""
        atom, level = self.codes // self.levels.shape[1], self.codes % self.levels.shape[1]
        coefficient = self.levels.T.gather(0, level)[:, :, None]
        used = (coefficient * one_hot(atom, len(self.atoms))).sum(dim=1)
        gram = used.T @ used
        gram.diagonal().add_(RIDGE)
        self.atoms = self.atoms + torch.linalg.solve(gram, used.T @ self.rest())

    def fit_levels(self, place: int) -> None:
        """Move the levels of a place to where the error is smallest; unused ones stay."""
        levels, code = self.levels[place], self.codes[:, place]
        at = one_hot(code % len(levels), len(levels)).to(self.z)
        atom = self.atoms[code // len(levels)]
        length = at.T @ atom.square().sum(dim=1)
        self.levels[place] += at.T @ (self.rest() * atom).sum(dim=1) / length.clamp_min(TINY)
