"""The token of writers: checked in constant time, and hard to guess."""

import hmac
import time
from collections import deque

from softhash.errors import UsageError
from softhash.server.limits import MIN_TOKEN
from softhash.server.problems import Problem

MINUTE = 60.0


class TokenCheck:
    """Compares tokens, and slows guesses down without locking out whoever has the right one.

    After too many wrong tokens in a minute, one is looked at only where its first half is right.
    Others are refused, whatever their second half is. So a guesser has to find the first half by
    itself, and who knows it is not taken for a guesser.

    Args:
        token: the right one.
        wrong_per_minute: how many wrong ones are compared as a whole.

    """

    def __init__(self, token: str | None, wrong_per_minute: int) -> None:
        self._token = _checked(token).encode()
        self._half = len(self._token) // 2
        self._wrong: deque[float] = deque(maxlen=max(1, wrong_per_minute))

    def check(self, header: str) -> None:
        """Raise a problem unless an Authorization header has the token."""
        kind, _, given = header.partition(" ")
        token = given.strip().encode("latin-1") if kind.lower() == "bearer" else b""
        if self._wait() > 0 and not hmac.compare_digest(
            token[: self._half], self._token[: self._half]
        ):
            headers = {"Retry-After": f"{self._wait():.0f}"}
            detail = "too many wrong tokens were sent"
            raise Problem(429, "guessing", detail, "send the right one, or wait", headers)
        if not hmac.compare_digest(token, self._token):
            self._wrong.append(time.monotonic())
            hint = "send `Authorization: Bearer TOKEN`, with the token of the server's start"
            headers = {"WWW-Authenticate": 'Bearer realm="softhash"'}
            raise Problem(401, "token", "the token is missing or wrong", hint, headers)

    def _wait(self) -> float:
        """Return for how many seconds guesses are not looked at; 0 or less where they are."""
        if len(self._wrong) < (self._wrong.maxlen or 1):
            return 0.0
        return self._wrong[0] + MINUTE - time.monotonic()


def _checked(token: str | None) -> str:
    if not token:
        raise UsageError("a server that may be written to needs a token", "give one")
    if len(token) < MIN_TOKEN:
        raise UsageError(
            f"a token of fewer than {MIN_TOKEN} characters is too easy to guess",
            "give a longer one, or none: then one is made",
        )
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError("the token has characters that a header cannot hold", "give plain ASCII")
    return token
