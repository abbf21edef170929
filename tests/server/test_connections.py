"""Clients that do not keep to HTTP, or keep the server waiting: answered or closed, in bounds."""

import gc
import json
import logging
import socket
import time
from contextlib import ExitStack, contextmanager, suppress

import pytest
from live import impatient, read_answer, serving, start_of_upload

from softhash.server import Limits
from softhash.server.connections import GuardedProtocol

TIGHT = Limits(
    target_bytes=500,
    head_bytes=2_000,
    headers=20,
    head_seconds=0.3,
    idle_seconds=0.2,
    send_seconds=0.3,
    connections=12,
    pipelined=4,
    unsent_bytes=20_000_000,
)
GET = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"
LAST = b"Connection: close\r\n\r\n"
UPLOAD = b"POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def server(index):
    with impatient(), serving(index, limits=TIGHT) as (address, _):
        yield address


@pytest.fixture
def address(server, caplog):
    """The server's address; in the end it answers, and has logged nothing."""
    caplog.set_level(logging.WARNING)
    yield server
    assert send(server, GET + LAST) == (200, "")
    assert not caplog.records


@contextmanager
def connected(address):
    with socket.create_connection(address, timeout=5) as connection:
        yield connection


def send(address, *parts):
    """Send raw bytes; return the status of the response, and its problem's kind."""
    with connected(address) as connection:
        with suppress(OSError):  # it may be closed in the middle
            for part in parts:
                connection.sendall(part)
        return parsed(read_answer(connection))


def parsed(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head:
        return None, ""
    status = int(head.split()[1])
    kind = json.loads(body)["type"].rpartition(":")[2] if b"problem+json" in head else ""
    return status, kind


@pytest.mark.parametrize(
    ("parts", "answer"),
    [
        ((b"GET /?" + b"a" * 600,), (414, "long-address")),
        ((b"GET /?", *[b"a" * 100] * 6), (414, "long-address")),
        ((GET + b"A: " + b"a" * 300_000,), (431, "large-head")),
        ((GET + b"A: ", *[b"a" * 100] * 21), (431, "large-head")),
        ((GET + b"a" * 300_000,), (431, "large-head")),
        ((GET, b"A: b\r\n" * 21), (431, "large-head")),
        ((b"\r\n" * 1_100,), (431, "large-head")),
        ((GET + b"A: b\r\n" * 18 + LAST,), (200, "")),
        ((GET + b"A: " + b"a" * 1_900 + b"\r\n" + LAST,), (200, "")),
    ],
)
def test_heads_are_bounded(address, parts, answer):
    assert send(address, *parts) == answer


CHUNKED = UPLOAD + (
    b"Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n"
)


@pytest.mark.parametrize(
    "tail",
    [b"0\r\nA: " + b"a" * 300_000, b"0\r\n" + b"A: b\r\n" * 21, b"1;" + b"a" * 300_000],
    ids=["long trailer", "many trailers", "long extension"],
)
def test_what_comes_after_a_body_is_bounded(address, tail):
    assert send(address, CHUNKED + b"1\r\nx\r\n", tail) == (431, "large-head")


def test_trailers_are_not_taken_for_headers(address):
    trailed = CHUNKED + b"8\r\ncode=abc\r\n0\r\nHost: other\r\n\r\n"
    answer = send(address, trailed.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
    assert answer == (200, "")


@pytest.mark.parametrize(
    "bad",
    [
        b"GET /\r\n\r\n",  # HTTP/0.9
        b"nonsense\r\n\r\n",
        b"\0" * 100,
        GET + b"A: b\0c\r\n\r\n",
        GET + b"A\0: b\r\n\r\n",
        GET + b" folded: b\r\n\r\n",
        GET + b"Host: other\r\n\r\n",
        UPLOAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        UPLOAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        UPLOAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        UPLOAD + b"Content-Length: -1\r\n\r\n",
        UPLOAD + b"Content-Length: 99999999999999999999999\r\n\r\n",
        CHUNKED + b"zz\r\n\r\n",
        CHUNKED + b"-1\r\nx\r\n",
        CHUNKED + b"fffffffffffffffffff\r\nx",
        CHUNKED + b"1\r\nxx\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
    ],
)
def test_what_is_not_http_is_refused(address, bad):
    assert send(address, bad) == (400, "malformed")


def test_a_huge_length_is_refused_by_its_announcement(address):
    assert send(address, UPLOAD + b"Content-Length: 9999999999999\r\n\r\n") == (413, "too-large")


@pytest.mark.parametrize("protocol", [b"websocket", b"h2c"])
def test_an_upgrade_is_answered_as_if_it_were_not_asked_for(address, protocol):
    upgrade = b"Connection: Upgrade\r\nUpgrade: " + protocol + b"\r\nSec-WebSocket-Key: a\r\n\r\n"
    assert send(address, GET + upgrade) == (200, "")


@pytest.mark.parametrize("start", [b"G", GET, b"\r\n"])
def test_a_slow_head_is_given_up(address, start):
    with connected(address) as connection:
        started = time.monotonic()
        connection.sendall(start)
        assert parsed(read_answer(connection)) == (408, "slow-head")
    assert 0.2 < time.monotonic() - started < 2


@pytest.mark.parametrize("first", [b"", GET + b"\r\n"], ids=["silent", "idle"])
def test_a_connection_without_requests_is_closed(address, first):
    with connected(address) as connection:
        connection.sendall(first)
        assert read_answer(connection).startswith(b"HTTP/1.1 200" if first else b"")


def test_line_breaks_do_not_keep_a_connection_open(address):
    with connected(address) as connection:
        connection.sendall(GET + b"\r\n")
        started = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - started < 9:
                connection.sendall(b"\r\n")
                time.sleep(0.05)
    assert time.monotonic() - started < 5


def test_some_requests_may_be_sent_ahead_and_more_close_the_connection(address):
    with connected(address) as connection:
        connection.sendall((GET + b"\r\n") * 3 + GET + LAST)
        assert read_answer(connection).count(b"HTTP/1.1 200") == 4
    with connected(address) as connection:
        connection.sendall((GET + b"\r\n") * 200)
        with suppress(ConnectionResetError):
            assert read_answer(connection).count(b"HTTP/1.1") < 10


def test_half_open_connections_make_room_for_others(address):
    with ExitStack() as stack:
        slow = [stack.enter_context(connected(address)) for _ in range(TIGHT.connections * 3)]
        for connection in slow[-TIGHT.connections :]:
            connection.sendall(GET)
        for _ in range(3):
            assert send(address, GET + LAST) == (200, "")


def test_slow_bodies_make_room_for_others(address):
    with ExitStack() as stack:
        for _ in range(TIGHT.connections):
            stack.enter_context(connected(address)).sendall(start_of_upload(200_000))
        assert send(address, GET + LAST) == (200, "")


@pytest.mark.parametrize(
    "data",
    [b"GET /?" + b"a" * 600, GET + b"A: b\r\n" * 21, GET + LAST, (GET + b"\r\n") * 50, CHUNKED],
    ids=["address", "headers", "answered", "pipelined", "left"],
)
def test_a_connection_leaves_nothing_to_the_garbage_collector(address, data):
    """A flood would leave more than the collector sees, for long strings count as one object."""
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            with connected(address) as connection, suppress(OSError):
                connection.sendall(data)
        time.sleep(0.25)
        left = [one for one in gc.get_objects() if type(one) is GuardedProtocol]
        assert not [one for one in left if one not in one.connections]
    finally:
        gc.enable()


def test_a_client_that_does_not_read_is_given_up(address, monkeypatch):
    """The body is larger than what the kernel takes; the client reads nothing of it."""
    from softhash.server.prometheus import ServerMetrics

    monkeypatch.setattr(ServerMetrics, "text", lambda self, items: bytes(15_000_000))
    with connected(address) as connection:
        connection.sendall(GET.replace(b"api/v1/health", b"metrics") + b"\r\n")
        time.sleep(0.5)
        assert len(read_answer(connection)) < 15_000_000


def test_unread_responses_are_bounded_in_all(address, monkeypatch):
    """Each would be waited for, but there is room for one."""
    from softhash.server.prometheus import ServerMetrics

    monkeypatch.setattr(ServerMetrics, "text", lambda self, items: bytes(15_000_000))
    ask = GET.replace(b"api/v1/health", b"metrics") + LAST
    with connected(address) as first, connected(address) as second:
        first.sendall(ask)
        time.sleep(0.05)
        second.sendall(ask)
        assert len(read_answer(second)) > 15_000_000
        assert len(read_answer(first)) < 15_000_000
