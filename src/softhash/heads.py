"""From features to the real-valued outputs ``u`` whose signs are the code."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from softhash.codes import check_bits
from softhash.errors import InputError, UsageError, unknown_name

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "identity": lambda x: x,
    "softsign": functional.softsign,
    "tanh": torch.tanh,
}

INITIAL_STD = 0.01  # of the last layer: u starts near 0, where every activation is steep
SCALE_FLOOR = 0.01  # of the mean deviation: features that hardly vary are not blown up to noise


class Head(nn.Module):
    """Standardised features → (optional hidden layer) → linear → activation.

    Args:
        features: numbers a picture.
        bits: length of the code.
        hidden: units of the hidden layer, with ReLU; 0 leaves it out.
        dropout: share of the hidden units (without them: of the features) dropped in training.
        activation: one of `ACTIVATIONS`; what bounds u.

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
        activation: str = "softsign",
    ) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise unknown_name("activation", activation, ACTIVATIONS)
        if not 0 <= dropout < 1:
            raise UsageError(f"dropout is {dropout}; give a share from 0 up to, not including, 1")
        if features < 1 or hidden < 0:
            raise UsageError(f"a head of {features} features and {hidden} hidden units is none")
        self.activation = activation
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("scale", torch.ones(features))
        layers: list[nn.Module] = [nn.Linear(features, hidden), nn.ReLU()] if hidden else []
        self.hidden = nn.Sequential(*layers, nn.Dropout(dropout))
        self.output = nn.Linear(hidden or features, check_bits(bits))
        nn.init.normal_(self.output.weight, std=INITIAL_STD)
        nn.init.zeros_(self.output.bias)

    def forward(self, features: Tensor) -> Tensor:
        """Map features (n, d) to u (n, bits)."""
        standard = (features - self.mean) / self.scale
        return ACTIVATIONS[self.activation](self.output(self.hidden(standard)))

    @torch.no_grad()
    def standardise(self, features: Tensor) -> None:
        """Take mean and standard deviation from the features (n, d) of a train set."""
        if features.ndim != 2 or features.shape[1] != len(self.mean) or not len(features):
            raise InputError(
                f"features have the shape {tuple(features.shape)}; this head takes "
                f"(n, {len(self.mean)}) with n of at least 1"
            )
        if not features.isfinite().all():
            row = int((~features.isfinite()).any(dim=1).nonzero()[0])
            raise InputError(f"features hold NaN or infinity, first in row {row}")
        std, mean = torch.std_mean(features.double(), dim=0, correction=0)
        floor = SCALE_FLOOR * std.mean()
        scale = std.clamp_min(floor) if floor > 0 else torch.ones_like(std)
        self.mean.copy_(mean)
        self.scale.copy_(scale)
