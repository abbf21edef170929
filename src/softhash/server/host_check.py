"""Middleware for every request: Host check, security headers, metrics, unexpected errors."""

import asyncio
import ipaddress
import logging
import time
from collections.abc import Set as AbstractSet

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from softhash.server.problems import Problem, defect, stopping
from softhash.server.prometheus import ServerMetrics

logger = logging.getLogger(__name__)

# Pages load nothing from elsewhere, send nothing elsewhere, run no inline script, and share nothing
# with other sites' pages; types are not guessed.
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class HostCheck:
    """Checks the Host header, measures, adds security headers, and answers unexpected errors.

    A web page anywhere may point its own name at this machine's address, and would then read the
    responses as its own (DNS rebinding). So a name must be known. An address is always answered:
    it cannot be pointed elsewhere.

    Args:
        app: the application behind it.
        hosts: names that are answered beside addresses, None for any.
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
                headers = MutableHeaders(scope=message)
                headers.update(SECURITY_HEADERS)
                headers.setdefault("Cache-Control", "private, no-cache")
            await send(message)

        try:
            await self._answer(scope, receive, protected)
        except asyncio.CancelledError:  # the server stops, and waited long enough
            if status:
                raise
            await stopping().response()(scope, receive, protected)
        except Exception:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            if status:  # it failed in the middle of a response: another cannot be sent
                raise
            await defect().response()(scope, receive, protected)
        finally:
            self._measures.request(scope, status, time.perf_counter() - started)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = host_name(Headers(scope=scope).get("host", ""))
        if self._hosts is None or name in self._hosts or is_address(name):
            await self._app(scope, receive, send)
            return
        hint = "use the address that the server printed, or start it with --allow-host"
        problem = Problem(421, "other-host", f"this server does not answer for '{name}'", hint)
        await problem.response()(scope, receive, send)


def is_address(name: str) -> bool:
    """Return whether a name in a Host header is an IP address.

    >>> [is_address(name) for name in ("192.168.1.5", "[::1]", "1.2.3.4.example", "")]
    [True, True, False, False]
    """
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def host_name(header: str) -> str:
    """Return the name in a Host header.

    >>> host_name("LocalHost:8000"), host_name("[::1]:8000"), host_name("[::1]")
    ('localhost', '[::1]', '[::1]')
    """
    name = header.strip().lower()
    return name if name.endswith("]") else name.rpartition(":")[0] or name
