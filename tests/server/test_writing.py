"""Adding and removing over HTTP: by token alone, under safe names, never overwriting."""

import numpy as np
import pytest
from serving import TOKEN, is_problem, jpeg, open_client

from softhash.errors import UsageError
from softhash.index import Entry, HammingIndex
from softhash.server import create_app


def post(client, name="new.jpg", data=None, **fields):
    picture = jpeg() if data is None else data
    return client.post(
        "/api/v1/items", files={"image": ("x.jpg", picture)}, data={"file_name": name, **fields}
    )


def test_what_is_added_is_found_and_what_is_removed_is_not(writer, writable, hasher):
    picture = jpeg(colour=(1, 250, 3))
    answer = post(writer, data=picture, label=["leaf", "green", "leaf"])
    assert answer.status_code == 201, answer.text
    item = answer.json()
    assert (item["file_name"], item["labels"]) == ("new.jpg", ["leaf", "green"])
    assert item["code"] == hasher.encode(picture, device="cpu")[0].tobytes().hex()
    assert (writable.root / "new.jpg").read_bytes() == picture
    assert writer.get(f"/api/v1/items/{item['id']}").json() == item
    assert writer.get("/api/v1/index").json()["labels"]["green"] == 1
    answer = writer.post("/api/v1/search", files={"image": picture}, data={"k": 1}).json()
    assert answer["hits"][0]["id"] == item["id"]
    assert answer["hits"][0]["distance"] == 0
    assert answer["query"]["labels"] == ["leaf", "green"]
    assert writer.get(item["image"]).status_code == 200

    assert writer.delete(f"/api/v1/items/{item['id']}").status_code == 204
    is_problem(writer.get(f"/api/v1/items/{item['id']}"), 404, "unknown-item")
    is_problem(writer.delete(f"/api/v1/items/{item['id']}"), 404, "unknown-item")
    hits = writer.post("/api/v1/search", files={"image": picture}).json()["hits"]
    assert item["id"] not in [hit["id"] for hit in hits]
    assert (writable.root / "new.jpg").exists()  # the file stays
    assert "green" not in writer.get("/api/v1/index").json()["labels"]


def test_nothing_is_overwritten(writer, writable):
    taken = writable.get(0).entry.file_name
    before = (writable.root / taken).read_bytes()
    is_problem(post(writer, taken), 409, "name-taken")
    (writable.root / "beside.jpg").write_bytes(b"not in the index")
    is_problem(post(writer, "beside.jpg"), 409, "name-taken")
    (writable.root / "dangling.jpg").symlink_to(writable.root / "target.jpg")
    is_problem(post(writer, "dangling.jpg"), 409, "name-taken")
    assert (writable.root / taken).read_bytes() == before
    assert (writable.root / "beside.jpg").read_bytes() == b"not in the index"
    assert not (writable.root / "target.jpg").exists()
    assert len(writable) == 6
    assert not list(writable.root.glob(".upload-*"))


@pytest.mark.parametrize(
    "name",
    [
        "../out.jpg",
        "/etc/out.jpg",
        "..\\out.jpg",
        "a/b.jpg",
        "C:out.jpg",
        "nul\0.jpg",
        "line\nbreak.jpg",
        "right\u202eto-left.jpg",
        ".hidden.jpg",
        "..",
        " ",
        " space.jpg",
        "é" * 99 + ".jpg",
        "x" * 300 + ".jpg",
        "page.html",
        "script.jpg.php",
        "no-suffix",
    ],
)
def test_names_that_are_more_than_a_name_are_refused(writer, writable, name):
    before = sorted(path.name for path in writable.root.parent.rglob("*"))
    is_problem(post(writer, name), 422)
    assert sorted(path.name for path in writable.root.parent.rglob("*")) == before
    assert writer.get("/api/v1/health").json()["items"] == 6


def test_names_in_any_script_are_kept(writer, writable):
    name = "Straße 東京 €.jpeg"
    assert post(writer, name).json()["file_name"] == name
    assert (writable.root / name).exists()


def test_what_is_no_picture_never_comes_to_the_disk(writer, writable):
    before = sorted(writable.root.iterdir())
    is_problem(post(writer, data=b"<html><script>alert(1)</script></html>"), 422, "no-picture")
    is_problem(post(writer, data=jpeg()[:200]), 422, "no-picture")
    is_problem(writer.post("/api/v1/items", data={"file_name": "a.jpg"}), 422)
    assert sorted(writable.root.iterdir()) == before


def test_a_file_that_could_not_be_added_does_not_stay(writer, writable, monkeypatch):
    def broken(codes, entries):
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(writable.store, "add", broken)
    told = is_problem(post(writer), 500, "defect")
    assert "disk" not in str(told)  # what went wrong inside is for the log
    assert not (writable.root / "new.jpg").exists()
    assert writer.get("/api/v1/health").status_code == 200


def test_without_writable_nothing_is_written(client, index):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    told = is_problem(client.delete("/api/v1/items/1", headers=headers), 403, "read-only")
    assert "--writable" in told["hint"]
    is_problem(client.post("/api/v1/items", files={"image": jpeg()}), 403, "read-only")
    assert len(index) == 40


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer é"]
)
def test_a_wrong_token_is_refused(writable, header):
    with open_client(writable, writable=True, token=TOKEN) as client:
        headers = {} if header is None else {"Authorization": header.encode("latin-1")}
        answer = client.delete("/api/v1/items/1", headers=headers)
        is_problem(answer, 401, "token")
        assert answer.headers["www-authenticate"].startswith("Bearer")
        is_problem(client.post("/api/v1/items", headers=headers, files={"image": jpeg()}), 401)
    assert len(writable) == 6


def test_a_writable_server_needs_a_token(index):
    with pytest.raises(UsageError, match="token"):
        create_app(index, writable=True)


def test_an_index_without_a_folder_takes_no_pictures(hasher, tmp_path):
    codes = HammingIndex.create(tmp_path / "index", hasher)
    codes.add_codes(np.zeros((1, 2), np.uint8), [Entry("one")])
    with open_client(codes, writable=True, token=TOKEN) as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        is_problem(post(client), 409, "no-root")
