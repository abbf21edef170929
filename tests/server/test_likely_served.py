"""What a picture looks like, as the API tells it, against the hasher's own answer."""

import pytest
from serving import jpeg, open_client

from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex
from softhash.model.hasher import Hasher
from softhash.server.schemas import Answer, Encoding


@pytest.fixture(scope="module")
def teller(telling_model):
    return Hasher.load(telling_model)


@pytest.fixture(scope="module")
def telling(teller, drawn, tmp_path_factory):
    place = tmp_path_factory.mktemp("telling") / "index"
    with HammingIndex.create(place, teller) as index:
        index.add(ImageSet.read(drawn), device="cpu")
        yield index


@pytest.fixture(scope="module")
def likely(teller):
    found = teller.outputs_and_labels(jpeg(), device="cpu")[1][0]
    assert len(found) == 3
    return found


def test_a_picture_is_answered_with_its_likely_labels(telling, likely):
    with open_client(telling) as client:
        for asked in ({"k": 2}, {"k": 2, "rescore": "true"}):
            answer = client.post("/api/v1/search", files={"image": jpeg()}, data=asked).json()
            assert list(answer["query"]["likely"].items()) == list(likely.items())
            assert len(answer["hits"]) == 2
            assert Answer.model_validate(answer, strict=True).query.likely == likely
        encoded = client.post("/api/v1/encode", files={"image": jpeg()}).json()
        assert Encoding.model_validate(encoded, strict=True).likely == likely
        assert encoded["code"] == answer["query"]["code"]


def test_items_and_codes_are_not_guessed_at(telling):
    with open_client(telling) as client:
        answers = [
            client.post("/api/v1/search", data={"id": 3}),
            client.post("/api/v1/search", data={"code": "abc"}),
            client.get("/api/v1/items/3/similar"),
        ]
    assert all(answer.status_code == 200 for answer in answers)
    assert not any("likely" in answer.json()["query"] for answer in answers)


def test_a_model_without_an_opinion_answers_as_before(client):
    answer = client.post("/api/v1/search", files={"image": jpeg()}).json()
    assert set(answer["query"]) == {"code", "bits", "labels"}
    encoded = client.post("/api/v1/encode", files={"image": jpeg()}).json()
    assert set(encoded) == {"code", "bits", "model"}


def test_likely_labels_are_described(client):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    for name in ("Query", "Encoding"):
        told = schemas[name]["properties"]["likely"]
        assert told["additionalProperties"] == {"type": "number", "minimum": 0, "maximum": 1}
        assert "likely" in told["description"]
        assert "likely" not in schemas[name]["required"]
