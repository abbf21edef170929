"""Several files at once, as a zip."""

import io
import zipfile
from pathlib import Path

import pytest
from serving import is_problem, open_client

from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex
from softhash.server.archive import CHUNK, Member, zip_files


def test_an_archive_holds_the_files_as_they_are_in_pieces_of_bounded_size(tmp_path):
    contents = {"a/é.jpg": b"x" * (3 * CHUNK + 1), "empty.jpg": b"", "b.png": b"\x00\x01"}
    members = []
    for number, (name, content) in enumerate(contents.items()):
        (tmp_path / str(number)).write_bytes(content)
        members.append(Member(name, tmp_path / str(number)))
    members.insert(1, Member("gone.jpg", tmp_path / "gone"))
    pieces = list(zip_files(members))
    assert max(map(len, pieces)) < 2 * CHUNK
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        assert archive.testzip() is None
        assert {one: archive.read(one) for one in archive.namelist()} == contents


@pytest.fixture(scope="module")
def pictures(tmp_path_factory, tiny_model):
    from softhash import Hasher

    folder = tmp_path_factory.mktemp("archive")
    scenes.write(folder / "photos", count=3, size=32, workers=1)
    images = ImageSet.read(folder / "photos")
    with HammingIndex.create(folder / "index", Hasher.load(tiny_model)) as index:
        index.add(images)
        yield images, index


def test_a_client_gets_the_files_of_items(pictures):
    images, index = pictures
    with open_client(index) as client:
        answer = client.get("/api/v1/archive", params={"id": [2, 0, 2]})
        assert answer.headers["content-type"] == "application/zip"
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            assert archive.namelist() == [images.file_names[2], images.file_names[0]]
            assert archive.read(images.file_names[0]) == Path(images.path(0)).read_bytes()


@pytest.mark.parametrize(
    ("asked", "status"), [([7], 404), ([], 422), ([-1], 422), (list(range(501)), 422)]
)
def test_other_items_are_refused(pictures, asked, status):
    with open_client(pictures[1]) as client:
        is_problem(client.get("/api/v1/archive", params={"id": asked}), status)


def test_a_server_that_sends_no_files_sends_no_archives(pictures):
    with open_client(pictures[1], originals=False) as client:
        is_problem(client.get("/api/v1/archive", params={"id": [0]}), 403, "no-originals")
