"""Every store does what the one in plain Python does, whatever is asked of it in whatever order."""

import random

import numpy as np
import pytest
from memory_store import MemoryStore

from softhash.codes import pack, row_bytes
from softhash.errors import InputError, UnknownItemError
from softhash.index.expressions import build_where
from softhash.index.items import Entry, Near
from softhash.index.store import Meta
from softhash.index.where import (
    EVERYTHING,
    And,
    Camera,
    Folder,
    Label,
    Likely,
    Not,
    Or,
    Taken,
)

ODD_NAMES = [
    "Zürich/Grüße 🐕.jpg",
    "a b\tc.jpg",
    "quote'\".png",
    "不.jpg",
    "x" * 300,
    "%_[1].jpg",
    " ",
]
FOLDERS = ["", "new/", "2024/Italy/Rome/", "2024/Italy/", "Italy/", "It_ly/", "50%/a\\b/", 'q"/']
ASKED_FOLDERS = ["new", "Italy", "2024/Italy", "Rome/", "It_ly", "%", "50%", "a\\b", 'q"', "0%/a"]
DATES = ["", "1969", "1970", "2024", "2024-05", "2024-05-17", "2024-06", "2100"]


def random_codes(rng, n, bits):
    return pack(rng.integers(0, 2, (n, bits)) - 0.5) if n else np.empty((0, row_bytes(bits)), "u1")


class Twin:
    """A store and the oracle, told the same; ids may differ between them, names do not."""

    def __init__(self, store, bits, labels, seed=0):
        self.store, self.oracle, self.bits = store, MemoryStore(Meta(bits)), bits
        self.labels, self.count = labels, 0
        self.random, self.rng = random.Random(seed), np.random.default_rng(seed)

    def find_id(self, name):
        return self.store.find_names([name])[name]

    def names(self):
        return [entry.file_name for _, entry in self.oracle.scan()]

    def some_names(self, n):
        names = self.names()
        return self.random.sample(names, min(n, len(names)))

    def entry(self, name=None):
        self.count += 1
        labels = tuple(self.random.sample(self.labels, self.random.choice([0, 1, 1, 2, 3])))
        time = self.random.randrange(2**62)
        return Entry(
            name or f"{self.random.choice(FOLDERS)}new {self.count}.jpg",
            labels,
            self.count,
            time,
            f"{self.count:064x}",
            uploaded=self.random.random() < 0.3,
        )

    def add(self):
        entries = [self.entry() for _ in range(self.random.randrange(1, 40))]
        self.tell("add", random_codes(self.rng, len(entries), self.bits), entries)

    def upsert(self):
        entries = [self.entry(name) for name in self.some_names(5)] + [self.entry(), self.entry()]
        entries.append(self.entry(entries[-1].file_name))
        self.random.shuffle(entries)
        self.tell("upsert", random_codes(self.rng, len(entries), self.bits), entries)

    def revise(self):
        for name in self.some_names(4):
            entry = self.entry(name if self.random.random() < 0.5 else None)
            self.store.revise({self.find_id(name): entry})
            self.oracle.revise({self.oracle.find_names([name])[name]: entry})

    def remove(self):
        names = self.some_names(6)
        ids = [self.find_id(name) for name in names]
        assert self.store.remove([*ids, 10**9, *ids[:1]]) == len(names)
        self.oracle.remove([self.oracle.find_names([name])[name] for name in names])

    def tell(self, verb, codes, entries):
        ids = getattr(self.store, verb)(codes, entries)
        getattr(self.oracle, verb)(codes, entries)
        assert ids == [self.find_id(entry.file_name) for entry in entries]

    def expected(self):
        """The oracle's items under the store's ids, in their order."""
        items = self.oracle.items(limit=10**9)
        known = self.store.find_names([item.entry.file_name for item in items])
        return sorted(item._replace(id=known[item.entry.file_name]) for item in items)

    def check(self):
        items = self.expected()
        assert len(self.store) == len(items)
        assert self.store.items(limit=10**6) == items
        assert list(self.store.scan()) == [(item.id, item.entry) for item in items]
        assert self.store.labels() == self.oracle.labels()
        assert self.store.verify() == []
        for where in self.filters():
            self.check_filter(where, items)
        where = self.logic(2)
        kept = [item for item in items if self.keeps(where, item)]
        assert self.store.count(where, EVERYTHING) == [len(kept), len(items)]
        assert self.store.items(offset=3, limit=9, where=where) == kept[3:12]

    def filters(self):
        one, two, three = self.random.sample(self.labels, 3)
        yield from (
            EVERYTHING,
            build_where((one,)),
            build_where((one, two), (three,)),
        )
        yield from (build_where(("no such label",)), build_where((one, "nor this"), ("nor that",)))
        yield self.logic(3)

    def logic(self, depth):
        """A random tree of labels, some of which no item has."""
        kinds = [Label, Likely, Folder, Taken, Camera]
        kind = self.random.choice([*kinds, Not, Not, And, And, Or, Or] if depth else kinds)
        if kind is Label:
            return Label(self.random.choice([*self.labels, "nobody's"]))
        if kind is Likely:
            at_least = self.random.choice([0, 0.2, 0.5, 128 / 255, 0.502, 1, 2])
            return Likely(self.random.choice([*self.labels, "nobody's"]), at_least)
        if kind is Folder:
            return Folder(self.random.choice(ASKED_FOLDERS))
        if kind is Taken:
            return Taken(self.random.choice(DATES), self.random.choice(DATES))
        if kind is Camera:
            return Camera(self.random.choice(["nikon", "D9", "iphone", "ß", "nobody's", ""]))
        if kind is Not:
            return Not(self.logic(depth - 1))
        return kind(tuple(self.logic(depth - 1) for _ in range(self.random.randrange(4))))

    def keeps(self, where, item):
        """Whether a filter keeps an item, of which the oracle may have likely labels and facts."""
        id = self.oracle.find_names([item.file_name])[item.file_name]
        return where.keeps(self.oracle.describe(item._replace(id=id)))

    def check_filter(self, where, items):
        kept = [item for item in items if self.keeps(where, item)]
        after = self.random.choice([item.id for item in items] or [0])
        limit = self.random.randrange(1, 30)
        wanted = [item for item in kept if item.id > after][:limit]
        assert self.store.items(after=after, limit=limit, where=where) == wanted
        queries = random_codes(self.rng, 3, self.bits)
        k, offset = self.random.randrange(1, 60), self.random.choice([0, 0, 1, 17])
        radius = self.random.choice([None, 0, self.bits // 3, self.bits // 2, self.bits])
        wanted = [rank(kept, code, radius)[offset : offset + k] for code in queries]
        for _ in range(3):  # what is asked for again may come from a cache
            found = self.store.search(queries, k, offset=offset, radius=radius, where=where)
            assert found == wanted


def rank(items, code, radius):
    near = [
        Near(int(np.bitwise_count(np.frombuffer(item.code, np.uint8) ^ code).sum()), item.id)
        for item in items
    ]
    return sorted(one for one in near if radius is None or one.distance <= radius)


@pytest.mark.parametrize("bits", [1, 12, 48, 64, 130])
def test_store_agrees_with_the_plain_one(make_store, bits):
    twin = Twin(make_store(Meta(bits)), bits, [f"label {i}" for i in range(9)], seed=bits)
    twin.check()
    for _ in range(12):
        verb = twin.random.choice([twin.add, twin.add, twin.upsert, twin.revise, twin.remove])
        verb()
        twin.check()


def test_store_takes_more_labels_than_a_word_has_bits(make_store):
    twin = Twin(make_store(Meta(12)), 12, [f"{i}" for i in range(8)], seed=1)
    for count in (60, 63, 64, 65, 127, 128, 300):
        twin.labels = [f"{i}" for i in range(count)]
        entries = [Entry(f"{count}/{label}", (label,)) for label in twin.labels]
        twin.tell("add", random_codes(twin.rng, count, 12), entries)
        twin.revise()
        twin.check()


def test_store_keeps_odd_names_and_labels(make_store):
    twin = Twin(make_store(Meta(8)), 8, ["Straße", "a,b", '"', "🐈", ""], seed=2)
    codes = random_codes(twin.rng, len(ODD_NAMES), 8)
    twin.tell("add", codes, [Entry(name, ("Straße", "🐈")) for name in ODD_NAMES])
    twin.check()
    twin.upsert()
    twin.revise()
    twin.check()


def test_store_gives_items_in_the_order_asked_for(make_store):
    store = make_store(Meta(16))
    codes = random_codes(np.random.default_rng(0), 2500, 16)
    ids = store.add(codes, [Entry(f"{i}") for i in range(2500)])
    wanted = [*ids[::-1], ids[7]]
    found = store.get(wanted)
    assert [item.id for item in found] == wanted
    assert [item.code for item in found] == [bytes(c) for c in [*codes[::-1], codes[7]]]
    assert store.get([]) == []


def test_store_has_no_items_after_the_largest_id_there_can_be(make_store):
    store = make_store(Meta(8))
    store.add(np.zeros((3, 1), np.uint8), [Entry(f"{i}") for i in range(3)])
    for where in (EVERYTHING, build_where(none_of=("no such label",))):
        assert len(store.items(where=where)) == 3
        assert store.items(after=2**63 - 1, where=where) == []


def test_store_ranks_ties_by_id(make_store):
    store = make_store(Meta(8))
    ids = store.add(np.zeros((200, 1), np.uint8), [Entry(f"{i}") for i in range(200)])
    (found,) = store.search(np.ones((1, 1), np.uint8), 10, offset=95)
    assert found == [Near(1, id) for id in sorted(ids)[95:105]]


def test_store_refuses_a_name_that_is_there_and_adds_nothing(make_store):
    store = make_store(Meta(8))
    codes = np.zeros((3, 1), np.uint8)
    store.add(codes[:1], [Entry("old")])
    for names in (("new", "old", "newer"), ("new", "newer", "new")):
        with pytest.raises(InputError):
            store.add(codes, [Entry(name, ("sea",)) for name in names])
    assert len(store) == 1
    assert store.labels() == {}
    assert store.find_names(["new", "newer"]) == {}


def test_store_knows_content_by_the_lowest_id(make_store):
    store = make_store(Meta(8))
    entries = [Entry(f"{i}", sha256=digit * 64) for i, digit in enumerate("abab")]
    ids = store.add(np.zeros((4, 1), np.uint8), entries)
    first, second = sorted((ids[1], ids[3]))
    assert store.find_content("b" * 64) == first
    store.remove([first])
    assert store.find_content("b" * 64) == second
    assert store.find_content("c" * 64) is None


def test_store_raises_for_unknown_ids(make_store):
    store = make_store(Meta(8))
    (id,) = store.add(np.zeros((1, 1), np.uint8), [Entry("a")])
    with pytest.raises(UnknownItemError, match=str(id + 1)):
        store.get([id, id + 1])
    with pytest.raises(UnknownItemError):
        store.revise({id + 1: Entry("b")})
    store.remove([id])
    with pytest.raises(UnknownItemError):
        store.get([id])


def test_store_version_changes_with_every_change(make_store):
    store = make_store(Meta(8))
    code = np.zeros((1, 1), np.uint8)
    versions = [store.version]
    for change in (
        lambda: store.add(code, [Entry("a")]),
        lambda: store.upsert(code, [Entry("a", ("sea",))]),
        lambda: store.revise({store.find_names(["a"])["a"]: Entry("b")}),
        lambda: store.remove([store.find_names(["b"])["b"]]),
    ):
        change()
        assert store.version == store.version
        versions.append(store.version)
    assert len(set(versions)) == len(versions)


def test_store_remembers_its_root(make_store):
    store = make_store(Meta(8, "abc"))
    store.set_root("/pictures/of/Zürich")
    assert store.meta == Meta(8, "abc", "/pictures/of/Zürich")
