"""Dates, cameras, places and folders over HTTP: what is asked for, and what items carry."""

import pytest
from PIL import Image
from serving import TOKEN, is_problem, jpeg, open_client

from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex
from softhash.server.schemas import Answer, ItemView, Page

FACTS = {"taken": "2024-05-17T14:03:22", "camera": "NIKON D90"}


def photograph(taken, model, colour):
    data = Image.Exif()
    data[0x110] = model
    data.get_ifd(0x8769)[0x9003] = taken
    return jpeg(colour=colour, exif=data.tobytes())


@pytest.fixture(scope="module")
def client(hasher, tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts")
    (folder / "photos" / "2024" / "Italy").mkdir(parents=True)
    files = {
        "2024/Italy/a.jpg": photograph("2024:05:17 14:03:22", "NIKON D90", (200, 60, 20)),
        "2024/b.jpg": photograph("2023:01:01 00:00:00", "X100", (20, 60, 200)),
        "c.jpg": jpeg(colour=(9, 9, 9)),
    }
    for name, data in files.items():
        (folder / "photos" / name).write_bytes(data)
    with HammingIndex.create(folder / "index", hasher) as index:
        index.add(ImageSet.read(folder / "photos"), device="cpu")
        with open_client(index, writable=True, token=TOKEN) as client:
            yield client


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({"taken_after": "2024-05"}, ["2024/Italy/a.jpg"]),
        ({"taken_before": "2024"}, ["2024/b.jpg"]),
        ({"camera": "nikon"}, ["2024/Italy/a.jpg"]),
        ({"camera": "x1", "taken_after": "2024"}, []),
    ],
)
def test_items_are_searched_and_browsed_by_date_and_camera(client, asked, wanted):
    found = client.post("/api/v1/search", data=asked).json()
    assert [hit["file_name"] for hit in found["hits"]] == wanted
    assert found["total"] == len(wanted)
    page = client.get("/api/v1/items", params=asked).json()
    assert [item["file_name"] for item in page["items"]] == wanted
    assert page["total"] == len(wanted)
    within = client.get("/api/v1/items", params={**asked, "folder": "2024"}).json()
    assert [item["file_name"] for item in within["items"]] == wanted
    near = client.post("/api/v1/search", files={"image": jpeg()}, data=asked).json()
    assert [hit["file_name"] for hit in near["hits"]] == wanted


def test_a_search_takes_a_path_or_the_name_of_a_folder_and_browsing_a_path(client):
    for folder, count in (("Italy", 1), ("2024", 2), ("2024/Italy", 1), ("Ital", 0)):
        assert client.post("/api/v1/search", data={"folder": folder}).json()["total"] == count
    for folder, count in (("Italy", 0), ("2024", 2), ("2024/Italy", 1), ("", 1)):
        page = client.get("/api/v1/items", params={"folder": folder}).json()
        assert page["total"] == count


def test_items_and_hits_carry_what_is_known(client):
    answer = client.post("/api/v1/search", data={"camera": "d90"}).json()
    (hit,) = Answer.model_validate(answer, strict=True).hits
    assert {name: answer["hits"][0][name] for name in FACTS} == FACTS
    assert not {"latitude", "longitude"} & set(answer["hits"][0])
    view = client.get(f"/api/v1/items/{hit.id}").json()
    assert {name: view[name] for name in FACTS} == FACTS
    assert ItemView.model_validate(view, strict=True).taken == FACTS["taken"]
    page = client.get("/api/v1/items").json()
    Page.model_validate(page, strict=True)
    plain = next(item for item in page["items"] if item["file_name"] == "c.jpg")
    assert set(plain) == {"id", "file_name", "labels", "code", "image"}


@pytest.mark.parametrize("asked", [{"taken_after": "May"}, {"taken_before": "2024-02-30"}])
def test_a_bad_date_is_a_problem_with_the_way_out(client, asked):
    for answer in (
        client.post("/api/v1/search", data=asked),
        client.get("/api/v1/items", params=asked),
        client.get("/api/v1/items/0/similar", params=asked),
    ):
        assert "2024-05-17" in is_problem(answer, 422)["hint"]


def test_an_uploaded_photograph_is_found_by_its_date(client):
    data = photograph("2019:03:04 05:06:07", "Canon", (1, 200, 1))
    client.post(
        "/api/v1/items",
        files={"image": ("new.jpg", data)},
        headers={"Authorization": f"Bearer {TOKEN}"},
    ).raise_for_status()
    found = client.post("/api/v1/search", data={"taken_before": "2020"}).json()
    assert [(hit["file_name"], hit["camera"]) for hit in found["hits"]] == [("new.jpg", "Canon")]
