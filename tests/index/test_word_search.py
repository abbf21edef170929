"""Searches by words, alone and beside something else, against sums over all items."""

import numpy as np
import pytest
from likely_words import keep_words, likely_rows
from memory_store import MemoryStore

from softhash.codes import pack, unpack
from softhash.errors import QueryError, UnknownWordError, UsageError
from softhash.index import Entry, HammingIndex, ranking
from softhash.index.local import LocalStore
from softhash.index.store import Meta

BITS, ITEMS = 16, 120
WORDS = ["boat", "dog", "sea", "sky", "traffic light"]
U = np.random.default_rng(7).normal(size=BITS)


def fill(store):
    """Add items of which some have labels, some likely ones, some both, some neither."""
    rng = np.random.default_rng(3)
    codes = pack(rng.normal(size=(ITEMS, BITS)))
    entries = [
        Entry(f"{i}.jpg", tuple(w for w in WORDS if rng.random() < 0.15), sha256=f"{i + 1:064x}")
        for i in range(ITEMS)
    ]
    ids = store.add(codes, entries)
    rows = [
        {w: int(rng.choice([10, 100, 140, 250])) for w in WORDS if rng.random() < 0.3}
        for _ in range(ITEMS)
    ]
    contents = [entry.sha256 for entry in entries]
    store.likely.put(ids, contents, likely_rows(WORDS, *rows))
    return HammingIndex(store)


@pytest.fixture(params=[MemoryStore, LocalStore])
def make_store(request, tmp_path):
    """Make empty stores of the kinds that rank by words."""
    made = []

    def make():
        made.append(request.param.create(str(tmp_path / f"index{len(made)}"), Meta(BITS)))
        keep_words(made[-1], WORDS)
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def index(make_store, monkeypatch):
    monkeypatch.setattr("softhash.index.sure.kept_classifier", lambda store: None)  # see keep_words
    return fill(make_store())


def probability(index, item, word):
    if word in item.entry.labels:
        return 1.0
    return index.store.likely.get([(item.id, item.entry)])[0].get(word, 0.0)


def expected(index, words, less=()):
    """(score, id) of all items above 0, the best first."""
    sums = [
        (
            sum(probability(index, item, w) for w in words)
            - sum(probability(index, item, w) for w in less),
            item.id,
        )
        for item in index.store.items(limit=ITEMS)
    ]
    return sorted((one for one in sums if one[0] > 1e-9), key=lambda one: (-one[0], one[1]))


def distance(item, u):
    own = unpack(np.frombuffer(item.code, np.uint8)[np.newaxis], BITS)[0]
    return sum(bool(a) != bool(b > 0) for a, b in zip(own, u, strict=True))


def composed(index, u, more, less, itself=None):
    """(score, distance, id) of all items, by the definition."""
    found = []
    for item in index.store.items(limit=ITEMS):
        if item.id != itself:
            far = distance(item, u)
            score = 1 - 2 * far / BITS + sum(probability(index, item, w) for w in more)
            found.append((score - sum(probability(index, item, w) for w in less), far, item.id))
    return sorted(found, key=lambda one: (-round(one[0], 9), one[1], one[2]))


def check(hits, wanted):
    """Compare ids, distances and scores."""
    assert [hit.id for hit in hits] == [one[-1] for one in wanted]
    assert [hit.score for hit in hits] == pytest.approx([one[0] for one in wanted])
    if wanted and len(wanted[0]) == 3:
        assert [hit.distance for hit in hits] == [one[1] for one in wanted]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("dogs at the sea", ["dog", "sea"]),
        (["traffic lights", "dog"], ["traffic light", "dog"]),
        ('"Traffic Light"', ["traffic light"]),
    ],
)
def test_words_alone_rank_by_how_many_of_them_are_expected(index, asked, words):
    found = index.search(words=asked, k=ITEMS)
    wanted = expected(index, words)
    assert 0 < len(wanted) < ITEMS
    check(found, wanted)
    assert all(hit.distance is None and hit.sure is None for hit in found)
    assert all(set(hit.shared) == set(words) & set(hit.labels) for hit in found)
    assert (found.words, found.code, found.total) == (tuple(words), b"", None)
    assert found.as_dict()["query"] == {"code": "", "labels": [], "words": words}
    assert repr(found) == f"SearchResult({len(wanted)} hits, words {', '.join(words)})"


def test_pages_by_words_continue_each_other_and_filters_count(index):
    where, wanted = "!sky", expected(index, ["dog"])
    kept = [
        one for one in wanted
        if probability(index, index.get(one[1]), "sky") < 0.5
    ]  # fmt: skip
    pages = [index.search(words="dog", k=7, offset=i, where=where) for i in range(0, ITEMS, 7)]
    check([hit for page in pages for hit in page], kept)
    assert pages[1].first == 8


def test_words_may_come_with_words_that_are_not_wanted(index):
    found = index.search(words="dog sea", less="sky", k=ITEMS)
    check(found, expected(index, ["dog", "sea"], ["sky"]))
    assert (found.words, found.less) == (("dog", "sea"), ("sky",))


@pytest.mark.parametrize(
    ("more", "less"), [(["dog"], []), ([], ["sky"]), (["dog", "sea"], ["sky", "boat"])]
)
def test_words_beside_a_code_add_to_its_likeness(index, more, less):
    code = pack(U[np.newaxis])[0].tobytes()
    for asked in ({"code": code}, {"outputs": U}):
        found = index.search(**asked, more=more, less=less, k=ITEMS)
        check(found, composed(index, U, more, less))
        assert (found.more, found.less, found.words) == (tuple(more), tuple(less), ())
    query = found.as_dict()["query"]
    assert {name: query[name] for name in ("more", "less") if name in query} == {
        name: some for name, some in (("more", more), ("less", less)) if some
    }


def test_words_beside_an_item_leave_it_out(index):
    item = index.get(5)
    u = unpack(np.frombuffer(item.code, np.uint8)[np.newaxis], BITS)[0] - 0.5
    found = index.search(id=5, more="sea", less="dogs", k=9, offset=4)
    check(found, composed(index, u, ["sea"], ["dog"], itself=5)[4:13])


def test_candidates_are_the_nearest_and_the_best_by_more(index, monkeypatch):
    monkeypatch.setattr(ranking, "CANDIDATES", 10)
    near = {hit.id for hit in index.search(outputs=U, k=10)}
    best = {id for _, id in expected(index, ["boat"])[:10]}
    assert near != best
    found = index.search(outputs=U, more="boat", k=ITEMS)
    check(found, [one for one in composed(index, U, ["boat"], []) if one[2] in near | best])
    few = index.search(outputs=U, less="boat", k=ITEMS)
    check(few, [one for one in composed(index, U, [], ["boat"]) if one[2] in near])
    item = index.get(min(best))
    without = index.search(id=item.id, more="boat", k=ITEMS)
    assert {id for _, id in expected(index, ["boat"])[:11]} - {item.id} <= {h.id for h in without}


def test_a_largest_distance_and_labels_hold_for_all_candidates(index):
    found = index.search(outputs=U, more="dog", max_distance=7, not_labels=["sky"], k=ITEMS)
    kept = [
        one
        for one in composed(index, U, ["dog"], [])
        if one[1] <= 7 and probability(index, index.get(one[2]), "sky") < 0.5
    ]
    assert kept
    check(found, kept)


@pytest.mark.parametrize("at_least", [None, 0.3, 0.9])
def test_filters_count_likely_labels_from_a_probability_on(index, at_least):
    options = {} if at_least is None else {"likely_from": at_least}
    right = [
        item.id
        for item in index.store.items(limit=ITEMS)
        if probability(index, item, "dog") >= (at_least or 0.5)
        and probability(index, item, "sea") < (at_least or 0.5)
    ]
    given = [
        item.id
        for item in index.store.items(limit=ITEMS)
        if "dog" in item.entry.labels and "sea" not in item.entry.labels
    ]
    assert right != given
    for asked in ({"where": "dog & !sea"}, {"labels": ["dog"], "not_labels": ["sea"]}):
        found = index.search(**asked, k=ITEMS, **options)
        assert [hit.id for hit in found] == right
        assert (found.total, found.where) == (len(right), "dog & !sea")
        assert {hit.id for hit in index.search(outputs=U, k=ITEMS, **asked, **options)} == {*right}
        only = index.search(**asked, k=ITEMS, given_only=True)
        assert [hit.id for hit in only] == given


def test_a_label_that_the_model_alone_names_can_be_asked_for_unless_given_ones_count():
    store = MemoryStore(Meta(BITS))
    keep_words(store, [*WORDS, "zebra"])
    index = fill(store)
    assert len(index.search(labels=["zebra"])) == 0
    with pytest.raises(UsageError, match="unknown label 'zebra'"):
        index.search(labels=["zebra"], given_only=True)
    with pytest.raises(UsageError, match="unknown label 'zebr'"):
        index.search(labels=["zebr"])


def test_hits_have_their_likely_labels_without_the_given_ones(index):
    for asked in ({"outputs": U}, {"words": "dog"}, {"where": "dog"}):
        for hit in index.search(**asked, k=ITEMS):
            row = index.store.likely.get([(hit.id, index.get(hit.id).entry)])[0]
            assert list(hit.likely.items()) == [
                (name, p) for name, p in row.items() if name not in hit.labels
            ]
            plain = hit.as_dict()
            assert plain.get("likely", {}) == {n: round(p, 4) for n, p in hit.likely.items()}
            assert ("likely" in plain) == bool(hit.likely)


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"words": "dgo"}, UnknownWordError, "unknown word 'dgo'; did you mean 'dog'"),
        ({"outputs": U, "more": "dgo"}, UnknownWordError, "did you mean 'dog'"),
        ({"outputs": U, "less": ["sky", "zzzz"]}, UnknownWordError, "unknown word 'zzzz'"),
        ({"words": "on the"}, UsageError, "no word to search for"),
        ({"words": "dog", "id": 3}, UsageError, "words and id are both given.*more or less"),
        ({"more": "dog"}, QueryError, "nothing to search for.*or words or labels alone"),
        ({"less": "dog", "where": "sea"}, QueryError, "nothing to search for"),
        ({"outputs": U, "more": "dog", "less": "dogs"}, UsageError, "'dog' is asked for both ways"),
        ({"words": "dog", "max_distance": 3}, UsageError, "distance means nothing for words alone"),
        ({"words": "dog", "at_least": 0.5}, UsageError, "means nothing for words alone"),
        ({"where": "dog", "at_least": 0.5}, UsageError, "means nothing for labels alone"),
        ({"words": "dog", "rescore": "bits"}, UsageError, "rescoring means nothing where words"),
        ({"outputs": U, "more": "dog", "rescore": True}, UsageError, "rescoring means nothing"),
        ({"outputs": U, "at_least": 1.5}, UsageError, "at_least is 1.5; give a probability"),
        ({"outputs": U, "at_least": float("nan")}, UsageError, "at_least is nan"),
        ({"outputs": U, "likely_from": -1}, UsageError, "likely_from is -1"),
        ({"outputs": U, "at_least": 0.5}, UsageError, "does not know how sure.*leave at_least out"),
        ({"words": "dog", "k": 0}, UsageError, "give at least 1 and 0"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_way_out(index, asked, error, message):
    with pytest.raises(error, match=message):
        index.search(**asked)


def test_an_index_that_is_empty_or_filtered_to_nothing_has_no_hits(index, make_store):
    empty = make_store()
    for asked in ({"words": "dog"}, {"outputs": U, "more": "dog"}, {"outputs": U, "less": "dog"}):
        assert len(index.search(**asked, where="dog & !dog")) == 0
        if not isinstance(empty, MemoryStore):  # which has no model that names words
            assert len(HammingIndex(empty).search(**asked)) == 0


def test_a_store_that_cannot_rank_by_words_says_so():
    class Plain(MemoryStore):
        rank_by_words = None

    store = Plain(Meta(BITS))
    keep_words(store, WORDS)
    index = fill(store)
    for asked in ({"words": "dog"}, {"outputs": U, "more": "dog"}):
        with pytest.raises(UsageError, match="memory cannot be searched by words; only"):
            index.search(**asked)


def test_a_search_by_words_looks_again_where_items_were_removed_meanwhile():
    class Ghost(MemoryStore):
        def rank_by_words(self, weights, k, **options):
            found = super().rank_by_words(weights, k, **options)
            if self.version < 50:
                self.version += 10
                return [(9.0, 10**6), *found]
            return found

    store = Ghost(Meta(BITS))
    keep_words(store, WORDS)
    index = fill(store)
    check(index.search(words="dog", k=5), expected(index, ["dog"])[:5])
    check(index.search(outputs=U, more="dog", k=5), composed(index, U, ["dog"], [])[:5])
