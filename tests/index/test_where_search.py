"""Searches and lists by label logic, against a loop over all items."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_where import NAMES, meaning, trees

from softhash.errors import ExpressionError, QueryError, UsageError
from softhash.index import Entry, HammingIndex
from softhash.index.local import LocalStore
from softhash.index.store import Meta
from softhash.index.where import EVERYTHING, NOTHING, Label, literals

ITEMS = 200
SETTINGS = settings(max_examples=25, deadline=None)


@pytest.fixture
def index(tmp_path):
    with filled(LocalStore.create(str(tmp_path / "index"), Meta(16))) as index:
        yield index


def filled(store):
    """Every fifth item removed, some relabelled, so that masks have holes and late records."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 256, (ITEMS, 2), np.uint8)
    entries = [
        Entry(f"{i}.jpg", tuple(name for name in NAMES if random.random() < 0.4))
        for i in range(ITEMS)
    ]
    ids = store.add(codes, entries)
    store.remove(ids[::5])
    store.revise({ids[i]: Entry(f"{i}.jpg", ("a", "b")) for i in range(1, ITEMS, 25)})
    return HammingIndex(store)


def kept(index, where):
    return [id for id, entry in index.store.scan() if meaning(where, entry.labels)]


def distance(item, code):
    return (int.from_bytes(item.code) ^ int(code, 16)).bit_count()


def test_rankings_and_lists_keep_what_the_logic_means(make_store):
    index = filled(make_store(Meta(16)))
    items = {item.id: item for item in index.store.items(limit=ITEMS)}

    @SETTINGS
    @given(trees(st.sampled_from(NAMES)).filter(lambda tree: tree != EVERYTHING))
    @example(NOTHING)
    def check(where):
        expected = kept(index, where)
        ranked = index.search(code="0ff0", k=ITEMS, where=where)
        near = sorted((distance(items[id], "0ff0"), id) for id in expected)
        assert [(hit.distance, hit.id) for hit in ranked] == near
        assert ranked.total is None
        asked = {name for name, wanted in literals(where) if wanted}
        found = index.search(where=where, k=7, offset=3)
        assert [hit.id for hit in found] == expected[3:10]
        assert (found.total, found.first, found.where) == (len(expected), 4, str(where))
        for hit in found:
            assert (hit.distance, set(hit.shared)) == (None, asked & set(hit.labels))

    check()


def test_text_lists_and_trees_ask_for_the_same(index):
    expected = [
        id
        for id, entry in index.store.scan()
        if {"a", "b"} & set(entry.labels) and "c" not in entry.labels
    ]
    for asked in (
        {"where": "(a | b) & !c"},
        {"where": "(a or b) and not c"},
        {"labels": ["a", "b"], "not_labels": ["c"]},
        {"labels": ["b", "a"], "where": "!c"},
        {"not_labels": ["c"], "where": "b | a"},
    ):
        found = index.search(**asked, k=ITEMS)
        assert [hit.id for hit in found] == expected
        assert found.total == len(expected) > 0


def test_a_page_after_the_last_is_empty_but_has_the_total(index):
    found = index.search(where="a", offset=10_000)
    assert [found.total] == index.store.count(Label("a"))
    assert not found
    assert found.as_dict()["total"] == found.total
    assert found.as_dict()["query"] == {"code": "", "labels": [], "where": "a"}


def test_what_cannot_be_asked_for_says_why(index):
    with pytest.raises(ExpressionError, match="a label is missing before '&' at character 7"):
        index.search(code="0000", where="dog & & cat")
    with pytest.raises(UsageError, match="unknown label 'dd'; did you mean 'd'"):
        index.search(where="a | !(b & dd)")
    with pytest.raises(QueryError, match="nothing to search for; give exactly one"):
        index.search()
    for more in ({"max_distance": 3}, {"rescore": "bits"}):
        with pytest.raises(UsageError, match="means nothing for labels alone"):
            index.search(where="a", **more)
    with pytest.raises(QueryError, match="2 things"):
        index.search(code="0000", id=1, where="a")


def test_hits_show_the_labels_that_were_asked_for(index):
    found = index.search(code="0000", where="a & !(b | !c)", k=ITEMS)
    assert found
    assert all(set(hit.shared) == {"a", "c"} for hit in found)
    assert found.as_dict()["query"]["where"] == "a & !(b | !c)"
