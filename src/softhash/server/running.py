"""The application on a socket, until the process gets a signal to stop."""

import ipaddress
import secrets
import socket
import sys
from types import FrameType

import uvicorn

from softhash.errors import AddressError
from softhash.index import HammingIndex
from softhash.server.app import build
from softhash.server.limits import DEFAULT_LIMITS

BACKLOG = 2048
LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "[::1]"))


def run(index: HammingIndex, *, host: str, port: int, writable: bool, token: str | None) -> None:
    """Serve an index; the arguments are those of `softhash.server.serve`."""
    made = secrets.token_urlsafe(24) if writable and not token else None
    local = is_loopback(host)
    hosts = LOOPBACK_NAMES | {_in_address(host).lower()} if local else None
    limits = DEFAULT_LIMITS
    app = build(index, writable=writable, token=token or made, limits=limits, hosts=hosts)
    listening = _listen(host, port)
    lines = [f"listening on http://{_in_address(host)}:{listening.getsockname()[1]}"]
    if made:
        lines.append(f"token for writing: {made}")
    if not local:
        lines.append("note: anyone who reaches this address sees all pictures of the index")
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=round(limits.stop_seconds),
    )
    with listening:
        _Server(config, lines).run(sockets=[listening])


class _Server(uvicorn.Server):
    """Prints its address when it listens, and exits with 0 after a signal to stop."""

    def __init__(self, config: uvicorn.Config, lines: list[str]) -> None:
        super().__init__(config)
        self._lines = lines

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        sys.stderr.write("".join(f"{line}\n" for line in self._lines))
        sys.stderr.flush()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # The parent's method raises the signal again after the end, which looks like a failure.
        self.force_exit = self.should_exit
        self.should_exit = True


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "0.0.0.0", "pc.lan")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


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
