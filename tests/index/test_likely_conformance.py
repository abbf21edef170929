"""Stores that keep likely labels filter, count and rank by them as the one in plain Python does."""

import numpy as np
import pytest
from likely_words import keep_words, likely_rows
from test_store_conformance import Twin

from softhash.errors import UnknownItemError, UsageError
from softhash.index.items import Entry
from softhash.index.likely import LikelyStore
from softhash.index.local import _transactions
from softhash.index.store import Meta
from softhash.index.where import EVERYTHING, Label, Likely, Not
from softhash.index.words import WordStore

WORDS = [f"label {i}" for i in range(20)]


class LikelyTwin(Twin):
    """A twin whose items get likely labels, most of them, some time after they are written."""

    def __init__(self, store, seed):
        super().__init__(store, 12, WORDS[:9], seed)
        for one in (self.store, self.oracle):
            keep_words(one, WORDS)

    def guess(self):
        entries = [entry for _, entry in self.oracle.scan() if self.random.random() < 0.8]
        rows = likely_rows(WORDS, *(self.row() for _ in entries))
        for one in (self.store, self.oracle):
            ids = one.find_names([entry.file_name for entry in entries])
            contents = [entry.sha256 for entry in entries]
            one.likely.put([ids[entry.file_name] for entry in entries], contents, rows)

    def row(self):
        words = self.random.sample(WORDS, self.random.choice([0, 1, 5, 12]))
        values = [self.random.choice([1, 100, 127, 128, 129, 200, 255]) for _ in words]
        return dict(zip(words, sorted(values, reverse=True), strict=True))

    def check(self):
        super().check()
        items = list(self.store.scan())
        names = [entry.file_name for _, entry in items]
        ids = self.oracle.find_names(names)
        known = [(ids[entry.file_name], entry) for _, entry in items]
        found = self.store.likely.get(items)
        assert found == self.oracle.likely.get(known)
        assert [list(row) for row in found] == [list(row) for row in self.oracle.likely.get(known)]
        missing = {entry.file_name for _, entry in self.store.likely.missing(items)}
        assert missing == {entry.file_name for _, entry in self.oracle.likely.missing(known)}
        for at_least in (0.3, 0.5, 1):
            assert self.store.likely_counts(at_least) == self.oracle.likely_counts(at_least)
        assert self.store.likely_counts() == self.store.likely_counts(0.5)
        self.check_ranking(names)

    def check_ranking(self, names):
        chosen = self.random.sample([*WORDS, "nobody's"], self.random.choice([1, 3, 9]))
        weights = {word: self.random.choice([1.0, 0.25, 0.1, -0.5]) for word in chosen}
        where = self.random.choice([EVERYTHING, self.logic(2)])
        same = dict(
            zip(
                self.oracle.find_names(names).values(),
                self.store.find_names(names).values(),
                strict=True,
            )
        )
        ranked = self.oracle.rank_by_words(weights, 10**6, where=where)
        wanted = sorted((-score, same[id]) for score, id in ranked)
        for k, offset in ((1, 0), (7, 3), (10**6, 0)):
            found = self.store.rank_by_words(weights, k, offset=offset, where=where)
            assert found == [(-score, id) for score, id in wanted][offset : offset + k]
        scores = self.store.word_scores(list(same.values()), weights)
        assert scores.tolist() == self.oracle.word_scores(list(same), weights).tolist()


@pytest.fixture
def make_twin(make_store):
    def make(seed):
        store = make_store(Meta(12))
        if not isinstance(store, LikelyStore):
            pytest.skip("it keeps no likely labels")
        assert isinstance(store, WordStore)
        return LikelyTwin(store, seed)

    return make


@pytest.mark.parametrize("seed", range(3))
def test_store_agrees_with_the_plain_one_about_likely_labels(make_twin, seed):
    twin = make_twin(seed)
    twin.check()
    twin.add()
    for _ in range(10):
        verb = twin.random.choice([twin.add, twin.upsert, twin.revise, twin.remove, twin.guess])
        verb()
        twin.check()


def test_items_whose_records_are_pending_have_their_likely_labels(make_twin, monkeypatch):
    twin = make_twin(5)
    twin.add()
    twin.add()
    twin.guess()
    monkeypatch.setattr(_transactions.Column, "put", lambda *given: (_ for _ in ()).throw(OSError))
    twin.remove()
    for entry in [twin.oracle.get([id])[0].entry for id, _ in list(twin.oracle.scan())[:9]]:
        revised = entry._replace(labels=tuple(twin.random.sample(twin.labels, 2)))
        twin.store.revise({twin.find_id(entry.file_name): revised})
        twin.oracle.revise({twin.oracle.find_names([entry.file_name])[entry.file_name]: revised})
    if not isinstance(twin.store, type(twin.oracle)):
        assert len(twin.store._reader.snapshot().pending.ids) > 9
    for _ in range(4):
        twin.check()


def test_given_labels_do_not_count_as_likely_ones_nor_likely_ones_as_given(make_twin):
    store = make_twin(0).store
    entries = [Entry("a", ("label 1",), sha256="a"), Entry("b", sha256="b")]
    a, b = store.add(np.zeros((2, 2), np.uint8), entries)
    store.likely.put([b], ["b"], likely_rows(WORDS, {"label 1": 128}))
    assert store.count(Label("label 1"), Likely("label 1"), Not(Likely("label 1"))) == [1, 1, 1]
    assert [item.id for item in store.items(where=Likely("label 1"))] == [b]
    assert store.labels() == {"label 1": 1}
    assert store.likely_counts() == {"label 1": 1}
    assert store.rank_by_words({"label 1": 2}, 5) == [(2.0, a), (2 * 128 / 255, b)]


def test_a_ranking_by_words_refuses_what_makes_no_sense(make_twin):
    twin = make_twin(1)
    twin.add()
    assert twin.store.rank_by_words({}, 5) == []
    with pytest.raises(UnknownItemError):
        twin.store.word_scores([10**6], {"label 1": 1})
    if not isinstance(twin.store, type(twin.oracle)):
        with pytest.raises(UsageError):
            twin.store.rank_by_words({"label 1": 1}, 0)
