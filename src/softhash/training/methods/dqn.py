"""DQN: Deep Quantization Network for Efficient Image Retrieval.

Cao, Long, Wang, Zhu and Wen, AAAI 2016. Not a Hamming method: a picture is a vector z of 300
numbers, stored as one word from each of M codebooks of K words, q = M·log₂K bits; a query's own z
is compared with the sum of a picture's words (asymmetric quantiser distance).

    L = mean (s̄ − cos(zᵢ, zⱼ))² over all pairs + λ·mean ‖z − C h‖²,   s̄ = ±1: shares a label

Multi-label, as in the paper: similar is whoever shares a label. λ = 1e-4, 300 dimensions, tanh, the
start of codebooks in product form by k-means, and assignment by iterated conditional modes in three
sweeps are those of the authors' published code, as is that the second term waits for the first
codebooks, after an epoch. Codebooks and codes are then improved in turn, once per epoch, on the
last z of every picture; words by least squares, as in the paper (the code starts them anew each
time). After training they are fitted to the z of the final network, without dropout.

As in the paper, z comes straight from the features: it is the hidden layer. Another one before it
drives the tanh into its corners, and cost 0.09 of MAP on a validation part of VOC2012.

K = 64 where q is a multiple of 6, so that all lengths of the IDHN paper (12, 24, 36, 48) have the
same K and M = q/6; K = 256 would not go into 12 and 36. Otherwise log₂K is the largest divisor of q
up to 8.

Checked: loss against an independent float64 version by loops, gradient by finite differences;
assignment against exhaustive search; neither assignment nor least squares raises the error.
"""

from collections.abc import Callable
from typing import ClassVar, cast

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from softhash.model.config import HeadOptions
from softhash.model.heads import Head, QuantiserHead
from softhash.model.quantiser import (
    assign,
    fit_codebooks,
    reconstruct,
    start_codebooks,
    word_bits,
)
from softhash.training.methods.losses import label_overlap
from softhash.training.methods.method import Line, Method

FINAL_ROUNDS = 10  # of assignment and least squares, after training


class DQN(Method):
    """Learns vectors by their cosines, and codebooks for them; ranks by quantiser distance."""

    name, title, order = "dqn", "DQN", 200
    line = Line("#56b4e9", "-", "v")
    activation = "tanh"
    ranking: ClassVar[str] = "quantiser"
    codebooks: Tensor
    vectors: Tensor
    seen: Tensor
    codes: Tensor
    targets: Tensor
    assigned: Tensor

    def __init__(
        self,
        bits: int,
        classes: int,
        *,
        lambda_: float = 1e-4,
        embedding: int = 300,
        words: int | None = None,
    ) -> None:
        super().__init__(bits, classes)
        self.lambda_ = lambda_
        self.embedding = embedding
        self.words = default_words(bits) if words is None else words
        self.books = bits // word_bits(self.words)
        self.register_buffer("codebooks", torch.zeros(self.books, self.words, embedding))

    @property
    def width(self) -> int:
        """Columns of z."""
        return self.embedding

    def head_options(self, hidden: int, dropout: float) -> HeadOptions:
        """Return a head that gives z in training and indices of words afterwards.

        Without a hidden layer, whatever the recipe has: z is one, between features and codes.
        """
        options = super().head_options(0, dropout)
        return options | {"embedding": self.embedding, "words": self.words}

    def start(self, labels: Tensor) -> None:
        """Make room for the last z of every picture, its code and its sum of words."""
        n, device = len(labels), labels.device
        self.register_buffer("vectors", torch.zeros(n, self.embedding, device=device))
        self.register_buffer("targets", torch.zeros(n, self.embedding, device=device))
        self.register_buffer("seen", torch.zeros(n, dtype=torch.bool, device=device))
        self.register_buffer("assigned", torch.zeros(n, device=device))
        codes = torch.zeros(n, self.books, dtype=torch.long, device=device)
        self.register_buffer("codes", codes)

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """L = pairs + λ·quantisation, of z = u."""
        self.vectors[index] = u.detach().to(self.vectors.dtype)
        self.seen.index_fill_(0, index, True)
        direction = F.normalize(u, dim=1)
        s = 2 * label_overlap(labels).to(u.dtype) - 1
        pairs = (s - direction @ direction.T).square().mean()
        error = (u - self.targets[index]).square().sum(1)
        return pairs + self.lambda_ * (self.assigned[index] * error).mean()

    @torch.no_grad()
    def epoch(self) -> None:
        """Improve codes and codebooks in turn, in place: a captured step reads them from there."""
        z = self.vectors[self.seen]
        if self.assigned.any():
            codes = assign(z, self.codebooks, self.codes[self.seen])
        else:
            self.codebooks.copy_(start_codebooks(z, self.books, self.words))
            codes = assign(z, self.codebooks)
        self.codebooks.copy_(fit_codebooks(z, codes, self.codebooks))
        self.codes[self.seen] = assign(z, self.codebooks, codes)
        self.targets.copy_(reconstruct(self.codes, self.codebooks))
        self.assigned.copy_(self.seen)

    @torch.no_grad()
    def finish(self, head: Head, features: Callable[[], Tensor]) -> None:
        """Fit the codebooks to the vectors of the trained head, and hand them over."""
        quantiser = cast(QuantiserHead, head)
        z = quantiser.embed(features())
        codebooks = start_codebooks(z, self.books, self.words)
        codes = assign(z, codebooks)
        for _ in range(FINAL_ROUNDS):
            codebooks = fit_codebooks(z, codes, codebooks)
            codes = assign(z, codebooks, codes)
        quantiser.codebooks.copy_(codebooks)


def default_words(bits: int) -> int:
    """Choose the size of the codebooks for codes of so many bits.

    >>> [default_words(bits) for bits in (12, 48, 16, 13)]
    [64, 64, 256, 2]
    """
    sizes = (6, 8, 7, 5, 4, 3, 2, 1)
    return int(2 ** next(size for size in sizes if bits % size == 0))
