"""Connections of clients: limits on heads, on waiting, and on how many there are at once."""

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from softhash.server.host_check import SECURITY_HEADERS
from softhash.server.limits import LINGER_BYTES, LINGER_SECONDS, Limits
from softhash.server.problems import RETRY, Problem


class _RefusedError(Exception):
    """Stops the parser; the reason is in `GuardedProtocol._refusal`."""


class GuardedProtocol(HttpToolsProtocol):
    """HTTP/1.1 whose heads are bounded in bytes and seconds, as are clients that do not read.

    The parser reports a header when it is whole. So that one without an end is bounded too, bytes
    are counted from one report to the next.

    Args:
        *args: uvicorn's.
        limits: of the server.
        **options: uvicorn's.

    """

    def __init__(self, *args: Any, limits: Limits, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = limits
        self._refusal: Problem | None = None
        self._closing = False
        self._requests: list[RequestResponseCycle] = []  # that are not answered yet
        self._in_head = self._in_body = False
        self._unreported = 0  # bytes since the parser last reported something
        self._count = self._size = 0  # of the headers of this request
        self._since = self.loop.time()  # when it began to wait for what it waits for now
        self._head_timer, self._send_timer = _Timer(self.loop), _Timer(self.loop)

    @property
    def answering(self) -> bool:
        """Whether a request is running."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def waits(self) -> bool:
        """Whether it is the client's turn: for a head, for the rest of a body, or to read."""
        return not self.answering or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a client, and close another where there are too many."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # `pause_writing` whenever something is unsent
        self._watch_head()
        if len(self.connections) > self._limits.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a client, and leave no cycle of references, which would stay for a while."""
        self._head_timer.stop()
        self._send_timer.stop()
        self._give_up()
        super().connection_lost(exc)
        self.pipeline.clear()
        self._requests.clear()
        self.cycle = None  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Parse what came, within the limits."""
        self._unreported += len(data)
        if self._closing:
            if self._unreported > LINGER_BYTES:
                self._abort()
            return
        super().data_received(data)
        if self._unreported > self._limits.head_bytes:
            self._close_with(self._too_large())
        elif self._in_head or (self._unreported and not self._in_body):
            self._watch_head()

    def on_message_begin(self) -> None:
        """Begin the head of a request."""
        super().on_message_begin()
        self._in_head = True
        self._count = self._size = 0

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        super().on_url(url)
        if len(self.url) > self._limits.target_bytes:
            detail = f"the address has more than {self._limits.target_bytes:,} bytes"
            self._refuse(Problem(414, "long-address", detail, "send fields in the body"))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; one that comes after the body is counted and dropped."""
        self._count += 1
        self._size += len(name) + len(value) + 4
        if self._count > self._limits.headers or self._size > self._limits.head_bytes:
            self._refuse(self._too_large())
        if not self._in_body:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin the request, or queue it behind the one that runs."""
        self._head_timer.stop()
        self._unreported = 0
        self._since = self.loop.time()
        if len(self.pipeline) >= self._limits.pipelined:
            self._refuse(None)
        if sum(name == b"host" for name, _ in self.headers) > 1:
            self._refuse(Problem(400, "malformed", "there are two Host headers", "send one"))
        if self.parser.get_http_version() not in ("1.0", "1.1"):
            self._refuse(None)
        super().on_headers_complete()
        self._requests.append(self.cycle)
        self._in_head, self._in_body = False, True
        if self.parser.should_upgrade():  # it is answered as any other, and its parser stops there
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._unreported = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request."""
        super().on_message_complete()
        self._in_body, self._unreported = False, 0

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._since = self.loop.time()
        self._requests = [one for one in self._requests if not one.response_complete]
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Give a client that does not read some time."""
        super().pause_writing()
        self._since = self.loop.time()
        self._send_timer.start(self._limits.send_seconds, self._abort)
        waiting = [one for one in self._others() if one._send_timer.running]
        unsent = sum(one.transport.get_write_buffer_size() for one in (self, *waiting))
        if unsent > self._limits.unsent_bytes:
            min((self, *waiting), key=lambda one: one._since)._abort()

    def resume_writing(self) -> None:
        """Go on: everything is sent."""
        self._send_timer.stop()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what the parser or a limit refused."""
        hint = "send HTTP/1.1"
        self._close_with(self._refusal or Problem(400, "malformed", "not a valid request", hint))

    def _others(self) -> "list[GuardedProtocol]":
        others = (one for one in self.connections if one is not self)
        return [one for one in others if isinstance(one, GuardedProtocol)]

    def _make_room(self) -> None:
        """Close the connection that has waited longest for its client; else refuse this one."""
        waiting = [one for one in self._others() if one.waits]
        if waiting:
            longest = min(waiting, key=lambda one: (one.answering, one._since))
            longest._abort()
        else:
            detail = f"all {self._limits.connections:,} connections are in use"
            self._close_with(Problem(503, "busy", detail, "try again in a moment", RETRY))

    def _abort(self) -> None:
        self.connections.discard(self)  # at once, so that it is not chosen twice
        self._give_up()
        self.transport.abort()

    def _give_up(self) -> None:
        """Have running requests write nothing more, and those that wait for a body end."""
        for one in self._requests:
            one.disconnected = True
            one.message_event.set()

    def _watch_head(self) -> None:
        if not (self._head_timer.running or self._closing):
            self._head_timer.start(self._limits.head_seconds, self._head_late)

    def _head_late(self) -> None:
        if self.flow.read_paused:  # an earlier request runs, and this one is not read for now
            self._watch_head()
        elif self._in_head or self._unreported:
            detail = f"the head did not arrive within {self._limits.head_seconds:g} s"
            self._close_with(Problem(408, "slow-head", detail, "send it faster"))
        else:
            self.transport.close()

    def _too_large(self) -> Problem:
        limits = self._limits
        detail = f"more than {limits.headers} headers, or more than {limits.head_bytes:,} bytes"
        return Problem(431, "large-head", detail, "send fewer and shorter headers")

    def _refuse(self, problem: Problem | None) -> None:
        self._refusal = problem
        raise _RefusedError

    def _close_with(self, problem: Problem) -> None:
        """Answer where a response is due, drop what still comes, and close."""
        if self._closing:
            return
        self._closing = True
        self._head_timer.stop()
        unread = self._in_body and self.answering and not self.cycle.response_started
        due = not self.pipeline and (unread or not (self._in_body or self.answering))
        self._give_up()
        if not due:  # it would be taken for the response to another request
            self._abort()
            return
        self.flow.resume_reading()
        self.transport.write(self._raw(problem))
        self.transport.write_eof()
        self._head_timer.start(LINGER_SECONDS, self._abort)

    def _raw(self, problem: Problem) -> bytes:
        response = problem.response()
        ours = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
        headers = [*self.server_state.default_headers, *response.raw_headers, *ours]
        lines = [name + b": " + value + b"\r\n" for name, value in headers]
        head = b"".join([STATUS_LINE[problem.status_code], *lines, b"connection: close\r\n\r\n"])
        return head + bytes(response.body)


class _Timer:
    """A call that is made after some seconds, unless it is stopped before."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._handle: asyncio.TimerHandle | None = None

    @property
    def running(self) -> bool:
        return self._handle is not None

    def start(self, seconds: float, then: Callable[[], None]) -> None:
        self.stop()
        self._handle = self._loop.call_later(seconds, self._call, then)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _call(self, then: Callable[[], None]) -> None:
        self._handle = None
        then()
