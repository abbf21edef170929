"""So many pictures of every class, although a picture has several classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from softhash.data.names import several
from softhash.data.splits.draws import Drawn, Pool, Positions
from softhash.errors import UsageError


def class_quota(
    labels: NDArray[Any], order: Positions, count: int, *, count_once: bool = False
) -> tuple[Positions, Positions]:
    """Draw pictures until every class has `count` of them, the rarest class first.

    A class takes the first pictures of `order` that have it, as many as it still lacks. A picture
    counts for all its classes; those that turn out not to be needed are put back, so that without
    any one picture some class would have too few. With `count_once` a picture counts for the class
    that took it alone, and c classes draw c × count pictures.

    Args:
        labels: (n, c) multi-hot.
        order: the positions to draw from; the result keeps their order.
        count: pictures for each class.
        count_once: whether a picture counts for one class alone.

    Returns:
        The positions drawn, and for each class how many it has (with `count_once`, has taken).

    >>> labels = np.array([[1, 0], [1, 1], [0, 1], [1, 0]])
    >>> [part.tolist() for part in class_quota(labels, np.arange(4), 1)]
    [[1], [1, 1]]
    >>> [part.tolist() for part in class_quota(labels, np.arange(4), 1, count_once=True)]
    [[0, 1], [1, 1]]

    """
    has = labels[order].astype(bool)
    taken = np.zeros(len(order), dtype=bool)
    reached = np.zeros(has.shape[1], dtype=np.int64)
    for column in np.argsort(has.sum(axis=0), kind="stable"):
        lacking = max(count - int(reached[column]), 0)
        chosen = np.flatnonzero(has[:, column] & ~taken)[:lacking]
        taken[chosen] = True
        if count_once:
            reached[column] += len(chosen)
        else:
            reached += has[chosen].sum(axis=0)
    if not count_once:
        for row in np.flatnonzero(taken)[::-1]:
            if (reached[has[row]] > count).all():
                taken[row] = False
                reached -= has[row]
    return order[taken], reached


def per_class(pool: Pool, *, query: int = 100, train: int = 500, count_once: bool = False) -> Drawn:
    """100 queries and 500 train pictures, or as many as asked for, of each class; rest database.

    Args:
        pool: the pictures to draw from.
        query: queries of each class.
        train: train pictures of each class.
        count_once: whether a picture counts for one class alone.

    """
    labels, names = pool.images.labels, pool.images.classes
    columns = np.flatnonzero(labels[pool.order].sum(axis=0))
    absent = [name for i, name in enumerate(names) if i not in columns]
    notes = (f"{len(absent):,} classes that no picture has: {several(absent)}",) if absent else ()
    if not columns.size:
        raise UsageError("no picture has a label, so there are no classes to draw from")
    rest, parts = pool, []
    for option, count in (("query", query), ("train", train)):
        part, reached = class_quota(labels[:, columns], rest.labelled, count, count_once=count_once)
        if (reached < count).any():
            few = [
                f"{names[c]} ({n:,})" for c, n in zip(columns, reached, strict=True) if n < count
            ]
            raise UsageError(
                f"{option}={count:,} pictures of each class cannot be had of {len(few):,} classes: "
                f"{several(few)}",
                "lower query or train, or leave out these classes",
            )
        parts.append(part)
        rest = rest.without(part)
        rest = rest.without(rest.find_copies(part)) if option == "query" else rest
    return Drawn(pool, parts[1], parts[0], rest.order, notes)


def nuswide21(pool: Pool, *, count_once: bool = True) -> Drawn:
    """100 queries and 500 train pictures of each of the 21 NUS-WIDE classes, rest database.

    A picture counts for the class that took it, which gives the paper's 2,100 queries and 10,500 to
    train; with count_once=False it counts for all its classes, which gives fewer.
    """
    if len(pool.images.classes) != 21:
        raise UsageError(
            f"protocol 'nuswide21' is for 21 classes, and here are {len(pool.images.classes)}",
            "use 'per-class' with query=100, train=500",
        )
    return per_class(pool, query=100, train=500, count_once=count_once)
