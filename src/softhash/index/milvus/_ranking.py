"""Exact rankings in (distance, id) order out of Milvus, which orders by distance alone."""

from collections.abc import Sequence

from softhash.errors import UsageError
from softhash.index.items import Near
from softhash.index.milvus._collection import IDS, MAX_RESULTS, Collection
from softhash.index.milvus._expressions import both

SPARE = 64  # fetched beyond what is asked for: most ties at the cut end within them
MAX_HITS = 1_000_000  # of one call: 12 MB


def check_window(k: int, offset: int) -> None:
    """Raise UsageError where Milvus does not rank that far."""
    if offset + k > MAX_RESULTS:
        raise UsageError(
            f"k + offset is {offset + k:,}",
            f"Milvus ranks up to {MAX_RESULTS:,} items: ask for fewer",
        )


def rank(
    collection: Collection, codes: Sequence[bytes], first: int, radius: int | None, expression: str
) -> list[list[Near]]:
    """Return the nearest items to each code, ties in id order, also at the cut.

    Args:
        collection: what is searched.
        codes: the queries, in packed bytes.
        first: how many items to return for each.
        radius: the largest distance, None for any.
        expression: the filter; "" keeps everything.

    """
    limit = min(first + SPARE, MAX_RESULTS)
    bounds = {} if radius is None else {"radius": radius + 1}  # Milvus leaves the radius itself out
    step = max(1, MAX_HITS // limit)
    found: list[list[tuple[int, int]]] = []
    for start in range(0, len(codes), step):
        found += collection.search(codes[start : start + step], limit, expression, bounds)
    return [
        [Near(*one) for one in _complete(collection, code, hits, first, limit, expression)]
        for code, hits in zip(codes, found, strict=True)
    ]


def _complete(
    collection: Collection,
    code: bytes,
    hits: list[tuple[int, int]],
    first: int,
    limit: int,
    expression: str,
) -> list[tuple[int, int]]:
    """Make sure that the items at the last distance are those of the lowest ids."""
    if len(hits) < limit or hits[first - 1][0] < hits[-1][0]:
        return hits[:first]  # everything that distance has is among them
    last = hits[-1][0]
    nearer = [hit for hit in hits if hit[0] < last]
    ids = _lowest_ids(collection, code, last, first - len(nearer), expression)
    return nearer + [(last, id) for id in ids]


def _lowest_ids(
    collection: Collection, code: bytes, distance: int, count: int, expression: str
) -> list[int]:
    """Find the lowest ids at a distance, by windows of ids that hold fewer than Milvus returns."""
    found: list[int] = []
    low, width = -1, IDS
    bounds = {"radius": distance + 1, "range_filter": distance}
    while len(found) < count and low < IDS:
        window = f"id > {low} and id <= {low + width}" if width < IDS else ""
        [hits] = collection.search([code], MAX_RESULTS, both(expression, window), bounds)
        if len(hits) == MAX_RESULTS and width > 1:
            width //= 2
            continue
        found += [id for _, id in hits]
        low, width = low + width, 2 * width
    return sorted(found)[:count]
