"""The split that a data set's own files give."""

from collections.abc import Mapping

import numpy as np

from softhash.data.splits.draws import Drawn, Pool, Positions, minus
from softhash.errors import UsageError

QUERY = ("query", "test", "val")


def given(pool: Pool) -> Drawn:
    """As the data set's own lists have it: train, test (or query, or val), and database.

    The query part is the first of query, test and val that there is; the train part is trainval
    where there is one and val is not the query part, else train. Parts keep the order of the lists.
    Without a list of the database, it is every picture that no list names, but val, which is there
    to choose settings; and where nothing is left, it is the train set, as work on data sets that
    come as train and test alone has it. A database list that includes the train set is left so.
    """
    parts = pool.images.partition or {}
    query_name = next((name for name in QUERY if name in parts), None)
    if query_name is None:
        found = f"has only {', '.join(parts)}" if parts else "has no lists of its own"
        raise UsageError(
            f"protocol 'given' needs lists train and test, and this collection {found}",
            "use 'random', or the path of a split file",
        )
    train_name = "trainval" if "trainval" in parts and query_name != "val" else "train"
    query = _labelled(pool, parts, query_name)
    train = minus(_labelled(pool, parts, train_name), parts[query_name])
    if "database" in parts:
        database, notes = _listed(parts["database"], train)
    else:
        database, notes = _left(pool, parts, train, (query_name, train_name))
    twice = np.intersect1d(query, np.concatenate([parts[train_name], database]))
    if twice.size:
        what = "queries are listed in train or database too; they are queries alone"
        notes = (*notes, f"{twice.size:,} {what}")
    return Drawn(pool, train, query, minus(database, query), notes)


def _labelled(pool: Pool, parts: Mapping[str, Positions], name: str) -> Positions:
    part = parts.get(name, np.zeros(0, np.int64))
    part = part[~pool.images.without_labels[part]]
    if not part.size:
        raise UsageError(
            f"protocol 'given' needs a list '{name}' with labelled pictures in it",
            f"there are {', '.join(parts)}; use 'random'",
        )
    return part


def _listed(database: Positions, train: Positions) -> tuple[Positions, tuple[str, ...]]:
    shared = np.intersect1d(database, train).size
    note = f"{shared:,} train pictures are in the database, as the data set's own lists have it"
    return database, (note,) if shared else ()


def _left(
    pool: Pool, parts: Mapping[str, Positions], train: Positions, used: tuple[str, str]
) -> tuple[Positions, tuple[str, ...]]:
    """Take what no list names, or else the train set; and what has no labels in the used lists."""
    listed = np.concatenate([parts[name] for name in used])
    spare = minus(parts.get("val", listed[:0]), listed)
    notes = [f"{spare.size:,} pictures of val are left out; they are there to choose settings"]
    notes = notes if spare.size else []
    database = minus(minus(pool.order, listed), spare)
    if not database.size:
        database = train
        notes.append("the lists are train and test alone, so the train set is the database")
    unlabelled = listed[pool.images.without_labels[listed]]
    return pool.among(np.union1d(database, unlabelled)).order, tuple(notes)
