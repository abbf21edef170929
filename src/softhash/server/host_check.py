"""Middleware for every request: Host check, security headers, metrics, unexpected errors."""

import logging
import time
from collections.abc import Set as AbstractSet

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from softhash.server.problems import Problem, defect
from softhash.server.prometheus import ServerMetrics

logger = logging.getLogger(__name__)

# Pages load nothing from elsewhere, run no inline script, and types are not guessed.
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class HostCheck:
    """Checks the Host header, measures, adds security headers, and answers unexpected errors.

    The Host header matters for a server on the loopback address: a web page anywhere may point its
    own name at this machine's address, and would then read the responses as its own (DNS
    rebinding).

    Args:
        app: the application behind it.
        hosts: names that are answered, None for any.
        measures: where requests are counted.

    """

    def __init__(
        self, app: ASGIApp, hosts: AbstractSet[str] | None, measures: ServerMetrics
    ) -> None:
        self._app, self._hosts, self._measures = app, hosts, measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0

        async def protected(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        try:
            await self._answer(scope, receive, protected)
        except Exception:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            if status:  # it failed in the middle of a response: another cannot be sent
                raise
            await defect().response()(scope, receive, protected)
        finally:
            self._measures.request(scope, status, time.perf_counter() - started)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = host_name(Headers(scope=scope).get("host", ""))
        if self._hosts is None or name in self._hosts:
            await self._app(scope, receive, send)
            return
        hint = "use the address that the server printed, or start it with --host"
        problem = Problem(421, "other-host", f"this server does not answer for '{name}'", hint)
        await problem.response()(scope, receive, send)


def host_name(header: str) -> str:
    """Return the name in a Host header.

    >>> host_name("LocalHost:8000"), host_name("[::1]:8000"), host_name("[::1]")
    ('localhost', '[::1]', '[::1]')
    """
    name = header.strip().lower()
    return name if name.endswith("]") else name.rpartition(":")[0] or name
