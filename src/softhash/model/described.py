"""What a model is, as far as its settings go: asked without running it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from softhash.model.config import ModelConfig
from softhash.model.label_classifier import LabelClassifier
from softhash.model.lazy_network import LazyNetwork


class DescribedModel:
    """A model's settings as properties; `Hasher` adds what it computes."""

    _state: LazyNetwork
    label_classifier: LabelClassifier | None  # where training knew names of labels

    @property
    def _config(self) -> ModelConfig:
        return self._state.config

    @property
    def bits(self) -> int:
        """Length of the codes."""
        return self._config.bits

    @property
    def backbone(self) -> str | None:
        """Name of the backbone, None for a hasher of features."""
        return self._config.backbone

    @property
    def engine(self) -> str:
        """The numbers that a processor computes its codes with: `fp32`, or `int8`."""
        return self._config.engine

    @property
    def ranking(self) -> str:
        """What its codes are compared by: `hamming`, or `quantiser` where they are indices."""
        return self._config.ranking

    def check_hamming(self) -> None:
        """Raise where the Hamming distance of its codes means nothing."""
        self._config.check_hamming()

    @property
    def size(self) -> int | None:
        """Side of the pictures that the backbone takes; others are resized to it."""
        return self._config.size or None

    @property
    def config(self) -> dict[str, Any]:
        """All settings, as plain values."""
        return self._config.as_dict()

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels it was trained on; empty for an untrained one."""
        return self._config.classes

    @classes.setter
    def classes(self, names: Sequence[str]) -> None:
        if tuple(names) != self.classes:
            self.label_classifier = None  # it is of other labels
        self._state.config = replace(self._config, classes=tuple(names))

    @property
    def lengths(self) -> tuple[int, ...]:
        """The numbers of first bits that were trained as codes of their own; often none."""
        return self._config.lengths

    @lengths.setter
    def lengths(self, lengths: Sequence[int]) -> None:
        self._state.config = replace(self._config, lengths=tuple(lengths))

    @property
    def identity(self) -> str:
        """The SHA-256 of its weights, and of the engine if that is int8.

        Codes of hashers that differ in it are not comparable.
        """
        return self._state.identity()
