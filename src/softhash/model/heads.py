"""From features to the real-valued outputs ``u`` whose signs are the code."""

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from softhash.codes import check_bits
from softhash.errors import InputError, UsageError, unknown_name
from softhash.model import quantiser
from softhash.model.config import LIFTS, check_dropout, check_words

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "cosine": torch.cos,  # of spectral hashing: bits alternate along a direction
    "identity": lambda x: x,
    "softsign": functional.softsign,
    "tanh": torch.tanh,
}

INITIAL_STD = 0.01  # of the last layer: u starts near 0, where every activation is steep
SCALE_FLOOR = 0.01  # of the mean deviation: features that hardly vary are not blown up to noise


def choose_scale(std: Tensor) -> Tensor:
    """Choose what to divide features by that have these standard deviations.

    >>> choose_scale(torch.tensor([1.0, 2.0, 0.0])).tolist()
    [1.0, 2.0, 0.009999999776482582]
    """
    floor = SCALE_FLOOR * std.mean()
    return std.clamp_min(floor) if floor > 0 else torch.ones_like(std)


class Kernel(nn.Module):
    """Similarities to so many anchors, exp(−‖x − a‖² / 2σ²), less their mean over a train set."""

    anchors: Tensor
    sigma: Tensor
    offset: Tensor

    def __init__(self, features: int, count: int) -> None:
        super().__init__()
        self.register_buffer("anchors", torch.zeros(count, features))
        self.register_buffer("sigma", torch.ones(()))
        self.register_buffer("offset", torch.zeros(count))

    def forward(self, x: Tensor) -> Tensor:
        """Map features (n, d) to similarities (n, anchors)."""
        return self.similarities(x) - self.offset

    def similarities(self, x: Tensor) -> Tensor:
        """Compute the similarities as they are."""
        a = self.anchors
        squared = x.square().sum(1, keepdim=True) + a.square().sum(1) - 2 * x @ a.T
        return torch.exp(-squared.clamp_min(0) / (2 * self.sigma.square()))


class Head(nn.Module):
    """Standardised features x → (lift) → linear → activation, with a linear path beside the lift.

        u = activation(W·lift(x) + S·x + b)

    The path keeps what a lift that was learned from labels forgets.

    Args:
        features: numbers per picture.
        bits: length of the code.
        hidden: units of the hidden layer, or anchors of the kernel; 0 leaves both out.
        dropout: share of the hidden units (without them: of the features) dropped in training.
        feature_dropout: share of the standardised features dropped before that.
        skip_dropout: share of the features dropped on the linear path; 1, and there is no such
            path. A head without a lift is linear anyway.
        activation: one of `ACTIVATIONS`; what bounds u.
        lift: what comes before the linear layer: `relu`, a hidden layer; `rbf`, a `Kernel`.

    >>> _ = torch.manual_seed(0)
    >>> Head(features=4, bits=12)(torch.ones(2, 4)).shape
    torch.Size([2, 12])

    """

    mean: Tensor
    scale: Tensor

    def __init__(
        self,
        features: int,
        bits: int,
        *,
        hidden: int = 0,
        dropout: float = 0.0,
        feature_dropout: float = 0.0,
        skip_dropout: float = 1.0,
        activation: str = "softsign",
        lift: str = "relu",
    ) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise unknown_name("activation", activation, ACTIVATIONS)
        if lift not in LIFTS:
            raise unknown_name("lift", lift, LIFTS)
        check_dropout(dropout, feature_dropout, skip_dropout)
        if features < 1 or hidden < 0:
            raise UsageError(f"a head of {features} features and {hidden} hidden units is none")
        self.activation = activation
        self.feature_dropout, self.skip_dropout = feature_dropout, skip_dropout
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("scale", torch.ones(features))
        self.hidden = nn.Sequential(*_lifted(lift, features, hidden), nn.Dropout(dropout))
        self.output = nn.Linear(hidden or features, check_bits(bits))
        nn.init.normal_(self.output.weight, std=INITIAL_STD)
        nn.init.zeros_(self.output.bias)
        self.skip: nn.Linear | None = None
        if hidden and skip_dropout < 1:
            self.skip = nn.Linear(features, bits, bias=False)
            nn.init.normal_(self.skip.weight, std=INITIAL_STD)

    def forward(self, features: Tensor) -> Tensor:
        """Map features (n, d) to u (n, bits)."""
        standard = (features - self.mean) / self.scale
        if self.feature_dropout:
            standard = functional.dropout(standard, self.feature_dropout, self.training)
        u = self.output(self.hidden(standard))
        if self.skip is not None:
            u = u + self.skip(functional.dropout(standard, self.skip_dropout, self.training))
        return ACTIVATIONS[self.activation](u)

    @property
    def kernel(self) -> Kernel:
        """The kernel of a head that has one."""
        return cast(Kernel, self.hidden[0])

    def lifted(self, features: Tensor) -> Tensor:
        """Return what the linear layer sees of features (n, d), without dropout."""
        x = (features - self.mean) / self.scale
        return cast(Tensor, self.hidden[:-1](x))

    @torch.no_grad()
    def standardise(self, features: Tensor) -> None:
        """Take mean and standard deviation from the features (n, d) of a train set."""
        if features.ndim != 2 or features.shape[1] != len(self.mean) or not len(features):
            raise InputError(
                f"features have the shape {tuple(features.shape)}",
                f"this head takes (n, {len(self.mean)}) with n of at least 1",
            )
        if not features.isfinite().all():
            row = int((~features.isfinite()).any(dim=1).nonzero()[0])
            raise InputError(f"features hold NaN or infinity, first in row {row}")
        std, mean = torch.std_mean(features.double(), dim=0, correction=0)
        self.mean.copy_(mean)
        self.scale.copy_(choose_scale(std))

    @torch.no_grad()
    def centre(self, features: Tensor) -> None:
        """Take the mean alone from the features of a train set, for methods that want that."""
        self.standardise(features)
        self.scale.fill_(1)


def _lifted(lift: str, features: int, hidden: int) -> list[nn.Module]:
    if not hidden:
        return []
    return [Kernel(features, hidden)] if lift == "rbf" else [nn.Linear(features, hidden), nn.ReLU()]


class QuantiserHead(Head):
    """A head whose linear layer gives a vector z, and whose code is a word from each codebook.

    In training it returns z (n, embedding). In evaluation mode it returns the bits of the words'
    indices as ±1 (n, bits), so that they are packed as any code; their Hamming distance means
    nothing, `distances` does.

    Args:
        features: numbers per picture.
        bits: length of the code.
        embedding: numbers of z.
        words: words of a codebook, a power of two; there are bits / log₂(words) codebooks.
        options: as of `Head`.

    >>> QuantiserHead(features=4, bits=12, embedding=7, words=64).eval()(torch.ones(2, 4)).shape
    torch.Size([2, 12])

    """

    codebooks: Tensor
    table: Tensor

    def __init__(
        self, features: int, bits: int, *, embedding: int, words: int, **options: Any
    ) -> None:
        check_words(words, check_bits(bits))
        super().__init__(features, embedding, **options)
        books = bits // quantiser.word_bits(words)
        self.register_buffer("codebooks", torch.zeros(books, words, embedding))
        self.register_buffer("table", quantiser.bit_table(words), persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """Map features (n, d) to z in training, to bits of indices otherwise."""
        z = self.embed(features)
        if self.training:
            return z
        return self.table[quantiser.assign(z, self.codebooks)].flatten(1)

    def embed(self, features: Tensor) -> Tensor:
        """Map features (n, d) to z (n, embedding)."""
        return super().forward(features)

    def distances(self, features: Tensor, codes: Tensor) -> Tensor:
        """Compute distances (q, n) of queries' features to unpacked codes (n, bits) of 0 and 1."""
        words = quantiser.indices(codes, self.codebooks.shape[1])
        return quantiser.distances(self.embed(features), words, self.codebooks)


def make_head(features: int, bits: int, **options: Any) -> Head:
    """Make the head that options ask for: one that quantises where it has an embedding.

    Args:
        features: numbers per picture.
        bits: length of the code.
        options: `HeadOptions`.

    """
    embedding, words = options.pop("embedding", 0), options.pop("words", 0)
    if embedding:
        return QuantiserHead(features, bits, embedding=embedding, words=words, **options)
    return Head(features, bits, **options)
