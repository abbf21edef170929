"""Hits that are ranked but cannot be fetched: removed meanwhile, or an index that is damaged."""

import numpy as np
import pytest
from memory_store import MemoryStore

from softhash.errors import IndexDamagedError
from softhash.index.items import Entry, Near
from softhash.index.retrieval import Query, Window, find_hits
from softhash.index.store import Meta
from softhash.index.where import EVERYTHING


class Ghosts(MemoryStore):
    """Ranks items that are not there, so many times; removing one changes the version, or not."""

    def __init__(self, times, changes):
        super().__init__(Meta(8))
        self.upsert(np.zeros((1, 1), np.uint8), [Entry("a.jpg")])
        self.times, self.changes = times, changes

    def search(self, codes, k, **options):
        if not self.times:
            return super().search(codes, k, **options)
        self.times -= 1
        self.version += self.changes
        return [[Near(0, 99)]]


def find(store):
    return find_hits(store, Query(b"\0"), Window(1, 0, None), EVERYTHING)


def test_search_looks_again_as_often_as_items_were_removed_meanwhile():
    assert [hit.file_name for hit in find(Ghosts(20, changes=1))] == ["a.jpg"]


def test_search_looks_again_once_where_nothing_changed():
    assert [hit.file_name for hit in find(Ghosts(1, changes=0))] == ["a.jpg"]


def test_search_of_an_index_that_ranks_what_it_does_not_have_ends():
    with pytest.raises(IndexDamagedError, match=r"memory is damaged.*id 99.*verify"):
        find(Ghosts(10**9, changes=0))
