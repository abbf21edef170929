"""Whether a model was trained on the queries it is measured with.

The answer is `contract["trained_on_queries"]` of a report:

- `no`: the split is the one the model was trained with;
- `all`: the model was trained on all of this collection, queries included;
- `unknown`: it was trained with another split, or on another collection, or its card names none.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softhash.data.splits.split import Split

NOTES = {
    "all": (
        "the model was trained on all of this collection, queries included: "
        "its quality on new pictures is lower than these numbers"
    ),
    "unknown": (
        "this is not the split the model was trained with, as far as its card goes: "
        "queries may have been trained on"
    ),
}


def trained_on_queries(card: Mapping[str, Any], split: "Split | None" = None) -> str:
    """Return `no`, `all` or `unknown`.

    A card that names its data and no split is of a model that was trained on all of it.

    Args:
        card: the model's card, `hasher.config["card"]`.
        split: the split that the model is measured on, where there is one.

    >>> trained_on_queries({})
    'unknown'

    """
    if split is None:
        return "unknown"
    trained = card.get("split") or {"protocol": "all"}
    if trained.get("sha256") == split.sha256:
        return "no"
    data = {"format": split.images.format, "images": len(split.images)}
    whole = trained.get("protocol") == "all" and card.get("data") == data
    return "all" if whole else "unknown"
