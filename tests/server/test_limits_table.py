"""The table of limits in the documentation: complete, right, and each limit is kept."""

import dataclasses
import re
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from live import impatient, read_answer, serving, start_of_upload
from serving import TOKEN, is_problem, jpeg, open_client

from softhash.server import Limits, limits

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serve.md"


def rows():
    """The table as {place: (value, what the client sees)}."""
    lines = PAGE.read_text("utf-8").partition("## Limits")[2].splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    return {place.strip("`"): (value, seen) for _, value, seen, place in cells[2:]}


TABLE = rows()


def sent(place):
    """The statuses that the table has for a limit."""
    return {int(status) for status in re.findall(r"\b[45]\d\d\b", TABLE[place][1])}


def test_the_table_has_every_limit_and_its_value():
    fields = {f"Limits.{field.name}": field.default for field in dataclasses.fields(Limits)}
    constants = {
        f"limits.{name}": getattr(limits, name)
        for name in vars(limits)
        if name.startswith(("MAX_", "MIN_")) and name != "MAX_ID"
    }
    listed = {place for place in TABLE if place != "Starlette"}
    assert listed == set(fields) | set(constants)
    for place, value in (fields | constants).items():
        if value is not None:
            assert TABLE[place][0] == f"{value:,.0f}", place


HEAD = "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"
RAW = {
    "Limits.target_bytes": f"GET /{'a' * 200} HTTP/1.1\r\n",
    "Limits.head_bytes": f"{HEAD}A: {'a' * 1_000}\r\n",
    "Limits.headers": HEAD + 11 * "A: b\r\n",
    "Limits.head_seconds": HEAD,
    "Limits.idle_seconds": f"{HEAD}\r\n",
    "Limits.pipelined": f"{HEAD}\r\n" * 50,
    "Limits.body_bytes": start_of_upload(100_000).decode(),
    "Limits.body_seconds": start_of_upload(9_000).decode(),
    "Limits.bodies_bytes": start_of_upload(9_000).decode() + "a" * 8_000,
}
TIGHT = Limits(
    target_bytes=100,
    head_bytes=500,
    headers=10,
    head_seconds=0.2,
    idle_seconds=0.1,
    pipelined=2,
    body_bytes=10_000,
    body_seconds=0.2,
    bodies_bytes=5_000,
)


@pytest.fixture(scope="module")
def address(index):
    with impatient(), serving(index, limits=TIGHT) as (address, _):
        yield address


@pytest.mark.parametrize("place", RAW)
def test_a_limit_of_connections_is_kept(address, place):
    with socket.create_connection(address, timeout=5) as connection:
        connection.sendall(RAW[place].encode())
        try:
            answer = read_answer(connection).split()
        except ConnectionResetError:
            answer = []
    if expected := sent(place):
        assert int(answer[1]) in expected
    else:
        assert "closed" in TABLE[place][1]


@pytest.mark.parametrize(
    ("place", "request_"),
    [
        ("Limits.pixels", {"files": {"image": jpeg(1_001, 1_000)}}),
        ("limits.MAX_K", {"data": {"code": "abc", "k": 1_001}}),
        ("limits.MAX_OFFSET", {"data": {"code": "abc", "offset": 10_001}}),
        ("limits.MAX_LABELS", {"data": {"code": "abc", "label": ["sky"] * 51}}),
        ("limits.MAX_LABELS", {"data": {"code": "abc", "where": "|".join(["sky"] * 51)}}),
        ("limits.MAX_TEXT", {"data": {"code": "abc", "label": "a" * 201}}),
        ("limits.MAX_WHERE", {"data": {"code": "abc", "where": "a" * 4_001}}),
        ("limits.MAX_WORDS", {"data": {"words": "a" * 1_001}}),
        ("limits.MAX_ADDED", {"data": {"code": "abc", "more": ["sky"] * 21}}),
        ("limits.MAX_ADDED", {"data": {"code": "abc", "less": ["sky"] * 21}}),
        ("Starlette", {"files": [("a", "b")] * 1_001}),
    ],
)
def test_a_limit_of_requests_is_kept(index, place, request_):
    with open_client(index, limits=Limits(pixels=1_000_000)) as client:
        is_problem(client.post("/api/v1/search", **request_), *sent(place))


def test_a_page_has_a_most_of_items(client):
    is_problem(client.get("/api/v1/items", params={"limit": 501}), *sent("limits.MAX_PAGE"))


def test_completions_have_a_most(client):
    answer = client.get("/api/v1/words", params={"limit": 101})
    is_problem(answer, *sent("limits.MAX_COMPLETIONS"))
    is_problem(client.get("/api/v1/words", params={"prefix": "a" * 201}), *sent("limits.MAX_TEXT"))


def test_the_name_of_a_folder_has_a_most_of_characters(client):
    asked = {"folder": "a" * 4_097}
    is_problem(client.get("/api/v1/items", params=asked), *sent("limits.MAX_PATH"))


def test_wrong_tokens_have_a_most(writable):
    limits = Limits(wrong_tokens=1)
    with open_client(writable, writable=True, token=TOKEN, limits=limits) as client:
        is_problem(client.delete("/api/v1/items/1"), 401)
        is_problem(client.delete("/api/v1/items/1"), *sent("Limits.wrong_tokens"))


def test_all_connections_in_use_are_told(index, monkeypatch):
    """Where none of them waits for its client, a new one is refused."""
    from softhash.server.service import Service

    monkeypatch.setattr(Service, "search", lambda *given: time.sleep(0.3) or {})
    ask = b"POST /api/v1/search HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n"
    ask += b"Content-Type: application/x-www-form-urlencoded\r\n\r\ncode=abc"
    with ExitStack() as stack:
        address, _ = stack.enter_context(serving(index, limits=Limits(connections=1)))
        first, second = (socket.socket() for _ in range(2))
        for connection in (first, second):
            stack.enter_context(connection).settimeout(5)
        first.connect(address)
        first.sendall(ask)
        time.sleep(0.1)
        second.connect(address)
        status = int(read_answer(second).split()[1])
    assert status in sent("Limits.connections")
