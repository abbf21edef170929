"""Codes of codebooks: a vector as a sum of words, one from each of M codebooks of K words.

Shapes: z (n, d) vectors, codebooks (M, K, d), codes (n, M) indices of words. A code takes
M·log₂K bits. These are indices: their Hamming distance means nothing, a query's distance to the sum
of the words does.
"""

import torch
from torch import Tensor

SWEEPS = 3  # over the codebooks, for one assignment
LLOYD_ROUNDS = 15
# How firmly words stay where they are, in pictures. With next to nothing, as DQN's authors have it,
# words that occur together drift far apart, and codes for new pictures get hard to find.
RIDGE = 10.0


def word_bits(words: int) -> int:
    """Count the bits of an index, log₂K.

    >>> [word_bits(words) for words in (2, 64, 256)]
    [1, 6, 8]
    """
    return words.bit_length() - 1


def assign(z: Tensor, codebooks: Tensor, start: Tensor | None = None) -> Tensor:
    """Choose words by iterated conditional modes: the best of one codebook, the others held fixed.

    No choice raises the error ‖z − Σ c‖². The loops have a fixed length, so that a graph can be
    made of them.

    Args:
        z: vectors (n, d).
        codebooks: (M, K, d).
        start: codes (n, M) to start from; without them the first sweep adds codebook by codebook.

    """
    books = codebooks.unbind()
    chosen: list[Tensor | None] = [None] * len(books)
    chosen = chosen if start is None else list(start.unbind(1))
    rest = z if start is None else z - reconstruct(start, codebooks)
    for _ in range(SWEEPS):
        for m, book in enumerate(books):
            index = chosen[m]
            rest = rest if index is None else rest + book[index]
            index = (book.square().sum(1) - 2 * rest @ book.T).argmin(1)
            rest = rest - book[index]
            chosen[m] = index
    return torch.stack([index for index in chosen if index is not None], 1)


def reconstruct(codes: Tensor, codebooks: Tensor) -> Tensor:
    """Sum the words of codes: (n, d).

    >>> books = torch.tensor([[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 5.0]]])
    >>> reconstruct(torch.tensor([[1, 1], [0, 1]]), books)
    tensor([[1., 5.],
            [0., 5.]])
    """
    return codebooks[torch.arange(len(codebooks), device=codes.device), codes].sum(1)


def distances(z: Tensor, codes: Tensor, codebooks: Tensor) -> Tensor:
    """Compute the asymmetric quantiser distance ‖z − Σ c‖² of queries to codes: (q, n).

    Equal codes are at distances that are equal to the last bit.

    Args:
        z: vectors (q, d) of the queries.
        codes: indices of words (n, M) of the items.
        codebooks: (M, K, d).

    """
    distinct, which = torch.unique(codes, dim=0, return_inverse=True)
    points = reconstruct(distinct, codebooks)
    squared = z.square().sum(1, keepdim=True) + points.square().sum(1) - 2 * z @ points.T
    return squared[:, which]


def start_codebooks(z: Tensor, books: int, words: int) -> Tensor:
    """Make product codebooks by k-means: each codebook has its share of the dimensions.

    Args:
        z: vectors (n, d) of a train set.
        books: how many codebooks, M.
        words: words of each, K.

    """
    codebooks = z.new_zeros(books, words, z.shape[1])
    for m, dims in enumerate(torch.arange(z.shape[1], device=z.device).tensor_split(books)):
        codebooks[m][:, dims] = _k_means(z[:, dims], words)
    return codebooks


def fit_codebooks(z: Tensor, codes: Tensor, codebooks: Tensor) -> Tensor:
    """Move the words to where the error of these codes is smallest, by least squares.

    The ridge is about the words as they are: it leaves words without a picture alone, and the
    error cannot rise.

    Args:
        z: vectors (n, d) of a train set.
        codes: their indices of words (n, M).
        codebooks: (M, K, d), as they are now.

    """
    books, words, d = codebooks.shape
    chosen = torch.nn.functional.one_hot(codes, words).flatten(1).double()
    missing = z.double() - reconstruct(codes, codebooks.double())
    gram = chosen.T @ chosen
    gram.diagonal().add_(RIDGE)
    step = torch.linalg.solve(gram, chosen.T @ missing)
    moved: Tensor = codebooks.double() + step.view(books, words, d)
    return moved.to(codebooks.dtype)


def bit_table(words: int) -> Tensor:
    """Write the indices 0 … K − 1 as ±1, the highest bit first: (K, log₂K).

    >>> bit_table(4)
    tensor([[-1., -1.],
            [-1.,  1.],
            [ 1., -1.],
            [ 1.,  1.]])
    """
    places = torch.arange(word_bits(words)).flip(0)
    return ((torch.arange(words)[:, None] >> places) & 1) * 2.0 - 1


def indices(bits: Tensor, words: int) -> Tensor:
    """Read codes (n, M) from their bits (n, M·log₂K) of 0 and 1.

    >>> indices(torch.tensor([[1, 0, 1, 1]]), words=4)
    tensor([[2, 3]])
    """
    width = word_bits(words)
    weights = 2 ** torch.arange(width - 1, -1, -1, device=bits.device)
    return (bits.long().view(len(bits), -1, width) * weights).sum(2)


def _k_means(x: Tensor, words: int) -> Tensor:
    """Run Lloyd's algorithm from rows drawn by torch's generator; an empty cluster stays put."""
    order = torch.randperm(len(x)).to(x.device)
    centres = x[order.repeat(-(-words // len(x)))[:words]]
    for _ in range(LLOYD_ROUNDS):
        nearest = (centres.square().sum(1) - 2 * x @ centres.T).argmin(1)
        sums = torch.zeros_like(centres).index_add_(0, nearest, x)
        counts = torch.bincount(nearest, minlength=words)[:, None]
        centres = torch.where(counts > 0, sums / counts.clamp(min=1), centres)
    return centres
