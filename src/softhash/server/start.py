"""An index behind HTTP: a page for people, an API for programs.

`create_app` makes the application, `serve` runs it. Both need the extra `serve`.
"""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from softhash.errors import MissingExtraError
from softhash.server.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from fastapi import FastAPI

    from softhash.index import HammingIndex


def create_app(
    index: "HammingIndex",
    *,
    writable: bool = False,
    token: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    hosts: frozenset[str] | None = None,
    originals: bool = True,
) -> "FastAPI":
    """Build the application that serves an index.

    Args:
        index: what is searched; it stays open as long as the application is used.
        writable: whether clients with the token may add and remove items.
        token: what writers send as `Authorization: Bearer …`, of 16 characters or more.
        limits: how much a client may ask for.
        hosts: names in the Host header that are answered beside IP addresses, any by default.
        originals: whether clients may fetch the files of items, with what cameras wrote into them.

    """
    check_extra()
    from softhash.server.app import build

    return build(
        index, writable=writable, token=token, limits=limits, hosts=hosts, originals=originals
    )


def serve(
    index: "HammingIndex",
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    writable: bool = False,
    token: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    allow_hosts: Collection[str] = (),
    originals: bool | None = None,
    on_listening: Callable[[str], None] | None = None,
) -> bool:
    """Serve an index until the process gets a signal to stop (SIGINT or SIGTERM).

    Returns whether all work has ended. A picture may still be in decoding, in a thread that cannot
    be stopped, and Python would wait for it at its exit: `os._exit` ends a process all the same.

    Args:
        index: what is searched; open for writing where `writable`.
        host: the address to listen on; other machines reach this one only at another than the
            default.
        port: the port to listen on; 0 for a free one.
        writable: whether clients with the token may add and remove items.
        token: what writers must send, of 16 characters or more; where none is given, one is made
            and printed.
        limits: how much a client may ask for.
        allow_hosts: names in the Host header that are answered beside the server's own and IP
            addresses, as those of a proxy.
        originals: whether clients may fetch the files of items, with what cameras wrote into them;
            by default where this machine alone reaches the server.
        on_listening: called with the page's address once the server listens.

    """
    check_extra()
    from softhash.server.running import run

    return run(
        index,
        host=host,
        port=port,
        writable=writable,
        token=token,
        limits=limits,
        allow_hosts=allow_hosts,
        originals=originals,
        on_listening=on_listening,
    )


def check_extra() -> None:
    """Raise MissingExtraError where what the server needs is not installed."""
    try:
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import python_multipart  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(error.name or "fastapi", "serve") from error
