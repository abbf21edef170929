"""What a method is: a loss on the real-valued outputs u of a hash head, or a way to fit one.

One paper, one file. A module of this package that defines ``METHODS`` (names to classes) adds them;
no other file is touched. A method's own settings are the keyword arguments of its ``__init__``.
"""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from torch import Tensor, nn

from softhash.model.config import HeadOptions
from softhash.model.heads import Head


class Method(nn.Module):
    """A loss on outputs; parameters it owns (classifiers, centres) are trained with the network.

    Args:
        bits: length of the codes, and as a rule the columns of u.
        classes: columns of the labels.

    """

    activation: ClassVar[str] = "softsign"  # what the hash head ends in; see `heads.ACTIVATIONS`
    ranking: ClassVar[str] = "hamming"  # or "quantiser": codes are indices, see `quantiser`

    def __init__(self, bits: int, classes: int) -> None:
        super().__init__()
        self.bits = bits
        self.classes = classes

    @property
    def width(self) -> int:
        """Columns of the u that `forward` takes: the bits, except for a quantiser."""
        return self.bits

    def head_options(self, hidden: int, dropout: float) -> HeadOptions:
        """Say what kind of head the method wants; a recipe asks for `hidden` and `dropout`."""
        return {"hidden": hidden, "dropout": dropout, "activation": self.activation}

    def study(self, features: Tensor, labels: Tensor) -> None:
        """Look at a train set, features (n, d) of the untouched backbone and labels (n, classes).

        Called once, before `start`, also when a run is resumed.
        """

    def start(self, labels: Tensor) -> None:
        """Get ready for a train set with these labels (items, classes), before the first step.

        Called once, on the device that trains, also when a run is resumed: what is remembered of
        every picture belongs into buffers made here, and positions are rows of these labels.
        """

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Return the loss of a batch: u (n, width), labels (n, classes), positions (n,)."""
        raise NotImplementedError

    def epoch(self) -> None:
        """Do what is due once an epoch, outside of steps; buffers are to be changed in place."""

    def finish(self, head: Head, features: Callable[[], Tensor]) -> None:
        """Do what is left once training is over, such as handing the head more than weights.

        Called once, with the head in evaluation mode. `features()` computes the features of the
        train set, in the order of its labels.
        """

    @classmethod
    def setting_names(cls) -> tuple[str, ...]:
        """Name the settings that can be given beside bits and classes."""
        return tuple(inspect.signature(cls.__init__).parameters)[3:]

    def settings(self) -> dict[str, Any]:
        """Return the settings in force, those left to their defaults included."""
        return {name: getattr(self, name) for name in self.setting_names()}


class Shallow(Method):
    """A method that fits a head to features by itself, in closed form or by its own descent."""

    activation: ClassVar[str] = "identity"

    def head_options(self, hidden: int, dropout: float) -> HeadOptions:
        """Ask for a linear head, whatever the recipe says of hidden layers."""
        return {"hidden": 0, "dropout": 0.0, "activation": self.activation}

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Refuse: there is no loss to follow."""
        raise TypeError(f"{type(self).__name__} is fitted to features, not trained by a loss")

    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Set the head's numbers, its mean and scale included, from features (n, d) and labels.

        Chance comes from torch's own generator, which the caller has seeded.
        """
        raise NotImplementedError
