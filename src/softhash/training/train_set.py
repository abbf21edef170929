"""Which pictures a method is trained on, and whether they suffice."""

import numpy as np
from numpy.typing import NDArray

from softhash.errors import UsageError
from softhash.training.methods import Method, unsupervised_methods

MIN_PICTURES = 2

Labels = NDArray[np.uint8]


def trainable_rows(kind: type[Method], labels: Labels) -> NDArray[np.bool_]:
    """Return a mask (n,) of the pictures to train on: all of them, where no labels are needed.

    Args:
        kind: the method.
        labels: of the collection (n, classes), multi-hot; there may be no classes.

    Raises:
        UsageError: nothing can be learned from them.

    """
    check_labels(kind, labels)
    rows = np.logical_or(labels.any(axis=1), kind.unsupervised)
    if rows.sum() < MIN_PICTURES:
        what = "picture" if kind.unsupervised else "labelled picture"
        raise UsageError(
            f"{rows.sum()} {what} is too few to train on", f"give at least {MIN_PICTURES}"
        )
    if not kind.unsupervised and (labels[rows] == labels[rows][0]).all():
        raise UsageError("all pictures have the same labels, so there is nothing to learn")
    return rows


def check_labels(kind: type[Method], labels: Labels) -> None:
    """Raise where a method learns from labels, and there are none."""
    if not kind.unsupervised and not labels.any():
        names = ", ".join(unsupervised_methods())
        raise UsageError(
            f"none of the {len(labels):,} pictures has a label, and {kind.name} learns from labels",
            f"give labels, or choose a method that needs none, best first: {names}",
        )
