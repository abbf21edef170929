"""The hits of a query: ranked by the store, fetched, with how sure they are."""

from collections.abc import Sequence

from softhash.data.photo_facts import PhotoFacts
from softhash.errors import IndexDamagedError, UnknownItemError
from softhash.index.facts import item_facts
from softhash.index.items import Hit, Item
from softhash.index.likely import kept_likely
from softhash.index.query import Query, Window
from softhash.index.ranking import CANDIDATES, Ranked, rank
from softhash.index.store import Store
from softhash.index.sure import HitSureness, find_sureness
from softhash.index.where import Where, literals


def find_hits(
    store: Store, query: Query, window: Window, where: Where, at_least: float | None = None
) -> tuple[Hit, ...]:
    """Find the items that a query ranks first, but not the item that it is.

    Args:
        store: what is searched.
        query: what is searched for.
        window: the part of the ranking that is wanted.
        where: the items that count.
        at_least: leave out hits that are less sure, of the first `CANDIDATES` of the ranking; None
            for none.

    Raises:
        IndexDamagedError: it ranks an item that it does not have, and did not change meanwhile.

    """
    known = query.labels or query.itself is not None
    compared = query.labels if known else (*query.asked.wanted, *_asked_for(where))
    sureness = find_sureness(store, query)
    looked_at = window if at_least is None else Window(CANDIDATES, 0, window.radius)
    seen: int | None = None
    while True:
        try:
            ranked = rank(store, query, looked_at, where)
            items = store.get([one.id for one in ranked])
        except UnknownItemError as error:  # another process removed it meanwhile?
            if (now := store.version) == seen:
                raise IndexDamagedError(
                    f"{store.location} is damaged: it ranks what it does not have, {error.detail}",
                    "check it with verify(), which names the file",
                ) from error
            seen = now
            continue
        hits = _build_hits(store, items, compared, ranked, sureness)
        if at_least is None:
            return hits
        sure = tuple(hit for hit in hits if hit.sure is not None and hit.sure >= at_least)
        return sure[window.places]


def list_hits(store: Store, window: Window, where: Where) -> tuple[Hit, ...]:
    """List the items that a filter keeps in id order, without distances.

    Args:
        store: what is searched.
        window: the part of the list that is wanted.
        where: the items that count.

    """
    items = store.items(limit=window.k, offset=window.offset, where=where)
    return _build_hits(store, items, _asked_for(where))


def likely_labels(store: Store, items: Sequence[Item]) -> list[dict[str, float]]:
    """Return what is likely of items beside their given labels, the most probable first."""
    kept = kept_likely(store)
    if kept is None:
        return [{} for _ in items]
    rows = kept.get([(item.id, item.entry) for item in items])
    return [
        {name: p for name, p in row.items() if name not in item.entry.labels}
        for item, row in zip(items, rows, strict=True)
    ]


def _asked_for(where: Where) -> Sequence[str]:
    return [name for name, wanted in literals(where) if wanted]


def _build_hits(
    store: Store,
    items: Sequence[Item],
    compared: Sequence[str],
    ranked: Sequence[Ranked] = (),
    sureness: HitSureness | None = None,
) -> tuple[Hit, ...]:
    places = ranked or [Ranked(item.id, None) for item in items]
    kept = likely_labels(store, items), item_facts(store, items)
    rows = zip(items, places, *kept, strict=True)

    def build(item: Item, place: Ranked, likely: dict[str, float], facts: PhotoFacts) -> Hit:
        labels, distance = item.entry.labels, place.distance
        shared = tuple(label for label in labels if label in compared)
        sure = None if sureness is None else sureness.judge(distance, labels, likely)
        found = item.id, distance, item.file_name, labels, shared, item.code
        return Hit(*found, place.rescored, likely, place.score, sure, facts)

    return tuple(build(*row) for row in rows)
