"""The splits that papers use, by name.

Every protocol draws in the order of `seeded_order`, takes pictures without labels neither to train
nor as queries, and leaves out of train and database what is a byte-identical copy of a query. The
train set is part of the database only with `train_in_database=True`, as several papers have it, or
where a protocol's own lists have it so, which a note says.

>>> from pathlib import Path
>>> names = tuple(f"{i}.jpg" for i in range(20))
>>> images = ImageSet(Path("photos"), names, np.ones((20, 1)), ("sky",))
>>> draw_split(images, "random", seed=0, query=2, train=8)
Split(random, seed 0: 8 train, 2 query, 10 database; sha256 a398651b7ebb)
"""

import inspect
import operator
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import SupportsFloat, SupportsIndex

import numpy as np

from softhash.data.duplicates import count_on_disk, identical_copies
from softhash.data.image_set import ImageSet
from softhash.data.names import several
from softhash.data.splits.draws import Drawn, Option, Pool, minus, seeded_order
from softhash.data.splits.given import given
from softhash.data.splits.quotas import nuswide21, per_class
from softhash.data.splits.split import Split, load_split
from softhash.data.splits.unseen import unseen_classes
from softhash.data.splits.voc import voc_val
from softhash.errors import InputError, UsageError, unknown_name

QUERY, TRAIN = 1000, 4000


def draw_split(
    images: ImageSet,
    protocol: str | os.PathLike[str] = "random",
    *,
    seed: int = 0,
    **options: object,
) -> Split:
    """Split a collection by a protocol's name, or as in a file that `Split.save` wrote.

    Args:
        images: the collection.
        protocol: one of `PROTOCOLS`, or the path of a .json file, which has its own seed.
        seed: what the draw depends on, beside the file names.
        options: those of `list_options(protocol)`.

    """
    if str(protocol).endswith(".json"):
        if options:
            raise UsageError(f"a split file takes no options, but '{next(iter(options))}' is given")
        return load_split(protocol, images)
    name, seed = str(protocol), _whole("seed", seed)
    known = list_options(name)
    for option in options:
        if option not in known:
            raise unknown_name(f"option of protocol '{name}'", option, known)
    chosen = {option: _checked(option, value) for option, value in options.items()}
    in_database = bool(chosen.pop("train_in_database", False))
    drawn = _DRAWS[name](_pool(images, seed), **chosen)
    settled = {**chosen, **drawn.options, "train_in_database": in_database}
    return _finish(drawn, name, seed, settled)


def list_options(protocol: str) -> tuple[str, ...]:
    """Name the options that a protocol takes.

    >>> list_options("random")
    ('query', 'train', 'train_in_database')
    """
    if protocol not in _DRAWS:
        raise unknown_name("protocol", protocol, _DRAWS)
    return (*tuple(inspect.signature(_DRAWS[protocol]).parameters)[1:], "train_in_database")


def describe() -> dict[str, str]:
    """One line about each protocol.

    >>> describe()["nuswide21"]
    '100 queries and 500 train pictures of each of the 21 NUS-WIDE classes, rest database.'
    """
    return {name: (draw.__doc__ or "").partition("\n")[0] for name, draw in _DRAWS.items()}


def draw_validation(
    of: Split, fraction: float = 0.2, *, count: int | None = None, seed: int = 0
) -> Split:
    """Split the train set of a split; see `Split.validation`.

    Args:
        of: the split whose train set is split.
        fraction: the share of the train set that becomes queries.
        count: how many, instead of which share.
        seed: what the draw depends on.

    """
    seed = _whole("seed", seed)
    pool = _pool(of.train, seed)
    if count is None:
        if not 0 < fraction < 0.5:
            raise UsageError(f"fraction is {fraction}", "give one between 0 and 0.5")
        count = max(int(len(pool.labelled) * fraction), 1)
    count = _count("count", count)
    if 2 * count >= len(pool.labelled):
        raise UsageError(
            f"{count:,} queries and as many for the database leave nothing to train on of "
            f"{len(pool.labelled):,} pictures",
            "give a smaller count",
        )
    query = pool.labelled[:count]
    rest = pool.without(query).without(pool.find_copies(query)).order
    in_database = bool(np.isin(of.positions["train"], of.positions["database"]).all())
    options = {"count": count, "train_in_database": in_database}
    drawn = Drawn(pool, rest[count:], query, rest[:count])
    return _finish(drawn, "validation", seed, options)


def _random(pool: Pool, *, query: int | None = None, train: int | None = None) -> Drawn:
    """1,000 queries, 4,000 to train, rest database: the split of Flickr, VOC2012 and IAPRTC12.

    Where the collection has fewer than 10,000 pictures with labels (twice query + train), a count
    that is not given becomes a share: 10 % queries, 40 % to train.
    """
    usable = len(pool.labelled)
    if not usable:
        raise UsageError(
            f"none of the {len(pool.order):,} pictures has a label, so there is nothing to split",
            "a metadata.csv beside them, with columns file_name and labels, gives them some",
        )
    queries, training, notes = _counts(usable, query, train)
    if queries + training > usable:
        raise UsageError(
            f"query={queries:,} and train={training:,} do not fit {usable:,} pictures with labels",
            "lower them",
        )
    chosen = pool.labelled[:queries]
    rest = pool.without(chosen).without(pool.find_copies(chosen))
    taught = rest.labelled[:training]
    if len(taught) < training:
        raise UsageError(
            f"train={training:,} does not fit the {len(taught):,} pictures that are neither "
            "queries nor copies of queries",
            "lower it",
        )
    return Drawn(pool, taught, chosen, minus(rest.order, taught), notes)


def _counts(usable: int, query: int | None, train: int | None) -> tuple[int, int, tuple[str, ...]]:
    wanted = (QUERY if query is None else query, TRAIN if train is None else train)
    if usable >= 2 * sum(wanted) or None not in (query, train):
        return *wanted, ()
    shares = (
        max(usable // 10, 1) if query is None else query,
        max(usable * 4 // 10, 1) if train is None else train,
    )
    note = (
        f"{usable:,} pictures with labels are fewer than twice {wanted[0]:,} queries and "
        f"{wanted[1]:,} to train: took {shares[0]:,} queries and {shares[1]:,} to train instead "
        "(10 % and 40 % where no count is given)"
    )
    return *shares, (note,)


def _voc_main(pool: Pool, *, query: int | None = None, train: int | None = None) -> Drawn:
    """As random, within trainval of VOC's ImageSets/Main: 11,540 pictures of VOC2012."""
    part = (pool.images.partition or {}).get("trainval")
    if part is None:
        raise UsageError("protocol 'voc-main' needs ImageSets/Main/trainval.txt", "use 'random'")
    drawn = _random(pool.among(part), query=query, train=train)
    left_out = len(pool.order) - len(drawn.pool.order)
    note = f"{left_out:,} pictures outside ImageSets/Main/trainval.txt are left out"
    return replace(drawn, notes=(*drawn.notes, note) if left_out else drawn.notes)


def _pool(images: ImageSet, seed: int) -> Pool:
    if len(set(images.file_names)) < len(images):
        twice = [name for name, times in Counter(images.file_names).items() if times > 1]
        raise InputError(f"files are listed twice: {several(sorted(twice))}", "list each once")
    return Pool(images, seeded_order(images.file_names, seed), identical_copies(images), seed)


def _finish(drawn: Drawn, protocol: str, seed: int, options: Mapping[str, Option]) -> Split:
    """Take out the copies of queries, put train into the database if asked, collect the notes."""
    pool, query = drawn.pool, drawn.query
    copies = pool.find_copies(query)
    train, database = minus(drawn.train, copies), minus(drawn.database, copies)
    if options["train_in_database"]:
        database = pool.among(np.union1d(database, train)).order
    for role, part in (("query", query), ("database", database)):
        if not part.size:
            raise UsageError(
                f"protocol '{protocol}' leaves no picture for the {role}",
                "give smaller counts or more pictures with labels",
            )
    unlabelled = len(pool.order) - len(pool.labelled)
    absent = len(pool.order) - count_on_disk(pool.images.select(pool.order))
    notes = {
        "pictures without labels are left out of train and query; in the database they are "
        "never relevant": unlabelled,
        "byte-identical copies of queries are left out of train and database": len(copies),
        "files are empty or not on disk, so copies were not looked for among them": absent,
    }
    return Split(
        pool.images,
        protocol,
        seed,
        {"train": train, "query": query, "database": database},
        options,
        (*drawn.notes, *(f"{number:,} {what}" for what, number in notes.items() if number)),
    )


def _checked(option: str, value: object) -> Option:
    """Pass on an option's value: a truth value, a share, names, or a count that can be."""
    if option in ("train_in_database", "count_once"):
        if not isinstance(value, bool):
            raise UsageError(f"{option} is {value!r}", "give True or False")
        return value
    if option == "share":
        return _share(option, value)
    return _names(option, value) if option == "unseen" else _count(option, value)


def _count(option: str, value: object) -> int:
    least = 0 if option == "train" else 1
    count = _whole(option, value)
    if count < least:
        raise UsageError(f"{option} is {count}", f"give at least {least}")
    return count


def _share(option: str, value: object) -> float:
    if isinstance(value, SupportsFloat) and 0 < float(value) < 1:
        return float(value)
    raise UsageError(f"{option} is {value!r}", "give a number between 0 and 1")


def _names(option: str, value: object) -> tuple[str, ...]:
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return tuple(str(name) for name in value)
    raise UsageError(f"{option} is {value!r}", "give a list of class names")


def _whole(option: str, value: object) -> int:
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        return operator.index(value)
    raise UsageError(f"{option} is {value!r}", "give a whole number")


_DRAWS: dict[str, Callable[..., Drawn]] = {
    "random": _random,
    "nuswide21": nuswide21,
    "per-class": per_class,
    "voc-main": _voc_main,
    "voc-val": voc_val,
    "unseen-classes": unseen_classes,
    "given": given,
}
PROTOCOLS = describe()
