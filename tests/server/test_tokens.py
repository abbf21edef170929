"""Tokens: long enough, slow to guess, and the right one always works."""

import pytest
from serving import TOKEN, is_problem, open_client

from softhash.errors import UsageError
from softhash.server import Limits, create_app, tokens
from softhash.server.problems import Problem
from softhash.server.tokens import TokenCheck


@pytest.mark.parametrize("token", ["a", "fifteen letters", "e" * 15])
def test_a_short_token_is_refused(index, token):
    with pytest.raises(UsageError, match="fewer than 16"):
        create_app(index, writable=True, token=token)


@pytest.mark.parametrize("token", ["sixteen lettered", "é" * 16, "new\nline" * 3, "\x7f" * 16])
def test_a_token_that_no_header_holds_is_refused(index, token):
    with pytest.raises(UsageError, match="ASCII"):
        create_app(index, writable=True, token=token)


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = [1000.0]
    monkeypatch.setattr(tokens.time, "monotonic", lambda: now[0])
    return now


def status(check, token):
    try:
        check.check(f"Bearer {token}")
    except Problem as problem:
        return problem.status_code
    return 200


def test_guesses_are_slowed_and_the_right_token_is_not(clock):
    check = TokenCheck(TOKEN, 3)
    half = TOKEN[: len(TOKEN) // 2]
    assert [status(check, "wrong") for _ in range(5)] == [401, 401, 401, 429, 429]
    assert status(check, TOKEN) == 200
    assert status(check, f"wrong-{TOKEN[len(half) :]}") == 429
    assert status(check, f"{half}-wrong") == 401
    clock[0] += 61
    assert [status(check, "wrong") for _ in range(4)] == [401, 401, 401, 429]


def test_a_guesser_is_told_when_to_come_back(writable):
    limits = Limits(wrong_tokens=2)
    with open_client(writable, writable=True, token=TOKEN, limits=limits) as client:
        for _ in range(2):
            is_problem(client.delete("/api/v1/items/1"), 401, "token")
        answer = client.delete("/api/v1/items/1", headers={"Authorization": "Bearer x"})
        is_problem(answer, 429, "guessing")
        assert 50 <= int(answer.headers["retry-after"]) <= 60
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert client.delete("/api/v1/items/1", headers=right).status_code == 204
