"""Uploads that mean harm: refused or answered, in bounded memory and time, beside others."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from .hostile_uploads import FORMS, PICTURES
from .samples import encoded, picture
from .served import TOKEN, served, write_served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc"),
]
MB = 1_000_000
MOST_PICTURE_GROWTH = 1_700 * MB  # what decoding may take of memory, in all threads, and a bit
MOST_FORM_GROWTH = 150 * MB
MOST_SECONDS = 10
GOOD = encoded(picture(5), "PNG")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(write_served(tmp_path_factory.mktemp("served"))) as server:
        assert post(server, files={"image": GOOD}).status_code == 200
        yield server


def post(server, path="/api/v1/search", **request):
    return httpx.post(f"{server.url}{path}", timeout=60, **request)


@pytest.fixture
def others(server):
    """Other clients; in the end each of their searches was answered soon."""
    slowest, stop = [0.0], threading.Event()

    def ask():
        with httpx.Client(base_url=server.url, timeout=30) as client:
            while not (slowest[0] and stop.wait(0.05)):
                started = time.monotonic()
                assert client.post("/api/v1/search", data={"code": "00000"}).status_code == 200
                slowest[0] = max(slowest[0], time.monotonic() - started)

    asking = threading.Thread(target=ask)
    asking.start()
    yield
    stop.set()
    asking.join()
    assert 0 < slowest[0] < 5


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_refused_or_answered_in_bounded_memory_and_time(server, others, name):
    data, before, started = PICTURES[name](), server.forget_peak(), time.monotonic()
    answer = post(server, files={"image": ("a.png", data)})
    assert answer.status_code in (200, 422), answer.text
    assert time.monotonic() - started < MOST_SECONDS
    assert server.peak() - before < MOST_PICTURE_GROWTH


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_refused_in_bounded_memory_and_time(server, others, name):
    kind, body = FORMS[name]()
    before, started = server.forget_peak(), time.monotonic()
    headers = {"Content-Type": kind, "Authorization": f"Bearer {TOKEN}"}
    for path in ("/api/v1/search", "/api/v1/items"):
        answer = post(server, path, content=body, headers=headers)
        assert 400 <= answer.status_code < 500, answer.text
        assert len(answer.content) < 20_000
    assert time.monotonic() - started < MOST_SECONDS
    assert server.peak() - before < MOST_FORM_GROWTH


def test_all_at_once_leave_the_server_as_it_was(server, others):
    pictures = [make() for make in PICTURES.values()]
    before = server.forget_peak()

    def send(data):
        return post(server, files={"image": ("a.png", data)}).status_code

    with ThreadPoolExecutor(20) as threads:
        statuses = set(threads.map(send, pictures))
    assert statuses <= {200, 422, 503}
    assert server.peak() - before < MOST_PICTURE_GROWTH
    assert post(server, files={"image": GOOD}).status_code == 200
