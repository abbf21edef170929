"""Duplicates behind HTTP: found in the background, paged, and kept until the index changes."""

import threading
import time

import numpy as np
import pytest
from serving import TOKEN, is_problem, open_client

from softhash.data.image_set import ImageSet
from softhash.errors import InputError
from softhash.index import Entry, HammingIndex
from softhash.index.duplicates import Duplicates
from softhash.server import duplicates as finder
from softhash.server.duplicates import DuplicateFinder

URL = "/api/v1/duplicates"


def ask(client, **parameters):
    """Ask until the server has looked."""
    for _ in range(200):
        answer = client.get(URL, params=parameters)
        assert answer.status_code == 200, answer.text
        if answer.json()["looking"] is None:
            return answer.json()
        time.sleep(0.02)
    raise AssertionError("it still looks")


@pytest.fixture
def copied(writable):
    """The writable index, with a copy each of two of its six pictures."""
    names = sorted(entry.file_name for _, entry in writable.store.scan())
    for name in names[:2]:
        (writable.root / f"copy-{name}").write_bytes((writable.root / name).read_bytes())
    writable.update(ImageSet.read(writable.root), device="cpu")
    return writable


def test_groups_come_in_pages_without_the_places_of_files(copied):
    with open_client(copied) as client:
        found = ask(client, limit=1)
        assert (found["total"], found["copies"], found["next"]) == (2, 2, 1)
        rest = ask(client, limit=1, offset=1)
        assert rest["next"] is None
        for page in (found, rest):
            [group] = page["groups"]
            assert group["size"] == 2
            first, copy = group["copies"]
            assert (first["kind"], copy["kind"]) == ("first", "identical")
            assert client.get(copy["image"]).status_code == 200
            assert str(copied.root) not in str(page)
        assert ask(client, offset=50)["groups"] == []


def test_the_server_looks_once_for_each_version_of_the_index(copied, monkeypatch):
    looked = []
    real = finder.find_duplicates
    monkeypatch.setattr(
        finder, "find_duplicates", lambda *a, **o: looked.append(1) or real(*a, **o)
    )
    with open_client(copied, writable=True, token=TOKEN) as client:
        for _ in range(3):
            ask(client)
        assert len(looked) == 1
        copied.remove(ask(client)["groups"][0]["copies"][1]["id"])
        assert ask(client)["total"] == 1
        assert len(looked) == 2


def test_a_file_that_is_gone_since_is_no_longer_listed(copied):
    with open_client(copied) as client:
        name = ask(client)["groups"][0]["copies"][1]["file_name"]
        (copied.root / name).unlink()
        assert len(ask(client)["groups"]) == 1


def test_one_thread_looks_however_many_ask(copied, monkeypatch):
    began, go_on = [], threading.Event()

    def look(index, **options):
        began.append(1)
        go_on.wait(10)
        return Duplicates((), (), (), ())

    monkeypatch.setattr(finder, "find_duplicates", look)
    with open_client(copied) as client:
        answers = [client.get(URL).json() for _ in range(5)]
        assert all(answer["looking"] for answer in answers)
        go_on.set()
        assert ask(client)["total"] == 0
    assert len(began) == 1


def test_closing_ends_a_look_that_is_under_way(copied, monkeypatch):
    began = threading.Event()

    def look(index, progress, **options):
        while True:
            began.set()
            progress("looking", 1, 2)
            time.sleep(0.01)

    monkeypatch.setattr(finder, "find_duplicates", look)
    one = DuplicateFinder(copied)
    assert one.get()[0] is None
    assert began.wait(5)
    one.close(5)
    assert not one.busy


def test_a_failure_is_answered_and_not_tried_again_at_once(copied, monkeypatch):
    tried = []

    def fail(index, **options):
        tried.append(1)
        raise InputError(f"not one file is in {index.root}", "is its drive there?")

    monkeypatch.setattr(finder, "find_duplicates", fail)
    with open_client(copied) as client:
        for _ in range(100):
            answer = client.get(URL)
            if answer.status_code != 200:
                break
            time.sleep(0.02)
        assert "the folder" in is_problem(answer, 422)["detail"]
        client.get(URL)
    assert len(tried) == 1


def test_an_index_that_is_too_large_is_not_looked_through(copied, monkeypatch):
    monkeypatch.setattr(finder, "MAX_ITEMS", 3)
    with open_client(copied) as client:
        is_problem(client.get(URL), 422, "too-large")
        is_problem(client.get(URL, params={"limit": 101}), 422)


def test_an_index_of_codes_only_has_no_duplicates_to_look_for(tmp_path):
    with HammingIndex.create(tmp_path / "index", bits=8) as index:
        index.add_codes(np.zeros((2, 1), np.uint8), [Entry("a"), Entry("b")])
        with open_client(index) as client:
            for _ in range(100):
                answer = client.get(URL)
                if answer.status_code != 200:
                    break
                time.sleep(0.02)
            is_problem(answer, 422)
