"""The application on a socket, until the process gets a signal to stop."""

import contextlib
import ctypes
import ipaddress
import secrets
import socket
import sys
from collections.abc import Callable, Collection
from functools import partial
from types import FrameType

import uvicorn
from fastapi import FastAPI

from softhash.errors import AddressError
from softhash.index import HammingIndex
from softhash.server.app import build
from softhash.server.connections import GuardedProtocol
from softhash.server.limits import Limits

BACKLOG = 2048
M_MMAP_THRESHOLD = -3  # of glibc's malloc.h
LARGE_BLOCK = 1 << 22  # bytes


def run(
    index: HammingIndex,
    *,
    host: str,
    port: int,
    writable: bool,
    token: str | None,
    limits: Limits,
    allow_hosts: Collection[str],
    originals: bool | None,
    on_listening: Callable[[str], None] | None,
) -> bool:
    """Serve an index; arguments and result are those of `softhash.server.serve`."""
    made = secrets.token_urlsafe(24) if writable and token is None else None
    hosts = answered_names(host, allow_hosts)
    app = build(
        index, writable=writable, token=token or made, limits=limits, hosts=hosts,
        originals=is_loopback(host) if originals is None else originals,
    )  # fmt: skip
    listening = _listen(host, port)
    _return_large_blocks()
    address = f"http://{_in_address(host)}:{listening.getsockname()[1]}"
    lines = [f"listening on {address}"]
    if made:
        lines.append(f"token for writing: {made}")
    if not is_loopback(host):
        lines.append("note: anyone who reaches this address sees all pictures of the index")

    def announce() -> None:
        sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.stderr.flush()
        if on_listening:
            on_listening(address)

    with listening:
        _Server(configure(app, limits), announce).run(sockets=[listening])
    return not app.state.service.busy


def configure(app: FastAPI, limits: Limits) -> uvicorn.Config:
    """Return the settings of a server within the limits."""
    return uvicorn.Config(
        app,
        http=partial(GuardedProtocol, limits=limits),  # type: ignore[arg-type]
        ws="none",
        log_level="error",  # anybody can provoke warnings, as many as they like
        access_log=False,
        server_header=False,
        timeout_keep_alive=limits.idle_seconds,  # type: ignore[arg-type]
        timeout_graceful_shutdown=limits.stop_seconds,  # type: ignore[arg-type]
    )


class _Server(uvicorn.Server):
    """Announces itself when it listens, and exits with 0 after a signal to stop."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # The parent's method raises the signal again after the end, which looks like a failure.
        self.force_exit = self.should_exit
        self.should_exit = True


def _return_large_blocks() -> None:
    """Have glibc give freed memory of pictures back; by default it keeps more with every peak."""
    with contextlib.suppress(AttributeError, OSError, TypeError):  # of another C library
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "0.0.0.0", "pc.lan")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def answered_names(host: str, more: Collection[str] = ()) -> frozenset[str]:
    """Return the names in a Host header that are answered, beside any IP address.

    Args:
        host: what the server listens on.
        more: names that were allowed in addition, as those of a proxy.

    """
    own = () if is_loopback(host) else (socket.gethostname(), socket.getfqdn())
    names = ("localhost", _in_address(host), *own, *more)
    return frozenset(name.lower() for name in names if name)


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
        # Connections inherit it; without it, the second part of every response waits for 40 ms.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AddressError(
            f"cannot listen on {host} port {port}: {reason}", "give another host or port"
        ) from error
