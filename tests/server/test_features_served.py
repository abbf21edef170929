"""Searches rescored by features over HTTP and on the page, where the index keeps them."""

import re

import pytest
from live import serving
from serving import TOKEN, is_problem, open_client

from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex
from softhash.index.features import drop_features, keep_features, missing_features
from softhash.index.local import _derived

SEARCH = "/api/v1/search"
FEATURES = {"k": 40, "rescore": "features"}


@pytest.fixture(scope="module")
def keeper(hasher, drawn, tmp_path_factory):
    """An index of the drawn pictures that keeps features."""
    with HammingIndex.create(tmp_path_factory.mktemp("kept") / "index", hasher) as index:
        keep_features(index)
        index.add(ImageSet.read(drawn), device="cpu")
        yield index


@pytest.fixture(scope="module")
def asker(keeper):
    with open_client(keeper) as client:
        yield client


def ranked(answer):
    assert answer.status_code == 200, answer.text
    return [(hit["id"], hit["distance"], hit["rescored"]) for hit in answer.json()["hits"]]


def expected(result):
    return [(hit.id, hit.distance, hit.rescored) for hit in result]


def test_a_picture_and_an_item_are_rescored_by_features(asker, keeper, drawn):
    path = drawn / keeper.get(9).file_name
    files = {"image": ("a.png", path.read_bytes())}
    found = ranked(asker.post(SEARCH, files=files, data=FEATURES))
    assert found == expected(keeper.search(path, k=40, rescore="features"))
    assert found != ranked(asker.post(SEARCH, files=files, data={"k": 40, "rescore": "bits"}))
    by_id = expected(keeper.search(id=9, k=40, rescore="features"))
    assert ranked(asker.post(SEARCH, data={**FEATURES, "id": 9})) == by_id
    assert ranked(asker.get("/api/v1/items/9/similar", params=FEATURES)) == by_id
    assert asker.get("/api/v1/index").json()["features"] is True


def test_what_cannot_be_rescored_by_features_is_a_problem_with_a_way_out(asker, client):
    told = is_problem(asker.post(SEARCH, data={**FEATURES, "code": "abc"}), 422, "invalid")
    assert "comes without features" in told["detail"]
    told = is_problem(client.get("/api/v1/items/9/similar", params=FEATURES), 409, "no-features")
    assert told["detail"] == "the index keeps no features to rescore by"
    assert "softhash index --keep-features" in told["hint"]
    assert client.get("/api/v1/index").json()["features"] is False
    is_problem(asker.get("/api/v1/items/9/similar?rescore=bits"), 422, "invalid")


@pytest.mark.parametrize("full", [False, True])
def test_an_upload_keeps_its_features_or_at_least_itself(hasher, tmp_path, monkeypatch, full):
    scenes.write(tmp_path / "photos", count=3, size=64, workers=1)
    scenes.write(tmp_path / "more", count=1, size=64, seed=5, workers=1)
    data = next((tmp_path / "more").glob("*.png")).read_bytes()

    def no_room(self, ids, rows):
        raise OSError(28, "No space left on device")

    with HammingIndex.create(tmp_path / "index", hasher) as index:
        keep_features(index)
        index.add(ImageSet.read(tmp_path / "photos"), device="cpu")
        if full:
            monkeypatch.setattr(_derived.Column, "put", no_room)
        with open_client(index, writable=True, token=TOKEN) as client:
            client.headers["Authorization"] = f"Bearer {TOKEN}"
            answer = client.post("/api/v1/items", files={"image": ("new.png", data)})
        assert answer.status_code == 201
        assert [id for id, _ in missing_features(index)] == ([3] if full else [])


@pytest.mark.slow
def test_page_offers_features_for_pictures_and_items_where_they_are_kept(visit, keeper, drawn):
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with serving(keeper) as (_, client):
        visitor = visit(str(client.base_url))
        page = visitor.open("#/search?id=9")
        box = page.get_by_role("checkbox", name="Finer order")
        api.expect(box).to_be_visible()
        box.check()
        page.wait_for_url(re.compile("id=9&rescore=1"))
        visitor.wait()
        right = keeper.search(id=9, k=24, rescore="features")
        assert len({hit.code for hit in right}) < len(right)  # features tell them apart
        assert visitor.hits() == [hit.id for hit in right]
        page.locator(".details summary").click()
        shown = page.locator(f'.card[data-id="{right[0].id}"] .weighed')
        api.expect(shown).to_have_text(f", rescored {right[0].rescored:.2f}")
        page.set_input_files("#picture", drawn / keeper.get(4).file_name)
        page.wait_for_url(re.compile("code=.*&rescore=1"))
        visitor.wait()
        right = keeper.search(drawn / keeper.get(4).file_name, k=24, rescore="features")
        assert right[0].id == 4  # its own file is the first in any case
        assert visitor.hits() == [hit.id for hit in right]


def test_features_dropped_while_served_are_no_longer_offered(hasher, tmp_path):
    scenes.write(tmp_path / "photos", count=3, size=64, workers=1)
    with HammingIndex.create(tmp_path / "index", hasher) as index, open_client(index) as client:
        keep_features(index)
        assert client.get("/api/v1/index").json()["features"] is True
        drop_features(index)
        assert client.get("/api/v1/index").json()["features"] is False
