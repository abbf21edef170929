"""A store in plain Python, slow and obvious: what every real one must agree with."""

import itertools
from pathlib import Path

import numpy as np

from softhash.data.photo_facts import PhotoFacts
from softhash.errors import InputError, UnknownItemError
from softhash.index.items import Item, Near
from softhash.index.store import Meta
from softhash.index.where import EVERYTHING, LIKELY, Described


class MemoryLikely:
    """Likely labels in a dict, each with the content it is of."""

    def __init__(self):
        self.words, self._rows = (), {}

    def put(self, ids, contents, rows):
        for id, content, words, values in zip(ids, contents, *rows, strict=True):
            if content and self.words:
                pairs = zip(words.tolist(), values.tolist(), strict=True)
                row = {self.words[word]: value / 255 for word, value in pairs if word != 65535}
                self._rows[id] = content, row

    def get(self, items):
        found = [self._rows.get(id, ("", {})) for id, _ in items]
        return [
            row if content == entry.sha256 else {}
            for (content, row), (_, entry) in zip(found, items, strict=True)
        ]

    def missing(self, items):
        return [(id, e) for id, e in items if self._rows.get(id, ("",))[0] != (e.sha256 or None)]


class MemoryFacts:
    """Facts in a dict, each with the content they are of."""

    def __init__(self):
        self.is_kept, self._rows = False, {}

    def keep(self):
        self.is_kept = True

    def put(self, ids, contents, facts):
        for id, content, row in zip(ids, contents, facts, strict=True):
            if content and self.is_kept:
                self._rows[id] = content, row

    def get(self, items):
        found = [self._rows.get(id, ("", PhotoFacts())) for id, _ in items]
        return [
            row if content == entry.sha256 else PhotoFacts()
            for (content, row), (_, entry) in zip(found, items, strict=True)
        ]

    def missing(self, items):
        return [(id, e) for id, e in items if self._rows.get(id, ("",))[0] != (e.sha256 or None)]


class MemoryStore:
    """Items in a dict; distances by counting bits one by one."""

    def __init__(self, meta: Meta, location: str = "memory", model_folder: Path = Path("nowhere")):
        self.meta, self.location, self.model_folder = meta, location, model_folder
        self.version = 0
        self._items: dict[int, Item] = {}
        self._ids = itertools.count()
        self.likely, self.facts = MemoryLikely(), MemoryFacts()

    @classmethod
    def create(cls, location, meta):
        return cls(meta, location)

    def set_root(self, root):
        self.meta = Meta(self.meta.bits, self.meta.model, root)

    def __len__(self):
        return len(self._items)

    def add(self, codes, entries):
        names = [entry.file_name for entry in entries]
        if self.find_names(names) or len(set(names)) < len(names):
            raise InputError("there already")
        return self.upsert(codes, entries)

    def upsert(self, codes, entries):
        self.version += 1
        ids = []
        for code, entry in zip(codes, entries, strict=True):
            known = self.find_names([entry.file_name])
            id = known.get(entry.file_name)
            id = next(self._ids) if id is None else id
            self._items[id] = Item(id, entry, bytes(code))
            ids.append(id)
        return ids

    def revise(self, entries):
        self.version += 1
        for id, entry in entries.items():
            self._items[id] = self.get([id])[0]._replace(entry=entry)

    def remove(self, ids):
        self.version += 1
        return sum(self._items.pop(id, None) is not None for id in ids)

    def get(self, ids):
        for id in ids:
            if id not in self._items:
                raise UnknownItemError(f"no item has the id {id}")
        return [self._items[id] for id in ids]

    def codes(self, ids):
        each = [np.frombuffer(item.code, np.uint8) for item in self.get(ids)]
        return np.array(each, np.uint8).reshape(len(ids), -(-self.meta.bits // 8))

    def find_names(self, file_names):
        known = {item.entry.file_name: id for id, item in self._items.items()}
        return {name: known[name] for name in file_names if name in known}

    def find_content(self, sha256):
        return next((i.id for i in self.items(limit=10**9) if i.entry.sha256 == sha256), None)

    def search(self, codes, k, *, offset=0, radius=None, where=EVERYTHING):
        return [self._ranking(code, radius, where)[offset : offset + k] for code in codes]

    def _ranking(self, code, radius, where):
        near = [
            Near(int(np.bitwise_count(np.frombuffer(i.code, np.uint8) ^ code).sum()), i.id)
            for i in self._items.values()
            if where.keeps(self.describe(i))
        ]
        return sorted(one for one in near if radius is None or one.distance <= radius)

    def items(self, *, after=-1, limit=100, offset=0, where=EVERYTHING):
        kept = [self._items[id] for id in sorted(self._items) if id > after]
        kept = [i for i in kept if where.keeps(self.describe(i))]
        return kept[offset : offset + limit]

    def count(self, *filters):
        return [len(self.items(limit=10**9, where=where)) for where in filters]

    def scan(self):
        return ((item.id, item.entry) for item in self.items(limit=10**9))

    def labels(self):
        every = [label for item in self._items.values() for label in item.entry.labels]
        return {label: every.count(label) for label in sorted(set(every))}

    def describe(self, item):
        (facts,) = self.facts.get([(item.id, item.entry)])
        known = item.entry.labels, self.likely_labels(item), item.entry.file_name
        return Described(*known, facts.taken, facts.camera)

    def likely_labels(self, item):
        return self.likely.get([(item.id, item.entry)])[0]

    def likely_counts(self, at_least=LIKELY):
        counts = {}
        for item in self._items.values():
            for name, p in self.likely_labels(item).items():
                if p >= at_least and name not in item.entry.labels:
                    counts[name] = counts.get(name, 0) + 1
        return dict(sorted(counts.items()))

    def word_scores(self, ids, weights):
        scores = []
        for item in self.get(ids):
            p = self.likely_labels(item) | dict.fromkeys(item.entry.labels, 1)
            scores.append(sum(weight * p.get(word, 0) for word, weight in weights.items()))
        return np.array(scores, np.float64)

    def rank_by_words(self, weights, k, *, offset=0, where=EVERYTHING):
        ids = [item.id for item in self.items(limit=10**9, where=where)]
        ranked = sorted(
            (-score, id)
            for score, id in zip(self.word_scores(ids, weights).tolist(), ids, strict=True)
        )
        return [(-score, id) for score, id in ranked if score < 0][offset : offset + k]

    def verify(self, progress=None):
        return []

    def close(self):
        pass
