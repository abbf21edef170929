"""What a method is: a loss on the real-valued outputs u of a hash head.

One paper, one file. A module of this package that defines ``METHODS`` (names to classes) adds them;
no other file is touched. A method's own settings are the keyword arguments of its ``__init__``.
"""

import inspect
from typing import Any, ClassVar

from torch import Tensor, nn


class Method(nn.Module):
    """A loss on outputs; parameters it owns (classifiers, centres) are trained with the network.

    Args:
        bits: columns of u.
        classes: columns of the labels.

    """

    activation: ClassVar[str] = "softsign"  # what the hash head ends in; see `heads.ACTIVATIONS`

    def __init__(self, bits: int, classes: int) -> None:
        super().__init__()
        self.bits = bits
        self.classes = classes

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Return the loss of a batch: u (n, bits), labels (n, classes), positions (n,)."""
        raise NotImplementedError

    @classmethod
    def setting_names(cls) -> tuple[str, ...]:
        """Name the settings that can be given beside bits and classes."""
        return tuple(inspect.signature(cls.__init__).parameters)[3:]

    def settings(self) -> dict[str, Any]:
        """Return the settings in force, those left to their defaults included."""
        return {name: getattr(self, name) for name in self.setting_names()}
