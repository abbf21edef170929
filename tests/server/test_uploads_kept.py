"""What a server confirmed is still there after the next ``softhash index``."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from live import serving
from serving import TOKEN, is_problem, jpeg, open_client

from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex
from softhash.index.local import _identity


def _post(client, name, data, **fields):
    answer = client.post(
        "/api/v1/items",
        files={"image": ("x.jpg", data)},
        data={"file_name": name, **fields},
        headers={"Authorization": f"Bearer {TOKEN}"},
    )
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


@pytest.mark.parametrize("table", [True, False])
def test_an_update_keeps_what_was_uploaded(writer, writable, table):
    if not table:
        (writable.root / "metadata.csv").unlink()
    writable.update(ImageSet.read(writable.root))
    id = _post(writer, "new.jpg", jpeg(), label=["leaf", "green"])
    summary = writable.update(ImageSet.read(writable.root))
    assert (summary.kept, summary.unchanged, summary.removed) == (1, 7, 0)
    assert writer.get(f"/api/v1/items/{id}").json()["labels"] == ["leaf", "green"]


@pytest.mark.slow
def test_the_command_keeps_what_a_server_confirmed_until_it_is_let_go(writable):
    root, place = writable.root, writable.store.location
    with serving(writable, writable=True, token=TOKEN) as (_, client):
        id = _post(client, "new.jpg", jpeg(), label=["leaf"])
    writable.close()

    def index(*options):
        images = [root / "metadata.csv", "-o", place, "--device", "cpu", *options]
        command = [sys.executable, "-m", "softhash", "index", *images]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done

    line = f"{place}: 7 items; nothing changed; 1 uploaded item kept, --drop-uploads lets it go\n"
    assert index().stderr == line
    with HammingIndex.open(place) as opened:
        assert opened.get(id).entry.labels == ("leaf",)
    found = json.loads(index("--drop-uploads", "--json").stdout)
    assert (found["kept"], found["removed"], found["items"]) == (0, 1, 6)
    assert (root / "new.jpg").exists()


@pytest.mark.parametrize("anew", [False, True])
def test_a_server_whose_index_was_deleted_says_so_and_confirms_nothing(
    writer, writable, monkeypatch, anew
):
    monkeypatch.setattr(_identity, "EVERY_SECONDS", 0.0)
    place, root, hasher = writable.store.location, writable.root, writable.hasher
    shutil.rmtree(place)
    if anew:
        with HammingIndex.create(place, hasher) as other:
            other.add(ImageSet.read(root), device="cpu")
            other.remove(3)
    form = {"file_name": "new.jpg"}
    code = np.zeros(2, np.uint8).tobytes().hex()
    for answer in (
        writer.post("/api/v1/items", files={"image": jpeg()}, data=form),
        writer.delete("/api/v1/items/0"),
        writer.post("/api/v1/search", data={"code": code}),
        writer.post("/api/v1/search", files={"image": jpeg()}),
        writer.get("/api/v1/items/0"),
        writer.get("/api/v1/items/0/image"),
        writer.get("/api/v1/items"),
        writer.get("/api/v1/index"),
        writer.get("/api/v1/health"),
        writer.get("/api/v1/report"),
        writer.get("/metrics"),
    ):
        told = is_problem(answer, 503, "away")
        assert "was deleted or replaced" in told["detail"]
        assert "restart" in told["hint"]
    assert not (root / "new.jpg").exists()
    if anew:
        with HammingIndex.open(place) as opened, open_client(opened) as client:
            assert client.get("/api/v1/health").json()["items"] == 5
