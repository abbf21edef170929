"""What filters look at of some items, fetched from any store; see `softhash.index.where`."""

from collections.abc import Sequence

from softhash.index.criteria import NONE, Described
from softhash.index.facts import item_facts
from softhash.index.items import Item
from softhash.index.likely import kept_likely
from softhash.index.store import Store


def describe_items(store: Store, items: Sequence[Item]) -> list[Described]:
    """Return what a filter's `keeps` takes, for each of some items."""
    likely, facts = kept_likely(store), item_facts(store, items)
    known = [(item.id, item.entry) for item in items]
    rows = [NONE] * len(items) if likely is None else likely.get(known)
    return [
        Described(item.entry.labels, row, item.file_name, one.taken, one.camera)
        for item, row, one in zip(items, rows, facts, strict=True)
    ]
