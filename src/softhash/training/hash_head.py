"""The hash head of a hasher that is to be trained: what method, recipe and caller ask for."""

from typing import Any

import torch

from softhash.errors import UsageError
from softhash.model.config import HeadOptions
from softhash.model.hasher import Hasher
from softhash.training.methods import Method, Shallow, create
from softhash.training.recipe import Recipe

_ABSENT = {"lift": "relu", "embedding": 0, "words": 0}  # of a head that does not name them
_SHAPE = ("lift", "embedding", "words")  # without which no method finds its layers


def decide_head(hasher: Hasher, kind: type[Method], recipe: Recipe) -> None:
    """Give a new hasher its head; check the head of one that was trained or loaded.

    Options that the hasher was made with win over the recipe's, and over the method's where the
    method works with them.

    Args:
        hasher: changed in place.
        kind: the method.
        recipe: hidden units, dropout, seed and the method's settings.

    Raises:
        UsageError: the method cannot work with the head, or the options, that the hasher has.

    """
    with torch.random.fork_rng([]):  # a method may draw numbers when it is made
        method = create(kind, recipe.bits, 1, **recipe.settings)
    hasher.lengths = method.lengths
    asked = hasher.asked_head
    if asked is None:
        fixed = (*_SHAPE, "hidden", "activation") if isinstance(method, Shallow) else _SHAPE
        own = hasher.config
        wanted = {**_ABSENT, **method.head_options(own["hidden"], own["dropout"])}
        _check_equal(kind.name, {key: own[key] for key in fixed}, wanted)
    else:
        hasher.decide_head(_options(method, asked, recipe))


def _options(method: Method, asked: HeadOptions, recipe: Recipe) -> HeadOptions:
    """Return the head that is made: every option."""
    hidden, dropout = asked.get("hidden", recipe.hidden), asked.get("dropout", recipe.dropout)
    own: HeadOptions = {
        "feature_dropout": recipe.feature_dropout,
        "skip_dropout": 1.0 if isinstance(method, Shallow) else recipe.skip_dropout,
        "seed": recipe.seed,
    }
    own |= method.head_options(hidden, dropout)
    free = {"feature_dropout", "skip_dropout", "seed"} | (
        set() if isinstance(method, Shallow) else {"activation"}
    )
    fixed = {key: value for key, value in asked.items() if key not in free}
    _check_equal(method.name, fixed, {**_ABSENT, **own})
    return own | asked


def _check_equal(name: str, given: dict[str, Any], wanted: dict[str, Any]) -> None:
    for key, value in given.items():
        if value != wanted[key]:
            raise UsageError(
                f"{name} needs a head with {key}={wanted[key]!r}, and this hasher has {value!r}",
                "start from a new Hasher without that option",
            )
