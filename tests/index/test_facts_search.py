"""Searches filtered by date, camera and folder, alone and beside what else is searched for."""

import numpy as np
import pytest

from softhash.data.photo_facts import PhotoFacts
from softhash.errors import UsageError
from softhash.index import Entry, HammingIndex
from softhash.index.store import Meta

FACTS = {
    "2024/Italy/a.jpg": PhotoFacts("2024-05-01T00:00:00", "NIKON D90", 41.5, 12.25),
    "2024/Italy/Rome/b.jpg": PhotoFacts("2024-05-31T23:59:59", "Apple iPhone 15"),
    "2023/c.jpg": PhotoFacts("2023-12-31T12:00:00", "Nikon Z"),
    "d.jpg": PhotoFacts(),
}


@pytest.fixture
def index(make_store):
    store = make_store(Meta(8))
    if not hasattr(store, "facts"):
        pytest.skip("it keeps no facts")
    entries = [Entry(name, ("sea",) if "a" in name else (), sha256=name) for name in FACTS]
    ids = store.add(np.arange(len(FACTS), dtype=np.uint8)[:, np.newaxis], entries)
    store.facts.keep()
    store.facts.put(ids, list(FACTS), list(FACTS.values()))
    return HammingIndex(store)


def names(result):
    return [hit.file_name for hit in result]


A, B, C, D = FACTS


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({"after": "2024"}, [A, B]),
        ({"before": "2024"}, [C]),
        ({"after": "2023-12-31", "before": "2024-05-02"}, [A, C]),
        ({"after": "2024-05", "before": "2024-05"}, []),
        ({"folder": "Italy"}, [A, B]),
        ({"folder": "2024/Italy/Rome"}, [B]),
        ({"camera": "nikon"}, [A, C]),
        ({"camera": "nikon", "folder": "2024"}, [A]),
        ({"camera": "nikon", "not_labels": ["sea"]}, [C]),
        ({"after": "2023", "where": "sea"}, [A, B]),
    ],
)
def test_filters_alone_list_what_they_keep_and_count_it(index, asked, wanted):
    labelled = {name for name in FACTS if "a" in name}
    if "where" in asked:
        wanted = [name for name in wanted if name in labelled]
    result = index.search(**asked)
    assert names(result) == wanted
    assert result.total == len(wanted)
    assert names(index.search(**asked, k=1, offset=1)) == wanted[1:2]
    assert not any(hit.distance for hit in result)
    near = index.search(code="ff", **asked)
    assert sorted(names(near)) == sorted(wanted)
    assert near.total is None
    assert all(hit.distance is not None for hit in near)


def test_hits_carry_the_facts_that_are_known(index):
    hits = {hit.file_name: hit for hit in index.search(code="00")}
    assert {name: hit.facts for name, hit in hits.items()} == FACTS
    plain = hits[A].as_dict()
    assert (plain["taken"], plain["camera"]) == ("2024-05-01T00:00:00", "NIKON D90")
    assert (plain["latitude"], plain["longitude"]) == (41.5, 12.25)
    assert not {"latitude", "longitude"} & set(hits[B].as_dict())
    assert not set(PhotoFacts._fields) & set(hits[D].as_dict())


def test_a_search_says_what_it_was_filtered_by(index):
    result = index.search(labels=["sea"], after="2024-05", folder="Italy", camera="D90")
    assert result.where == "sea & taken:2024-05.. & folder:Italy & camera:D90"


def test_options_that_make_no_sense_are_refused(index):
    for asked in ({"after": "May"}, {"before": ""}, {"folder": "/"}):
        with pytest.raises(UsageError):
            index.search(code="00", **asked)
    with pytest.raises(TypeError):
        index.search(code="00", taken="2024")
