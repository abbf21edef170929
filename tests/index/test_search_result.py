"""What a search returns, whatever was searched for, against sums by hand."""

from pathlib import Path

import numpy as np
import pytest
from memory_store import MemoryStore
from PIL import Image

from softhash import SearchResult
from softhash.codes import pack
from softhash.data.image_set import ImageSet
from softhash.errors import NoOutputsError, QueryError, UsageError
from softhash.index import Entry, HammingIndex
from softhash.index.store import Meta
from softhash.model.hasher import Hasher

BITS = 12


class Counting:
    """A hasher that remembers how often it was asked for what."""

    def __init__(self, hasher):
        self._hasher, self.asked = hasher, []

    def __getattr__(self, name):
        found = getattr(self._hasher, name)
        if not callable(found):
            return found

        def counted(*given, **options):
            self.asked.append(name)
            return found(*given, **options)

        return counted


@pytest.fixture
def hasher(telling_model):
    return Counting(Hasher.load(telling_model))


@pytest.fixture
def photos(tmp_path):
    """Six pictures, of which the first has two labels and the last has none."""
    rng = np.random.default_rng(0)
    rows = ["file_name,labels", "0.png,sea;sky", "1.png,sky", "2.png,sun", "3.png,sea;sun"]
    for number in range(6):
        pixels = rng.integers(0, 256, (40, 40, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
    (tmp_path / "metadata.csv").write_text("\n".join([*rows, "4.png,sky", "5.png,"]))
    return tmp_path


@pytest.fixture
def index(hasher, photos):
    index = HammingIndex(MemoryStore(Meta(BITS, hasher.identity)), hasher)
    index.add(ImageSet.read(photos), device="cpu")
    hasher.asked.clear()
    return index


def find(index, name):
    return index.get(index.store.find_names([name])[name])


def test_a_result_is_a_sequence_of_its_hits(index, photos):
    result = index.search(photos / "0.png", k=4)
    assert isinstance(result, SearchResult)
    assert list(result) == list(result.hits) == [result[i] for i in range(4)]
    assert (len(result), result[-1], result[1:3]) == (4, result.hits[3], result.hits[1:3])
    assert result.hits[2] in result
    assert result.index(result.hits[2]) == 2
    with pytest.raises(AttributeError):
        result.code = b""
    assert repr(result) == f"SearchResult(4 hits, code {result.code.hex()})"


def test_a_picture_of_the_index_has_its_labels_and_is_encoded_once(index, hasher, photos):
    for picture in (photos / "0.png", str(photos / "0.png"), (photos / "0.png").read_bytes()):
        hasher.asked.clear()
        result = index.search(picture, k=6, labels=["sun", "sky"], rescore=True)
        assert hasher.asked == ["encode_readable"]
        assert set(result.labels) == {"sea", "sky"}
        assert result.code == find(index, "0.png").code
        assert all(set(hit.shared) == {"sea", "sky"} & set(hit.labels) for hit in result)
        assert {hit.file_name for hit in result} == {f"{i}.png" for i in range(5)}


def test_likely_labels_are_those_of_the_hasher(index, hasher, photos):
    picture = np.asarray(Image.open(photos / "2.png"))
    result = index.search(picture)
    u, (likely,) = hasher.outputs_and_labels(picture, device="cpu")
    assert len(likely) == 3
    assert list(result.likely.items()) == list(likely.items())
    assert result.code == pack(u)[0].tobytes()
    assert result.labels == ()  # pixels are not a file of the index
    assert result.as_dict()["query"]["likely"] == likely


def test_an_item_knows_its_labels_and_is_not_among_its_hits(index):
    for name, labels in (("3.png", {"sea", "sun"}), ("5.png", set())):
        item = find(index, name)
        result = index.search(id=item.id, k=10, labels=["sky"])
        assert (result.itself, result.code, set(result.labels)) == (item, item.code, labels)
        assert item.id not in [hit.id for hit in result]
        assert all(set(hit.shared) == labels & set(hit.labels) for hit in result)
        assert result.likely == {}


def test_where_labels_are_not_known_those_asked_for_are_shared(index):
    code = find(index, "0.png").code
    result = index.search(code=code.hex(), labels=["sea", "sky"], not_labels=["sun"])
    assert result.labels == ()
    assert {hit.file_name: hit.shared for hit in result} == {
        "0.png": ("sea", "sky"),
        "1.png": ("sky",),
        "4.png": ("sky",),
    }


def test_labels_that_the_caller_has_come_first(index, photos):
    item = find(index, "0.png")
    u = index.hasher.outputs(photos / "0.png", device="cpu")[0]
    for query in (
        {"picture": photos / "0.png"},
        {"id": item.id},
        {"code": item.code},
        {"outputs": u},
    ):
        result = index.search(**query, query_labels=["sun"], labels=["sky", "sun"])
        assert result.labels == ("sun",)
        assert {hit.shared for hit in result} == {(), ("sun",)}


def test_ranks_begin_after_what_was_skipped(index):
    whole = index.search(code="000", k=6)
    page = index.search(code="000", k=2, offset=3)
    assert (whole.first, page.first) == (1, 4)
    assert page.hits == whole[3:5]


def test_plain_values_have_what_is_there_and_nothing_else(index, photos):
    plain = index.search(code="fff", k=1).as_dict()
    hit = index.search(code="fff", k=1)[0]
    assert plain == {
        "query": {"code": "fff0", "labels": []},
        "hits": [
            {
                "id": hit.id,
                "distance": hit.distance,
                "file_name": hit.file_name,
                "labels": list(hit.labels),
                "shared": [],
                "code": hit.code.hex(),
            }
        ],
    }
    rescored = index.search(photos / "1.png", rescore=True).as_dict()
    assert set(rescored["query"]) == {"code", "labels", "likely"}
    assert all(isinstance(hit["rescored"], float) for hit in rescored["hits"])


@pytest.mark.parametrize("query", [{}, {"id": 0, "code": "fff"}, {"picture": "a.png", "id": 0}])
def test_a_search_is_for_exactly_one_thing(index, hasher, query):
    with pytest.raises(QueryError, match="exactly one of picture, id, code and outputs"):
        index.search(**query)
    assert hasher.asked == []


@pytest.mark.parametrize("query", [{"id": 0}, {"code": "fff"}])
def test_only_pictures_and_outputs_are_rescored(index, query):
    with pytest.raises(NoOutputsError, match="no real-valued outputs"):
        index.search(**query, rescore=True)


@pytest.mark.parametrize("filter", ["labels", "not_labels"])
def test_a_label_that_no_item_has_is_refused_before_anything_is_encoded(
    index, hasher, photos, filter
):
    with pytest.raises(UsageError, match="unknown label 'sunn'; did you mean 'sun'"):
        index.search(photos / "0.png", **{filter: ["sky", "sunn"]})
    assert hasher.asked == []


def test_known_labels_are_not_counted_to_be_checked(index, monkeypatch):
    """In Milvus that takes minutes."""
    monkeypatch.setattr(index.store, "labels", lambda: 1 / 0)
    assert index.search(code="fff", labels=["sky"], not_labels=["sun"])


@pytest.mark.parametrize("window", [{"k": 0}, {"offset": -1}])
def test_a_page_without_room_is_refused(index, window):
    with pytest.raises(UsageError, match="give at least 1 and 0"):
        index.search(code="fff", **window)


def test_an_index_of_codes_is_searched_without_a_model():
    index = HammingIndex(MemoryStore(Meta(8), model_folder=Path("nowhere")))
    index.add_codes(np.array([[0], [7]], np.uint8), [Entry("a"), Entry("b")])
    assert [hit.file_name for hit in index.search(code="07")] == ["b", "a"]


def test_a_filter_on_an_index_without_labels_says_so():
    index = HammingIndex(MemoryStore(Meta(BITS)))
    index.add_codes(np.zeros((1, 2), np.uint8), [Entry("a.jpg")])
    with pytest.raises(UsageError, match="'dog': the items of this index have no labels"):
        index.search(id=0, labels=["dog"])
