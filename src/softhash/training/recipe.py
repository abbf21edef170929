"""One training run's settings, to and from TOML; an unknown key is an error.

A recipe file names what differs from the defaults of its mode::

    mode = "finetune"
    method = "idhn"
    bits = 48
    [settings]            # the method's own
    alpha = 0.1
"""

import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tomli_w

from softhash.codes import DEFAULT_BITS, check_bits
from softhash.devices import require_torch
from softhash.errors import InputError, UsageError, unknown_name

if TYPE_CHECKING:
    from softhash.training.methods.method import Defaults, Method

MODES = ("frozen", "finetune")
OPTIMISERS = ("adam", "adamw")
SCHEDULES = ("constant", "cosine", "halving", "one-cycle")

MAX_SEED = 2**63 - 1  # torch takes no larger ones
MAX_TEACHER_ZOOM = 4.0  # sixteen times as many pixels

_CHOICES = {"mode": MODES, "optimiser": OPTIMISERS, "schedule": SCHEDULES}
_LEAST = {"epochs": 1, "batch_size": 2, "hidden": 0, "halve_every": 1, "warm_up": 0, "size": 0}
_LEAST |= {"head_rate": 0, "backbone_rate": 0, "weight_decay": 0}


@dataclass(frozen=True)
class Recipe:
    """How codes are learned.

    Attributes:
        mode: `frozen` trains a head on cached features, `finetune` the whole network.
        method: see `softhash list methods`.
        bits: length of the codes.
        backbone: see `softhash list backbones`.
        weights: where the backbone starts: `default`, `random`, or a file; layers that the file
            lacks start at random.
        size: side of the pictures in pixels, 0 for what the backbone was trained with.
        seed: what chance depends on.
        epochs: passes over the train set.
        batch_size: pictures per step; all pairs among them are compared.
        hidden: units of a hidden layer of the head, 0 for none.
        dropout: share of hidden units (without them: of features) that a step leaves out.
        feature_dropout: share of the backbone's features that a step leaves out.
        skip_dropout: share of the features left out on a linear path beside the hidden layer, 1 for
            no such path.
        standardise: whether features are brought to mean 0 and deviation 1 before the head.
        optimiser: `adam` or `adamw`.
        head_rate: learning rate of the head and of what the method owns.
        backbone_rate: learning rate of the backbone.
        weight_decay: of all weights.
        schedule: `constant`, `cosine` to 0, `halving` every `halve_every` steps, or `one-cycle`.
        halve_every: steps.
        warm_up: epochs in which the head alone is trained, on features, before fine-tuning.
        augment: whether pictures are zoomed, mirrored and brightened at random.
        teacher_zoom: upsampling factor of the teacher's pictures in fine-tuning, 0 for no teacher.
            See `softhash.training.teacher`.
        freeze_batch_norm: whether the backbone's batch statistics stay as they are.
        average: decay of the running mean of the weights that is kept instead of them, 0 for none.
        settings: the method's own.

    """

    mode: str = "frozen"
    method: str = "softhash"
    bits: int = DEFAULT_BITS
    backbone: str = "efficientnet_lite0"
    weights: str = "default"
    size: int = 0
    seed: int = 0
    epochs: int = 40
    batch_size: int = 128
    hidden: int = 1024
    dropout: float = 0.5
    feature_dropout: float = 0.0
    skip_dropout: float = 1.0
    standardise: bool = True
    optimiser: str = "adamw"
    head_rate: float = 3e-3
    backbone_rate: float = 1e-4
    weight_decay: float = 1e-2
    schedule: str = "cosine"
    halve_every: int = 500
    warm_up: int = 0
    augment: bool = False
    teacher_zoom: float = 0.0
    freeze_batch_norm: bool = True
    average: float = 0.0
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_bits(self.bits)
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise unknown_name(name, getattr(self, name), allowed)
        self._check_numbers()
        for name in ("dropout", "feature_dropout", "average"):
            if not 0 <= getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}", "give 0 or more, less than 1")
        if not 0 <= self.skip_dropout <= 1:
            raise UsageError(f"skip_dropout is {self.skip_dropout}", "give a share from 0 to 1")
        if self.teacher_zoom and not 1 < self.teacher_zoom <= MAX_TEACHER_ZOOM:
            raise UsageError(
                f"teacher_zoom is {self.teacher_zoom}",
                f"give 0 for none, or more than 1 up to {MAX_TEACHER_ZOOM:g}",
            )

    def _check_numbers(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if not least <= value <= sys.float_info.max:
                hint = f"give at least {least}" if value < least else "give a finite number"
                raise UsageError(f"{name} is {str(value)[:40]}", hint)
        if not -MAX_SEED <= self.seed <= MAX_SEED:
            raise UsageError(f"seed has {self.seed.bit_length()} bits", "give up to 63 bits")

    @classmethod
    def with_defaults(cls, **values: Any) -> "Recipe":
        """Build a recipe from the defaults of its mode, of its method, and what is given.

        Args:
            values: keys of the recipe; `method` may be a class too, whose name is recorded.

        >>> Recipe.with_defaults(mode="finetune", bits=12).schedule
        'one-cycle'

        """
        mode, method = values.get("mode", cls.mode), values.get("method", cls.method)
        if mode not in MODES:
            raise unknown_name("mode", str(mode), MODES)
        if not isinstance(method, str):
            values = {**values, "method": getattr(method, "name", method)}
        return cls(**_checked({**_DEFAULTS[mode], **_method_defaults(method, mode), **values}))

    @classmethod
    def read(cls, path: str | os.PathLike[str], **values: Any) -> "Recipe":
        """Read a TOML file; values that are given win over the file's."""
        return cls.with_defaults(**{**read_toml(path), **values})

    def changed(self, **values: Any) -> "Recipe":
        """Return the recipe with some values replaced."""
        return replace(self, **_checked(values))

    def as_dict(self) -> dict[str, Any]:
        """Return every value, for JSON: of NumPy's numbers, Python's own."""
        values = {name: _plain(value) for name, value in asdict(self).items()}
        return values | {"settings": {name: _plain(own) for name, own in self.settings.items()}}

    def to_toml(self) -> str:
        """Write every value as TOML, which `read` reads back as the same recipe."""
        try:
            return tomli_w.dumps(self.as_dict())
        except TypeError as error:
            raise UsageError(f"a setting cannot be written as TOML: {error}") from None


_DEFAULTS: dict[str, dict[str, Any]] = {
    "frozen": {},
    "finetune": {
        "epochs": 20,
        "schedule": "one-cycle",
        "warm_up": 20,
        "average": 0.99,
    },
}


def _method_defaults(method: "str | type[Method]", mode: str) -> Mapping[str, Any]:
    """Return what suits a method better than the defaults that all others are compared with."""
    require_torch()
    from softhash.training.methods import find_method

    kind = find_method(method) if isinstance(method, str) else method
    defaults: Defaults = getattr(kind, "defaults", {})
    return defaults.get(mode, {})


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8", "save the file as UTF-8") from None
    except (ValueError, RecursionError) as error:  # endless numbers, endless nesting
        raise InputError(f"{path} is not TOML: {error}") from None


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values; raise on unknown keys and on values of another type."""
    known = {f.name: f for f in fields(Recipe)}
    for name, value in values.items():
        if name not in known:
            raise unknown_name("recipe key", name, known)
        wanted = type(Recipe.__dataclass_fields__[name].default)
        if name == "settings":
            fits = isinstance(value, Mapping)
        elif wanted is float:
            fits = isinstance(value, int | float) and not isinstance(value, bool)
        else:
            fits = type(value) is wanted
        if not fits:
            kind = "table" if name == "settings" else wanted.__name__
            raise UsageError(f"recipe key {name} is {value!r}", f"it takes a {kind}")
    return dict(values)
