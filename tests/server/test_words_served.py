"""Searches by words, likely labels and sure hits over HTTP, against what the index answers."""

from dataclasses import replace

import numpy as np
import pytest
from serving import TOKEN, is_problem, jpeg, open_client

from softhash.data.image_set import ImageSet
from softhash.index import Entry, HammingIndex
from softhash.index.where import Label, with_likely
from softhash.model.hasher import Hasher
from softhash.model.sureness import Sureness
from softhash.server.schemas import About, Answer, Page, WordList

SEARCH, ITEMS, WORDS = "/api/v1/search", "/api/v1/items", "/api/v1/words"


@pytest.fixture(scope="module")
def teller(telling_model):
    hasher = Hasher.load(telling_model)
    sureness = Sureness(np.array([1.0, -3.0, 0.8, 0.5]))
    hasher.label_classifier = replace(hasher.label_classifier, sureness=sureness)
    return hasher


@pytest.fixture(scope="module")
def telling(teller, drawn, tmp_path_factory):
    place = tmp_path_factory.mktemp("words") / "index"
    with HammingIndex.create(place, teller) as index:
        index.add(ImageSet.read(drawn), device="cpu")
        yield index


@pytest.fixture(scope="module")
def words_client(telling):
    with open_client(telling) as client:
        yield client


def ask(client, **data):
    answer = client.post(SEARCH, data=data)
    assert answer.status_code == 200, answer.text
    return Answer.model_validate(answer.json(), strict=True) and answer.json()


def same(answer, result):
    """Compare an answer with what the index returns, field by field."""
    view = result.as_dict()
    hits = [{k: v for k, v in hit.items() if k != "image"} for hit in answer["hits"]]
    assert hits == view["hits"]
    assert {k: v for k, v in answer["query"].items() if k != "bits"} == view["query"]


def test_words_alone_are_a_search(words_client, telling):
    answer = ask(words_client, words="Suns and houses", k=7, offset=2)
    result = telling.search(words=["sun", "house"], k=7, offset=2)
    same(answer, result)
    assert answer["query"]["words"] == ["sun", "house"]
    assert all(hit["distance"] is None and "sure" not in hit for hit in answer["hits"])
    assert answer["hits"][0]["score"] >= answer["hits"][-1]["score"] > 0
    filtered = ask(words_client, words="sun", where="!tree", less=["moon", "a house"], k=40)
    same(filtered, telling.search(words="sun", where="!tree", less=["moon", "house"], k=40))
    assert filtered["query"]["less"] == ["moon", "house"]


def test_words_beside_an_item_a_code_or_a_picture(words_client, telling, drawn):
    asked = {"more": ["sea", "tree"], "less": "sun", "k": 9}
    expected = {"more": ["sea", "tree"], "less": ["sun"], "k": 9}
    same(ask(words_client, id=3, **asked), telling.search(id=3, **expected))
    same(ask(words_client, code="abc", **asked), telling.search(code="abc", **expected))
    similar = words_client.get(f"{ITEMS}/3/similar", params=asked).json()
    same(similar, telling.search(id=3, **expected))
    data = (drawn / telling.get(5).entry.file_name).read_bytes()
    answer = words_client.post(SEARCH, files={"image": data}, data=asked).json()
    result = telling.search(data, **expected)
    assert [hit["id"] for hit in answer["hits"]] == [hit.id for hit in result]
    assert [hit["score"] for hit in answer["hits"]] == [hit.score for hit in result]


def test_hits_are_as_sure_as_the_index_says(words_client, telling):
    answer = words_client.post(SEARCH, files={"image": jpeg()}, data={"k": 40}).json()
    sure = [hit["sure"] for hit in answer["hits"]]
    result = telling.search(jpeg(), k=40)
    assert sure == [round(hit.sure, 4) for hit in result]
    least = sorted(sure)[20]
    few = words_client.post(SEARCH, files={"image": jpeg()}, data={"k": 40, "at_least": least})
    assert [hit["id"] for hit in few.json()["hits"]] == [
        hit.id for hit in result if hit.sure >= least
    ]
    none = ask(words_client, id=3, at_least=1)
    assert {hit["sure"] for hit in none["hits"]} <= {1}


@pytest.mark.parametrize("given_only", [False, True])
def test_filters_use_likely_labels_unless_given_ones_alone_count(words_client, telling, given_only):
    where = Label("sky") if given_only else with_likely(Label("sky"))
    right = [item.id for item in telling.store.items(where=where)]
    asked = {"label": "sky", "given_only": given_only}
    page = words_client.get(ITEMS, params={**asked, "limit": 500}).json()
    assert [one["id"] for one in page["items"]] == right
    assert page["total"] == len(right)
    folder = words_client.get(ITEMS, params={**asked, "folder": "", "limit": 500}).json()
    assert [one["id"] for one in folder["items"]] == right
    logic = words_client.get(ITEMS, params={"where": "sky", "given_only": given_only}).json()
    assert logic["total"] == len(right)
    found = ask(words_client, **asked, k=40)
    assert ([hit["id"] for hit in found["hits"]], found["total"]) == (right, len(right))
    assert found["query"]["where"] == "sky"
    counts = telling.store.count(Label("sky"), with_likely(Label("sky")))
    assert counts[0] != counts[1]


def test_a_label_that_the_model_alone_names_is_an_error_where_given_ones_count(words_client):
    assert words_client.get(ITEMS, params={"where": "night"}).status_code == 200
    answer = words_client.get(ITEMS, params={"where": "night", "given_only": True})
    assert "unknown label 'night'" in is_problem(answer, 422)["detail"]


def test_items_and_hits_carry_likely_labels(words_client, telling):
    page = words_client.get(ITEMS, params={"limit": 40}).json()
    Page.model_validate(page, strict=True)
    for one in page["items"]:
        item = telling.get(one["id"])
        row = telling.store.likely.get([(item.id, item.entry)])[0]
        assert one["likely"] == {n: round(p, 4) for n, p in row.items() if n not in one["labels"]}
    assert page["items"][3] == words_client.get(f"{ITEMS}/3").json()
    hits = ask(words_client, code="abc", k=40)["hits"]
    likely = {one["id"]: one["likely"] for one in page["items"]}
    assert {hit["id"]: hit["likely"] for hit in hits} == likely


def test_the_index_counts_likely_labels_apart_from_given_ones(words_client, telling):
    about = words_client.get("/api/v1/index").json()
    About.model_validate(about, strict=True)
    assert about["labels"] == telling.store.labels()
    assert about["likely"] == telling.store.likely_counts()
    assert about["likely"]
    assert (about["words"], about["sure"]) == (True, True)


def test_an_index_without_likely_labels_has_none(client):
    about = client.get("/api/v1/index").json()
    assert (about["likely"], about["words"], about["sure"]) == ({}, True, False)
    assert all("likely" not in one for one in client.get(ITEMS).json()["items"])
    assert ask(client, words="sun", k=3)["hits"][0]["score"] == 1
    told = is_problem(client.post(SEARCH, data={"id": 1, "at_least": 0.5}), 422)
    assert "the index does not know how sure" in told["detail"]


def test_words_are_completed_with_their_counts(words_client, telling):
    given, likely = telling.store.labels(), telling.store.likely_counts()
    answer = words_client.get(WORDS, params={"prefix": "S", "limit": 100}).json()
    WordList.model_validate(answer, strict=True)
    known = {*given, "sea", "7", "night", "sky"}
    assert {one["word"] for one in answer["words"]} == {word for word in known if "s" in word}
    for one in answer["words"]:
        assert (one["given"], one["likely"]) == (
            given.get(one["word"], 0),
            likely.get(one["word"], 0),
        )
    begins = [one["word"].startswith("s") for one in answer["words"]]
    assert begins == sorted(begins, reverse=True)
    first = [one["given"] + one["likely"] for one in answer["words"] if one["word"][0] == "s"]
    assert first == sorted(first, reverse=True)
    assert len(words_client.get(WORDS).json()["words"]) == 10
    assert words_client.get(WORDS, params={"prefix": "zzz"}).json() == {"words": []}


@pytest.mark.parametrize(
    ("data", "detail", "hint"),
    [
        ({"words": "mooon"}, "unknown word 'mooon'", "did you mean 'moon'?"),
        ({"id": 3, "more": "mooon"}, "unknown word 'mooon'", "did you mean 'moon'?"),
        ({"words": "  "}, "no word to search for", "name what is in the pictures"),
        ({"words": "sun", "id": 3}, "words and id are both given", "as more or less"),
        ({"more": "sun"}, "nothing to search for", "image, id, code and words"),
        ({"id": 3, "more": "sun", "less": "sun"}, "both ways", "leave one of them out"),
        ({"words": "sun", "at_least": 0.5}, "means nothing for words alone", "leave it out"),
        ({"code": "abc", "at_least": 0.5}, "hits of a code", "leave at_least out"),
        ({"id": 3, "at_least": 1.1}, "at_least", "/docs"),
        ({"id": 3, "at_least": "nan"}, "at_least", "/docs"),
    ],
)
def test_wrong_questions_are_problems_with_the_way_out(words_client, data, detail, hint):
    told = is_problem(words_client.post(SEARCH, data=data), 422, "invalid")
    assert detail in told["detail"]
    assert hint in told["hint"]


def test_an_uploaded_picture_gets_its_likely_labels_at_once(teller, drawn, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "a.png").write_bytes(next(drawn.glob("*.png")).read_bytes())
    with HammingIndex.create(tmp_path / "index", teller) as index:
        index.add(ImageSet.read(photos), device="cpu")
        with open_client(index, writable=True, token=TOKEN) as client:
            head = {"Authorization": f"Bearer {TOKEN}"}
            files = {"image": ("b.jpg", jpeg())}
            added = client.post(ITEMS, files=files, data={"label": "sea"}, headers=head).json()
        likely = teller.label_classifier.probabilities(teller.features(jpeg(), device="cpu"))[0]
        expected = dict(zip(teller.classes, likely, strict=True))
        del expected["sea"]
        assert set(added["likely"]) <= set(expected)
        assert added["likely"] == pytest.approx(
            {name: expected[name] for name in added["likely"]}, abs=0.003
        )
        assert added["likely"]


def test_an_index_of_codes_is_searched_by_words_too(tmp_path):
    with HammingIndex.create(tmp_path / "index", bits=8) as index:
        index.add_codes(np.zeros((2, 1), np.uint8), [Entry("a"), Entry("b", ("sea",))])
        with open_client(index) as client:
            assert [hit["file_name"] for hit in ask(client, words="seas")["hits"]] == ["b"]
            assert client.get("/api/v1/index").json()["classes"] == []
