"""Classes that training never sees, known as zero-shot retrieval.

A. Sablayrolles, M. Douze, N. Usunier and H. Jégou, "How should we evaluate supervised hashing?",
ICASSP 2017: where train set, queries and database share their classes, codes that only repeat a
classifier's answer beat trained ones. They propose retrieval on a disjoint set of classes, which is
done here; that a picture has several labels is not in their protocol.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from softhash.data.image_set import ImageSet
from softhash.data.names import several
from softhash.data.splits.draws import Drawn, Pool, seeded_order
from softhash.errors import UsageError, unknown_name

QUERY = 1000
QUERY_SHARE = 0.25  # of the pictures with unseen classes, where that is fewer


def judge_by(images: ImageSet, classes: Sequence[str]) -> ImageSet:
    """Leave these labels alone on each picture that has one of them; others keep all of theirs.

    >>> from pathlib import Path
    >>> labels = np.array([[1, 1], [1, 0]])
    >>> images = ImageSet(Path("photos"), ("a.jpg", "b.jpg"), labels, ("sea", "sky"))
    >>> judge_by(images, ["sky"]).labels.tolist()
    [[0, 1], [1, 0]]
    """
    judged = np.array([name in classes for name in images.classes], dtype=bool)
    has = images.labels[:, judged].sum(axis=1) > 0
    return replace(images, labels=images.labels * ~(has[:, None] & ~judged))


def unseen_classes(
    pool: Pool,
    *,
    share: float = 0.25,
    unseen: Sequence[str] | None = None,
    query: int | None = None,
) -> Drawn:
    """Zero-shot retrieval: a quarter of the classes is unseen in training, and judged by alone.

    The train set is every picture that has labels and no unseen one among them. Pictures with an
    unseen label are queries and database; their other labels are taken away, so that relevance and
    gains count unseen classes alone.

    Args:
        pool: the pictures to draw from.
        share: of the classes that are unseen, drawn by the seed.
        unseen: their names, instead of a share.
        query: how many queries; 1,000, or a quarter of the pictures with unseen classes where that
            is fewer.

    """
    present = _present_classes(pool)
    chosen = _draw_classes(pool, present, share) if unseen is None else _named(unseen, present)
    judged = judge_by(pool.images, chosen)
    columns = [judged.classes.index(name) for name in chosen]
    has_unseen = judged.labels[:, columns].sum(axis=1) > 0
    labelled = pool.labelled
    train, rest = labelled[~has_unseen[labelled]], labelled[has_unseen[labelled]]
    if not train.size:
        raise UsageError(
            f"all {len(labelled):,} pictures with labels have one of the {len(chosen):,} unseen "
            "classes, so there is nothing to train on",
            "give a smaller share, or the names of rarer classes as unseen",
        )
    count = _count_queries(query, len(rest))
    notes = [f"{len(chosen):,} of {len(present):,} classes are unseen: {several(chosen)}"]
    if len(pool.order) > len(labelled):
        notes.append(f"{len(pool.order) - len(labelled):,} pictures without labels are left out")
    kept = replace(pool, images=judged, order=labelled)
    options = {"unseen": tuple(chosen)}
    return Drawn(kept, train, rest[:count], rest[count:], tuple(notes), options)


def _present_classes(pool: Pool) -> list[str]:
    found = pool.images.labels[pool.order].sum(axis=0)
    present = [name for name, some in zip(pool.images.classes, found, strict=True) if some]
    if len(present) < 2:
        raise UsageError(
            f"protocol 'unseen-classes' needs 2 classes or more, and pictures here have "
            f"{len(present)}",
            "use 'random'",
        )
    return present


def _draw_classes(pool: Pool, present: list[str], share: float) -> list[str]:
    """Draw by the seed, and return the names in the order of the columns."""
    count = max(round(share * len(present)), 1)
    if count >= len(present):
        raise UsageError(
            f"share={share} of {len(present):,} classes leaves none to train on",
            "give a smaller one",
        )
    drawn = seeded_order(present, pool.seed)[:count]
    return [present[i] for i in sorted(drawn)]


def _named(names: Sequence[str], present: list[str]) -> list[str]:
    for name in names:
        if name not in present:
            raise unknown_name("class", name, present)
    return [name for name in present if name in names]


def _count_queries(query: int | None, pictures: int) -> int:
    if query is None:
        return min(QUERY, max(int(pictures * QUERY_SHARE), 1))
    if query >= pictures:
        raise UsageError(
            f"query={query:,} leaves no database of {pictures:,} pictures with unseen classes",
            "lower it, or give a larger share",
        )
    return query
