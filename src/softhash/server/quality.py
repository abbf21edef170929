"""Retrieval quality of an index by shared labels: some items are queries, the others database."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softhash.codes import Codes
from softhash.evaluation.evaluate import evaluate_codes
from softhash.evaluation.report import Report
from softhash.hamming import nearest
from softhash.index import HammingIndex
from softhash.index.items import Entry, Hit, Item
from softhash.server.problems import Problem
from softhash.server.schemas import hit_view, item_view

QUERIES = 500
LABELLED_PER_QUERY = 5  # at least
MAX_ITEMS = 200_000
MAX_CELLS = 1 << 28  # bytes of the label matrix
PAGE = 2_000
AT = (10, 100, 5000, "all")
CURVE = tuple(first * 10**power for power in range(6) for first in (1, 2, 5))
SHOWN, SHOWN_HITS = 10, 8
SEED = 0


@dataclass(frozen=True, eq=False)
class Loaded:
    """The first items of an index, as many as fit, in memory."""

    ids: list[int]
    file_names: list[str]
    codes: Codes
    labels: NDArray[np.uint8]
    names: list[str]
    pictures: bool

    def item(self, row: int) -> dict[str, Any]:
        """Build the view of an item, by its row."""
        entry = Entry(self.file_names[row], self._labels(row))
        return item_view(Item(self.ids[row], entry, self.codes[row].tobytes()), self.pictures)

    def hit(self, distance: int, row: int, query: int) -> dict[str, Any]:
        """Build the view of a hit.

        Args:
            distance: from the query.
            row: of the hit.
            query: row of the query.

        """
        labels, known = self._labels(row), self._labels(query)
        shared = tuple(label for label in labels if label in known)
        code = self.codes[row].tobytes()
        hit = Hit(self.ids[row], distance, self.file_names[row], labels, shared, code)
        return hit_view(hit, self.pictures)

    def _labels(self, row: int) -> tuple[str, ...]:
        return tuple(self.names[column] for column in np.flatnonzero(self.labels[row]))


def quality(index: HammingIndex) -> dict[str, Any]:
    """Measure an index, with the queries of the best and the worst average precision."""
    loaded = load(index)
    queries, database = _split(loaded)
    sides = loaded.codes[queries], loaded.codes[database]
    labels = loaded.labels[queries], loaded.labels[database]
    report = evaluate_codes(*sides, *labels, bits=index.bits, at=AT, curves=CURVE)
    left_out = {"items_left_out": len(index) - len(loaded.ids), "seed": SEED}
    order = np.argsort(report.per_query["map@all"], kind="stable")
    shown = min(SHOWN, len(order) // 2) or 1
    return {
        **report.as_dict(),
        "contract": {**report.contract, **left_out},
        "best": _judged(loaded, queries, database, order[::-1][:shown], report),
        "worst": _judged(loaded, queries, database, order[:shown], report),
    }


def load(index: HammingIndex) -> Loaded:
    """Read the first items, in bounded memory."""
    names = list(index.store.labels())
    if not names:
        raise _too_few("no item of the index has a label")
    column = {name: i for i, name in enumerate(names)}
    rows = min(len(index), MAX_ITEMS, max(1, MAX_CELLS // len(names)))
    labels = np.zeros((rows, len(names)), np.uint8)
    ids: list[int] = []
    file_names: list[str] = []
    codes: list[bytes] = []
    while len(ids) < rows:
        after = ids[-1] if ids else -1
        page = index.store.items(after=after, limit=min(PAGE, rows - len(ids)))
        if not page:
            break
        for item in page:
            # A label that was added since the names were read is left out.
            known = [column[label] for label in item.entry.labels if label in column]
            labels[len(ids), known] = 1
            ids.append(item.id)
            file_names.append(item.entry.file_name)
            codes.append(item.code)
    packed = np.frombuffer(b"".join(codes), np.uint8).reshape(len(codes), -1)
    return Loaded(ids, file_names, packed, labels[: len(ids)], names, index.root is not None)


def _split(loaded: Loaded) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw the queries from the items with labels; all others are the database."""
    labelled = np.flatnonzero(loaded.labels.any(axis=1))
    if len(labelled) < 2:
        raise _too_few(f"only {len(labelled)} item of the index has a label")
    count = min(QUERIES, max(1, len(labelled) // LABELLED_PER_QUERY))
    rng = np.random.default_rng(SEED)
    queries = np.sort(rng.choice(labelled, count, replace=False))
    return queries, np.setdiff1d(np.arange(len(loaded.ids)), queries)


def _judged(
    loaded: Loaded,
    queries: NDArray[np.int64],
    database: NDArray[np.int64],
    chosen: NDArray[np.int64],
    report: Report,
) -> list[dict[str, Any]]:
    k = min(SHOWN_HITS, len(database))
    found = nearest(loaded.codes[queries[chosen]], loaded.codes[database], k)
    return [
        {
            "item": loaded.item(int(queries[query])),
            "average_precision": float(report.per_query["map@all"][query]),
            "hits": [
                loaded.hit(int(distance), int(database[place]), int(queries[query]))
                for distance, place in zip(*near, strict=True)
            ],
        }
        for query, near in zip(chosen, zip(*found, strict=True), strict=True)
    ]


def _too_few(detail: str) -> Problem:
    hint = "index a collection with labels, such as a folder with a metadata.csv"
    return Problem(422, "no-labels", detail, hint)
