"""Clients that send without end, or hardly at all: memory stays bounded, others are answered."""

import contextlib
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest

from .served import served, write_served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc"),
]
MB = 1_000_000
GET = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"
CHUNKED = POST + FORM + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n"
MOST_GROWTH = 40 * MB


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(write_served(tmp_path_factory.mktemp("served"))) as server:
        httpx.get(f"{server.url}/api/v1/index")
        yield server


@pytest.fixture
def watched(server):
    """The server; afterwards it has grown little, and answered others quickly all the time."""
    before = server.forget_peak()
    slowest, stop = [0.0], threading.Event()

    def ask():
        with httpx.Client(base_url=server.url, timeout=30) as client:
            while not (slowest[0] and stop.wait(0.05)):
                started = time.monotonic()
                assert client.get("/api/v1/health").status_code == 200
                slowest[0] = max(slowest[0], time.monotonic() - started)

    asking = threading.Thread(target=ask)
    asking.start()
    yield server
    stop.set()
    asking.join()
    assert server.peak() - before < MOST_GROWTH
    assert 0 < slowest[0] < 2
    assert server.process.poll() is None


def flood(server, start, part, most):
    """Send a part again and again, until the server closes; return how many bytes it took."""
    sent = 0
    connection = socket.create_connection(server.address, timeout=20)
    with connection, contextlib.suppress(OSError):
        connection.sendall(start)
        while sent < most:
            connection.sendall(part)
            sent += len(part)
    return sent


@pytest.mark.parametrize(
    ("start", "part"),
    [
        (GET, b"A: " + b"a" * 1_000 + b"\r\n"),
        (GET + b"A: ", b"a" * MB),
        (b"GET /?", b"a" * MB),
        (b"G", b"E" * MB),
        (b"", b"\r\n" * (MB // 2)),
        (CHUNKED + b"0\r\nA: ", b"a" * MB),
        (CHUNKED + b"1;", b"a" * MB),
        (CHUNKED + b"0", b"0" * MB),
    ],
    ids=["headers", "header", "line", "method", "breaks", "trailer", "extension", "chunk size"],
)
def test_a_flood_is_cut_off(watched, start, part):
    assert flood(watched, start, part, 1_000 * MB) < 50 * MB


@pytest.mark.parametrize("part", [GET + b"\r\n", CHUNKED + b"0\r\n\r\n"], ids=["small", "forms"])
def test_requests_sent_ahead_without_end_are_cut_off(watched, part):
    threads = [
        threading.Thread(target=flood, args=(watched, b"", part * 1_000, 20 * MB)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_slow_and_half_open_connections_stop_nobody(watched):
    """A thousand at a time, for longer than a head may take; then none is left."""
    started, files = time.monotonic(), watched.files()
    slow = [socket.create_connection(watched.address, timeout=5) for _ in range(1_000)]
    while time.monotonic() - started < 11:
        for connection in slow:
            with contextlib.suppress(OSError):
                connection.send(b"G")
        assert watched.files() - files < 600
        time.sleep(1)
    for connection in slow:
        connection.close()
    deadline = time.monotonic() + 10
    while watched.files() > files + 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert watched.files() <= files + 5
