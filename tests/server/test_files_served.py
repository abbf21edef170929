"""Files as they are, the folders they are in, and items found by content."""

import hashlib

import numpy as np
import pytest
from serving import is_problem, open_client

from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.index import Entry, HammingIndex
from softhash.server import folders


@pytest.fixture(scope="module")
def nested(tmp_path_factory):
    """An index of codes alone: nine items in folders, one in none."""
    names = [f"{folder}/{i}.jpg" for i in range(3) for folder in ("a", "a/b", "ab")]
    index = HammingIndex.create(tmp_path_factory.mktemp("nested") / "index", bits=8)
    entries = [Entry(name, ("sea",) if "/b/" in name else ()) for name in [*names, "top.jpg"]]
    index.add_codes(np.arange(10, dtype=np.uint8)[:, np.newaxis], entries)
    with index, open_client(index) as client:
        yield index, client


def names(answer):
    assert answer.status_code == 200, answer.text
    return [item["file_name"] for item in answer.json()["items"]]


def test_folders_are_counted_with_those_in_them(nested):
    _, client = nested
    found = client.get("/api/v1/folders").json()["folders"]
    assert [(one["name"], one["items"]) for one in found] == [
        ("", 1),
        ("a", 6),
        ("a/b", 3),
        ("ab", 3),
    ]


@pytest.mark.parametrize("folder", ["", "a", "a/b", "ab", "none", "../a", "a/"])
@pytest.mark.parametrize("label", [None, "sea"])
def test_items_of_a_folder_come_in_pages(nested, folder, label, monkeypatch):
    index, client = nested
    monkeypatch.setattr(folders, "MAX_READ", 2)
    right = [
        item.file_name
        for item in index.store.items()
        if (item.file_name.startswith(f"{folder}/") if folder else "/" not in item.file_name)
        and (label is None or label in item.entry.labels)
    ]
    found, after = [], -1
    while after is not None:
        asked = {"folder": folder, "limit": 2, "after": after} | ({"label": label} if label else {})
        answer = client.get("/api/v1/items", params=asked)
        found += names(answer)
        after = answer.json()["next"]
        assert answer.json()["total"] == (None if label else len(right))
    assert found == ([] if folder == "a/" else right)


def test_folders_follow_the_index(hasher, tmp_path):
    scenes.write(tmp_path / "photos" / "in", count=1, size=64, workers=1)
    with HammingIndex.create(tmp_path / "index", hasher) as index, open_client(index) as client:
        assert client.get("/api/v1/folders").json() == {"folders": []}
        index.add_codes(np.zeros((1, 2), np.uint8), [Entry("in/a.jpg")])
        found = client.get("/api/v1/folders").json()
        assert found == {"folders": [{"name": "in", "items": 1}]}


def test_an_item_is_found_by_the_content_of_its_file(client, index, drawn):
    content = (drawn / index.get(7).file_name).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    asked = client.get("/api/v1/items", params={"sha256": digest})
    assert names(asked) == [index.get(7).file_name]
    assert names(client.get("/api/v1/items", params={"sha256": "0" * 64})) == []
    is_problem(client.get("/api/v1/items", params={"sha256": "x"}), 422, "invalid")


def test_a_file_is_served_as_it_is(client, index, drawn):
    name = index.get(7).file_name
    answer = client.get("/api/v1/items/7/file")
    assert answer.content == (drawn / name).read_bytes()
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["content-disposition"] == f'inline; filename="{name}"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    is_problem(client.get("/api/v1/items/99999/file"), 404)


def test_a_server_may_keep_files_to_itself(index):
    with open_client(index, originals=False) as client:
        assert client.get("/api/v1/index").json()["originals"] is False
        refused = client.get(f"/api/v1/items/{index.store.items()[0].id}/file")
        assert is_problem(refused, 403, "no-originals")
        assert "--originals" in refused.json()["hint"]


def test_files_that_are_gone_or_lead_out_are_not_served(nested, hasher, tmp_path):
    is_problem(nested[1].get("/api/v1/items/0/file"), 404, "no-picture")
    scenes.write(tmp_path / "photos", count=2, size=64, workers=1)
    (tmp_path / "secret.png").write_bytes(b"secret")
    with HammingIndex.create(tmp_path / "index", hasher) as index, open_client(index) as client:
        index.add(ImageSet.read(tmp_path / "photos"), device="cpu")
        (tmp_path / "photos" / index.get(0).file_name).unlink()
        is_problem(client.get("/api/v1/items/0/file"), 410, "gone")
        link = tmp_path / "photos" / index.get(1).file_name
        link.unlink()
        link.symlink_to(tmp_path / "secret.png")
        is_problem(client.get("/api/v1/items/1/file"), 404, "no-picture")
