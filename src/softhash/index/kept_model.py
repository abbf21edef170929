"""What the model kept with an index says of itself, read once: a kept model stays what it is."""

from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from softhash.errors import InputError
from softhash.index.store import Store

if TYPE_CHECKING:
    from softhash.model.hasher import Hasher
    from softhash.model.label_classifier import LabelClassifier


class KeptModel(NamedTuple):
    """Of the settings of a model, those that an index needs without it.

    Attributes:
        lengths: the numbers of first bits that were trained as codes of their own.
        words: what its label classifier names; none without one.
        classifier: the identity of the label classifier; "" without one.

    """

    lengths: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    classifier: str = ""


def kept_model(store: Store) -> KeptModel:
    """Return what is known of the model kept with an index; nothing without one."""
    return read_model(store.model_folder, store.meta.model)


def read_model(folder: Path, identity: str) -> KeptModel:
    """Return what is known of a model by its folder, and what an index calls it."""
    return _read(folder, identity) if folder.exists() else KeptModel()


@lru_cache(maxsize=64)
def _read(folder: Path, identity: str) -> KeptModel:
    from softhash.model.folder import LABELS, read_config
    from softhash.model.label_classifier import NO_WORD

    with suppress(InputError):  # a search by picture reports what is wrong with it
        config = read_config(folder)
        if LABELS in config.sha256 and len(config.classes) <= NO_WORD:
            return KeptModel(config.lengths, config.classes, str(config.sha256[LABELS]))
        return KeptModel(config.lengths)
    return KeptModel()


def kept_classifier(store: Store) -> "LabelClassifier | None":
    """Return the label classifier of the model kept with an index; None without one.

    It may be that of `HammingIndex.hasher`, or not: what an index keeps is made by its own.
    """
    return _classifier(store.model_folder, kept_model(store).classifier)


def with_kept_classifier(hasher: "Hasher", store: Store) -> "Hasher":
    """Return the model kept with an index, its label classifier shared with `kept_classifier`."""
    hasher.label_classifier = kept_classifier(store) or hasher.label_classifier
    return hasher


@lru_cache(maxsize=4)
def _classifier(folder: Path, identity: str) -> "LabelClassifier | None":
    from softhash.model.folder import read_config
    from softhash.model.label_classifier import LabelClassifier

    return LabelClassifier.read(folder, read_config(folder)) if identity else None
