"""Limits on the bodies of requests: bytes and seconds, of one and of all together."""

import asyncio
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from softhash.server.limits import LINGER_SECONDS, Limits
from softhash.server.problems import RETRY, Problem


class BodyGuard:
    """Refuses bodies that are too long, as soon as possible, and those that arrive too late."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits
        self._held = _Held()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        length = headers.get("content-length", "")
        if not length.strip("0") and "transfer-encoding" not in headers:
            await self._app(scope, receive, send)
            return
        body = _Body(receive, send, self._limits, self._held)
        try:
            problem = self._refusal(length, headers.get("content-type", ""))
            if problem is None:
                await self._app(scope, body.receive, body.send)
            else:
                await problem.response()(scope, body.receive, body.send)
        finally:
            self._held.bytes -= body.size

    def _refusal(self, length: str, content_type: str) -> Problem | None:
        """Return what is wrong with a request before its body is read."""
        if length.isdecimal() and int(length) > self._limits.body_bytes:
            return _too_long(self._limits)
        _, _, charset = content_type.lower().partition("charset=")
        if charset and charset.split(";")[0].strip(' "') not in ("utf-8", "utf8", "us-ascii"):
            # Python has many, with all of which forms would be decoded: slow ones, and such as
            # make text that cannot be stored.
            return Problem(415, "charset", "the text of a request is UTF-8", "leave charset out")
        return None


class _Held:
    """The bytes of all bodies that are in work."""

    def __init__(self) -> None:
        self.bytes = 0


class _Body:
    """One request's body as it arrives.

    Where the response is ready before the whole body is there, the rest is read and dropped for a
    moment. Then the connection is closed, for it cannot be used for another request.
    """

    def __init__(self, receive: Receive, send: Send, limits: Limits, held: _Held) -> None:
        self._receive, self._send, self._limits, self._held = receive, send, limits, held
        self._deadline = asyncio.get_running_loop().time() + limits.body_seconds
        self.size = 0
        self._complete = False
        self._closing = False

    async def receive(self) -> Message:
        if self._complete:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            detail = f"the request did not arrive within {self._limits.body_seconds:g} s"
            hint = "send a smaller picture, or send it faster"
            raise Problem(408, "slow-upload", detail, hint) from None
        arrived = len(message.get("body", b""))
        self.size += arrived
        self._held.bytes += arrived
        self._complete = not message.get("more_body", False)
        if self.size > self._limits.body_bytes:
            raise _too_long(self._limits)
        if self._held.bytes > self._limits.bodies_bytes:
            detail = "too many large requests are in work"
            raise Problem(503, "busy", detail, "try again in a moment", RETRY)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and not self._complete:
            self._closing = True
            headers = [*message["headers"], (b"connection", b"close")]
            message = {**message, "headers": headers}
        last = message["type"] == "http.response.body" and not message.get("more_body", False)
        if not (last and self._closing):
            await self._send(message)
            return
        await self._send({**message, "more_body": True})
        await self._drop_rest()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _drop_rest(self) -> None:
        message: Any = {"more_body": not self._complete}
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                while message.get("more_body", False):
                    message = await self._receive()
        except TimeoutError:
            pass


def _too_long(limits: Limits) -> Problem:
    detail = f"the request has more than {limits.body_bytes:,} bytes"
    return Problem(413, "too-large", detail, "send a smaller picture")
