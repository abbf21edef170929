"""What a method is: a loss on the real-valued outputs u of a hash head, or a way to fit one.

One paper, one file. A class with a `name` in a module of this package is a method: its title, its
place and look in plots and the settings that suit it are stated in its class, and no other file is
touched. A method's own settings are the keyword arguments of its ``__init__``.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from torch import Tensor, nn

from softhash.model.config import HeadOptions
from softhash.model.heads import Head

LAST = 1000  # the place of a method that states none

Defaults = Mapping[str, Mapping[str, Any]]  # mode → keys of the recipe


class Line(NamedTuple):
    """How a method is drawn, in matplotlib's terms.

    Attributes:
        colour: of its line, as "#rrggbb".
        dashes: "-", "--", ":" or "-.".
        marker: a letter or sign.
        bold: whether the line is thick and in front, and the bar coloured.

    """

    colour: str
    dashes: str = "-"
    marker: str = "o"
    bold: bool = False


class Method(nn.Module):
    """A loss on outputs; parameters it owns (classifiers, centres) are trained with the network.

    A class is a method of its own once it states a `name`. `name` and `title` are not inherited, so
    that a variant of a method never passes for it; everything else is.

    Args:
        bits: length of the codes, and as a rule the columns of u.
        classes: columns of the labels.

    """

    name: ClassVar[str] = ""  # what recipes and commands call it; empty for shared code
    title: ClassVar[str] = ""  # as its paper spells it; the name by default
    order: ClassVar[int] = LAST  # place in tables and legends, smallest first
    line: ClassVar[Line | None] = None  # look in figures; by default one that is free
    defaults: ClassVar[Defaults] = {}  # settings of the recipe that suit it, by mode
    activation: ClassVar[str] = "softsign"  # what the hash head ends in; see `heads.ACTIVATIONS`
    ranking: ClassVar[str] = "hamming"  # or "quantiser": codes are indices, see `quantiser`
    lengths: tuple[int, ...] = ()  # numbers of first bits that it trains as codes of their own
    unsupervised: ClassVar[bool] = False  # whether it learns from features alone, without labels

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.name = vars(cls).get("name", "")
        cls.title = vars(cls).get("title", cls.name)

    def __init__(self, bits: int, classes: int) -> None:
        super().__init__()
        self.bits = bits
        self.classes = classes

    @property
    def width(self) -> int:
        """Columns of the u that `forward` takes: the bits, except for a quantiser."""
        return self.bits

    def head_options(self, hidden: int, dropout: float) -> HeadOptions:
        """Return the head that the method needs.

        Args:
            hidden: units of the hidden layer that the recipe asks for.
            dropout: share of units that the recipe asks for.

        """
        return {"hidden": hidden, "dropout": dropout, "activation": self.activation}

    def study(self, features: Tensor, labels: Tensor) -> None:
        """Look at a train set, features (n, d) of the untouched backbone and labels (n, classes).

        Called once, before `start`, also when a run is resumed.
        """

    def plan(self, steps: int) -> None:
        """Prepare for a run of so many steps, those in which the head alone is warmed up included.

        Called once, before `start`, also when a run is resumed.
        """

    def start(self, labels: Tensor) -> None:
        """Get ready for a train set with these labels (items, classes), before the first step.

        Called once, on the device that trains, also when a run is resumed: what is remembered of
        every picture belongs into buffers made here, and positions are rows of these labels. After
        a warm-up, parameters and persistent buffers go on from what they were at its end.
        """

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Return the loss of a batch.

        Args:
            u: outputs of the head (n, width).
            labels: (n, classes), multi-hot.
            index: positions of the pictures in the train set (n,).

        """
        raise NotImplementedError

    def epoch(self) -> None:
        """Do what is due once per epoch, outside of steps; buffers are to be changed in place."""

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
        """Return a linear head, whatever hidden layer the recipe asks for."""
        return {"hidden": 0, "dropout": 0.0, "activation": self.activation}

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """Raise: there is no loss to follow."""
        raise TypeError(f"{type(self).__name__} is fitted to features, not trained by a loss")

    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Set the head's numbers, its mean and scale included.

        Chance comes from torch's own generator, which the caller has seeded.

        Args:
            head: made by `head_options`, in evaluation mode.
            features: of the train set (n, d).
            labels: of the train set (n, classes), multi-hot.

        """
        raise NotImplementedError
