"""Clients may ask for an exact search where an index would be searched in two stages."""

import numpy as np
import pytest
from serving import open_client

from softhash.index import Entry, HammingIndex
from softhash.index.local import LocalStore, _first_words
from softhash.model.hasher import Hasher

BITS = 128


@pytest.fixture
def nested(tmp_path, monkeypatch):
    """An index of codes whose first 64 bits were trained as a code."""
    monkeypatch.setattr(_first_words, "MIN_BYTES", 50 * BITS // 8)
    hasher = Hasher.from_features(6, bits=BITS)
    hasher.lengths = (64, BITS)
    codes = np.random.default_rng(0).integers(0, 256, (60, BITS // 8), dtype=np.uint8)
    with HammingIndex.create(tmp_path / "index", hasher) as index:
        index.add_codes(codes, [Entry(f"{i}.jpg") for i in range(60)])
        yield index


def test_two_stages_are_used_unless_a_client_asks_for_an_exact_search(nested, monkeypatch):
    asked = []
    plain = LocalStore.search_in_two_stages

    def counted(self, *arguments, **options):
        asked.append(arguments)
        return plain(self, *arguments, **options)

    monkeypatch.setattr(LocalStore, "search_in_two_stages", counted)
    code = "00" * (BITS // 8)
    with open_client(nested) as client:
        for exact, expected in (("true", 0), ("false", 1)):
            form = {"code": code, "k": 5, "exact": exact}
            assert len(client.post("/api/v1/search", data=form).json()["hits"]) == 5
            assert len(asked) == expected
        found = client.get("/api/v1/items/3/similar", params={"exact": "true"}).json()
    exact = nested.search(id=3, exact=True)
    assert [hit["id"] for hit in found["hits"]] == [hit.id for hit in exact]
    assert len(asked) == 1
