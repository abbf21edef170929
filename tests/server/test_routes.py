"""Every route, answered as the index itself answers."""

import io
import re

import numpy as np
import pytest
from PIL import Image
from serving import is_problem, jpeg, open_client

from softhash.data.image_set import ImageSet
from softhash.index import Entry, HammingIndex


def views(hits):
    return [(hit["id"], hit["distance"], hit["labels"], hit["shared"]) for hit in hits]


def expected(hits):
    return [(hit.id, hit.distance, list(hit.labels), list(hit.shared)) for hit in hits]


def test_health_and_index_describe_what_is_served(client, index, hasher):
    assert client.get("/api/v1/health").json() == {"status": "ok", "items": 40}
    about = client.get("/api/v1/index").json()
    assert (about["items"], about["bits"], about["model"]) == (40, 12, hasher.identity)
    assert (about["root"], about["classes"]) == ("photos", ["sea", "sky"])
    assert about["labels"] == index.store.labels()
    assert about["labels"]
    assert (about["writable"], about["encodes"]) == (False, True)
    assert about["limits"]["widths"] == [160, 320, 640, 1280]


def test_items_come_in_pages_in_id_order(client, index):
    seen, after = [], -1
    while after is not None:
        page = client.get("/api/v1/items", params={"limit": 15, "after": after}).json()
        seen += page["items"]
        after = page["next"]
    assert [one["id"] for one in seen] == list(range(40))
    assert seen[3] == client.get("/api/v1/items/3").json()
    item = index.get(3)
    assert (seen[3]["file_name"], seen[3]["code"]) == (item.entry.file_name, item.code.hex())


def test_items_are_filtered_by_labels(client, index):
    wanted, unwanted = "tree", "house"
    answer = client.get("/api/v1/items", params={"label": wanted, "not_label": unwanted}).json()
    found = [one["id"] for one in answer["items"]]
    right = [
        i
        for i, entry in index.store.scan()
        if wanted in entry.labels and unwanted not in entry.labels
    ]
    assert found == right
    assert 0 < len(found) < 40
    assert client.get("/api/v1/items", params={"label": "no such"}).json()["items"] == []


def test_label_logic_filters_items_and_searches(client, index):
    logic = "tree & !(house | car) | moon"
    right = [
        id
        for id, entry in index.store.scan()
        if ("tree" in entry.labels and not {"house", "car"} & set(entry.labels))
        or "moon" in entry.labels
    ]
    page = client.get("/api/v1/items", params={"where": logic, "limit": 3}).json()
    assert [one["id"] for one in page["items"]] == right[:3]
    assert (page["total"], page["next"]) == (len(right), right[2])
    ranked = client.get("/api/v1/items/5/similar", params={"where": logic, "k": 40}).json()
    assert {hit["id"] for hit in ranked["hits"]} == set(right) - {5}
    assert ranked["query"]["where"] == logic
    assert "total" not in ranked
    by_code = client.post("/api/v1/search", data={"code": "abc", "where": logic, "k": 40}).json()
    assert {hit["id"] for hit in by_code["hits"]} == set(right)


def test_labels_alone_are_a_search(client, index):
    data = {"label": "tree", "where": "!house", "k": 2, "offset": 1}
    answer = client.post("/api/v1/search", data=data).json()
    right = index.search(where="tree & !house", k=2, offset=1)
    assert views(answer["hits"]) == expected(right)
    assert (answer["total"], answer["query"]["code"]) == (right.total, "")
    assert answer["query"]["where"] == "!house & tree"


@pytest.mark.parametrize("path", ["/api/v1/items", "/api/v1/items/5/similar"])
def test_logic_that_cannot_be_read_is_a_problem_with_its_place(client, path):
    told = is_problem(client.get(path, params={"where": "sky & & sun"}), 422, "invalid")
    assert told["detail"] == "a label is missing before '&' at character 7 of 'sky & & sun'"
    told = is_problem(client.get(path, params={"where": "sky & !tre"}), 422, "invalid")
    assert "did you mean 'tree'?" in told["hint"]
    is_problem(client.get(path, params={"where": ""}), 422, "invalid")
    is_problem(client.get(path, params={"where": "(" * 3_000}), 422, "invalid")


def test_similar_leaves_the_item_itself_out(client, index):
    options = {"k": 7, "offset": 2, "max_distance": 6, "label": ["tree", "sun"], "not_label": "car"}
    answer = client.get("/api/v1/items/5/similar", params=options).json()
    right = index.search(
        id=5, k=7, offset=2, max_distance=6, labels=["tree", "sun"], not_labels=["car"]
    )
    assert views(answer["hits"]) == expected(right)
    assert answer["hits"]
    assert answer["query"]["labels"] == list(index.get(5).entry.labels)
    assert answer["query"]["code"] == index.get(5).code.hex()
    assert answer["took_ms"] > 0


def test_search_by_id_code_and_picture_agree_with_the_index(client, index, drawn):
    by_id = client.post("/api/v1/search", data={"id": 5, "k": 4}).json()
    assert views(by_id["hits"]) == expected(index.search(id=5, k=4))
    code = index.get(9).code.hex()
    by_code = client.post("/api/v1/search", data={"code": code, "k": 5, "label": "tree"}).json()
    assert views(by_code["hits"]) == expected(index.search(code=code, k=5, labels=["tree"]))
    assert by_code["query"]["labels"] == []
    path = drawn / index.get(9).entry.file_name
    files = {"image": ("a.png", path.read_bytes())}
    by_picture = client.post("/api/v1/search", files=files, data={"k": 5}).json()
    assert views(by_picture["hits"]) == expected(index.search(path, k=5))
    assert by_picture["query"]["labels"] == list(index.get(9).entry.labels)
    assert by_picture["query"]["code"] == code
    for hit in by_picture["hits"]:
        assert hit["code"] == index.get(hit["id"]).code.hex()
        assert hit["image"] == f"/api/v1/items/{hit['id']}/image"


def test_a_picture_is_rescored_where_that_is_asked_for(client, index, drawn):
    path = drawn / index.get(9).entry.file_name
    files = {"image": ("a.png", path.read_bytes())}
    pages = [
        client.post("/api/v1/search", files=files, data={"k": 20, "offset": i, "rescore": "true"})
        for i in (0, 20)
    ]
    hits = [hit for page in pages for hit in page.json()["hits"]]
    right = index.search(path, k=40, rescore=True)
    assert views(hits) == expected(right)
    assert [hit["rescored"] for hit in hits] == [hit.rescored for hit in right]
    plain = client.post("/api/v1/search", files=files, data={"k": 40, "rescore": "false"})
    assert views(plain.json()["hits"]) == expected(index.search(path, k=40)) != views(hits)
    assert not any("rescored" in hit for hit in plain.json()["hits"])


@pytest.mark.parametrize("query", [{}, {"id": 1, "code": "abc"}])
def test_a_search_is_for_exactly_one_thing(client, query):
    told = is_problem(client.post("/api/v1/search", data=query), 422, "invalid")
    fields = "image, id, code and words"
    assert told["hint"] == f"send exactly one of the fields {fields}, or labels alone"
    files = {"image": jpeg()}
    twice = client.post("/api/v1/search", files=files, data={"id": 1})
    assert is_problem(twice, 422, "invalid")["detail"] == "2 things to search for"


def test_an_unknown_label_is_a_problem_that_names_a_known_one(client):
    for filter in ("label", "not_label"):
        answer = client.get("/api/v1/items/5/similar", params={filter: "tre"})
        assert "did you mean 'tree'?" in is_problem(answer, 422, "invalid")["hint"]


@pytest.mark.parametrize("query", [{"id": 3}, {"code": "abc"}])
def test_what_has_no_outputs_is_not_rescored(client, query):
    told = is_problem(
        client.post("/api/v1/search", data={**query, "rescore": "true"}), 422, "invalid"
    )
    assert "no real-valued outputs" in told["detail"]
    assert "send the picture itself" in told["hint"]
    assert client.post("/api/v1/search", data={**query, "rescore": "false"}).status_code == 200


def test_encode_gives_the_hashers_code(client, hasher):
    picture = jpeg(333, 222)
    answer = client.post("/api/v1/encode", files={"image": picture}).json()
    right = hasher.encode(picture, device="cpu")[0].tobytes().hex()
    assert answer == {"code": right, "bits": 12, "model": hasher.identity}


def test_a_code_of_another_model_is_refused(client, hasher):
    data = {"code": "abc", "model": hasher.identity.upper()}
    assert client.post("/api/v1/search", data=data).status_code == 200
    told = is_problem(
        client.post("/api/v1/search", data={**data, "model": "0" * 64}), 409, "other-model"
    )
    assert "/api/v1/encode" in told["hint"]


@pytest.mark.parametrize("width", [160, 320, 640])
def test_images_are_small_jpegs(client, width):
    answer = client.get("/api/v1/items/2/image", params={"width": width})
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.headers["x-content-type-options"] == "nosniff"
    picture = Image.open(io.BytesIO(answer.content))
    assert (picture.format, picture.size) == ("JPEG", (96, 96))  # never larger than the file


def test_images_are_kept_and_validated_by_tag(writer, writable):
    file = writable.root / writable.get(0).entry.file_name
    Image.new("RGB", (600, 300), "red").save(file)
    first = writer.get("/api/v1/items/0/image?width=160")
    assert Image.open(io.BytesIO(first.content)).size == (160, 80)
    tag = first.headers["etag"]
    assert "max-age" in first.headers["cache-control"]
    again = writer.get("/api/v1/items/0/image?width=160", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert writer.get("/api/v1/items/0/image?width=160").content == first.content
    Image.new("RGB", (300, 600), "blue").save(file)
    changed = writer.get("/api/v1/items/0/image?width=160", headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert Image.open(io.BytesIO(changed.content)).size == (160, 320)


def test_images_that_went_away_or_broke_are_problems(writer, writable):
    paths = [writable.root / writable.get(i).entry.file_name for i in range(3)]
    paths[0].unlink()
    is_problem(writer.get("/api/v1/items/0/image"), 410, "gone")
    paths[1].write_bytes(b"no picture")
    is_problem(writer.get("/api/v1/items/1/image"), 404, "broken-picture")
    paths[2].unlink()
    paths[2].symlink_to("/etc/hostname")
    is_problem(writer.get("/api/v1/items/2/image"), 404, "no-picture")
    is_problem(writer.get("/api/v1/items/99/image"), 404, "unknown-item")


@pytest.mark.parametrize(
    ("method", "path", "options", "status"),
    [
        ("GET", "/api/v1/items/1000", {}, 404),
        ("GET", "/api/v1/items/-1", {}, 422),
        ("GET", f"/api/v1/items/{2**70}", {}, 422),
        ("GET", "/api/v1/items/one", {}, 422),
        ("GET", "/api/v1/items/1000/similar", {}, 404),
        ("GET", "/api/v1/items/1/similar?k=0", {}, 422),
        ("GET", "/api/v1/items/1/similar?k=1000000000", {}, 422),
        ("GET", "/api/v1/items/1/similar?offset=-1", {}, 422),
        ("GET", "/api/v1/items/1/similar?max_distance=-1", {}, 422),
        ("GET", "/api/v1/items/1/similar?distance=1", {}, 422),
        ("GET", "/api/v1/items/1/image?width=17", {}, 422),
        ("GET", "/api/v1/items?limit=501", {}, 422),
        ("GET", "/api/v1/items?after=-2", {}, 422),
        ("GET", "/api/v1/items?label=" + "x" * 201, {}, 422),
        ("GET", "/api/v1/items?" + "&".join(["label=x"] * 51), {}, 422),
        ("POST", "/api/v1/search", {}, 422),
        ("POST", "/api/v1/search", {"data": {"id": 1, "code": "abc"}}, 422),
        ("POST", "/api/v1/search", {"data": {"id": 1000}}, 404),
        ("POST", "/api/v1/search", {"data": {"code": "xyz"}}, 422),
        ("POST", "/api/v1/search", {"data": {"code": "abcdef"}}, 422),
        ("POST", "/api/v1/search", {"data": {"code": "abcd"}}, 422),
        ("POST", "/api/v1/search", {"data": {"image": "no file"}}, 422),
        ("POST", "/api/v1/search", {"data": {"code": "abc", "rescore": "perhaps"}}, 422),
        ("GET", "/api/v1/items/1/similar?rescore=true", {}, 422),
        ("POST", "/api/v1/search", {"json": {"code": "abc"}}, 422),
        ("POST", "/api/v1/encode", {"files": {"image": b""}}, 422),
        ("POST", "/api/v1/encode", {"files": {"image": b"<html></html>"}}, 422),
        ("GET", "/api/v1/no-such", {}, 404),
        ("GET", "/no-such.js", {}, 404),
        ("GET", "/..%2f..%2fapp.py", {}, 404),
        ("PUT", "/api/v1/items/1", {}, 405),
        ("DELETE", "/api/v1/index", {}, 405),
    ],
)
def test_mistakes_are_problems(client, method, path, options, status):
    told = is_problem(client.request(method, path, **options), status)
    assert told["detail"]
    assert client.get("/api/v1/health").status_code == 200


def test_a_wrong_method_names_the_right_ones(client):
    assert client.put("/api/v1/items/1").headers["allow"] == "DELETE, GET"


def test_validation_names_the_field(client):
    told = is_problem(client.get("/api/v1/items?limit=0"), 422, "invalid")
    assert told["errors"][0]["field"] == "limit"
    assert "limit" in told["detail"]


def test_an_index_of_codes_alone_is_searched_by_code(hasher, tmp_path):
    codes = HammingIndex.create(tmp_path / "index", bits=12)
    codes.add_codes(hasher.encode([jpeg()], device="cpu"), [Entry("one", ("sky",))])
    with open_client(codes) as client:
        about = client.get("/api/v1/index").json()
        assert (about["encodes"], about["root"], about["model"]) == (False, "", "")
        hits = client.post("/api/v1/search", data={"code": "000"}).json()["hits"]
        assert [(hit["id"], hit["image"]) for hit in hits] == [(0, None)]
        is_problem(client.post("/api/v1/encode", files={"image": jpeg()}), 409, "no-model")
        is_problem(client.get("/api/v1/items/0/image"), 404, "no-picture")


def test_an_empty_index_is_served(hasher, tmp_path):
    empty = HammingIndex.create(tmp_path / "index", hasher)
    with open_client(empty) as client:
        assert client.get("/api/v1/items").json() == {"items": [], "next": None, "total": 0}
        assert client.post("/api/v1/search", data={"code": "fff"}).json()["hits"] == []
        is_problem(client.get("/api/v1/report"), 422, "no-labels")


def test_metrics_count_requests_by_route(index):
    from prometheus_client.parser import text_string_to_metric_families

    with open_client(index) as client:
        for id in (1, 2, 1000):
            client.get(f"/api/v1/items/{id}")
        client.get("/nowhere")
        client.request("BREW", "/api/v1/health")
        client.post("/api/v1/encode", files={"image": jpeg()})
        text = client.get("/metrics").text
    samples = {
        (one.name, *sorted(one.labels.values())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }
    count = "softhash_requests_total"
    assert samples[count, "/api/v1/items/{id}", "200", "GET"] == 2
    assert samples[count, "/api/v1/items/{id}", "404", "GET"] == 1
    assert samples["softhash_items",] == 40
    assert samples["softhash_encode_seconds_count",] == 1
    assert samples["softhash_request_seconds_count", "/api/v1/items/{id}"] == 3
    assert "nowhere" not in text
    assert "BREW" not in text


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_photo_is_its_own_first_hit(hasher, tmp_path, orientation):
    photos = tmp_path / "photos"
    photos.mkdir()
    pixels = np.random.default_rng(0).integers(0, 256, (6, 40, 50, 3), np.uint8)
    for number, noise in enumerate(pixels):
        noise[:20] //= 4  # dark above, or to the left where it is turned
        photo, exif = Image.fromarray(noise), Image.Exif()
        exif[0x0112] = orientation
        photo.save(photos / f"{number}.jpg", exif=exif)
    with HammingIndex.create(tmp_path / "index", hasher) as index, open_client(index) as client:
        index.add(ImageSet.read(photos), device="cpu")
        for item in index.store.items():
            data = (photos / item.entry.file_name).read_bytes()
            answer = client.post("/api/v1/search", files={"image": data}, data={"k": 1}).json()
            assert answer["query"]["code"] == item.code.hex()
            assert answer["hits"][0]["distance"] == 0


def test_the_reference_is_found_with_and_without_a_slash(client):
    for address in ("/docs", "/docs/"):
        page = client.get(address)
        assert page.status_code == 200, address
        assert page.url.path == "/docs/"  # what its links are relative to
        assert "softhash API" in page.text


def test_pages_load_nothing_from_elsewhere(client):
    page = client.get("/docs/")
    assert page.headers["content-security-policy"].startswith(
        "default-src 'self'; img-src 'self' blob: data:"
    )
    script = client.get("/docs/reference.js")
    assert "javascript" in script.headers["content-type"]
    for text in (page.text, script.text, client.get("/docs/reference.css").text):
        assert not re.search(r"(https?:)?//[a-z]", re.sub(r"^\s*//.*", "", text, flags=re.M))
        assert "<script>" not in text
    assert client.get("/openapi.json").json()["info"]["title"] == "softhash"
