"""An index behind HTTP: a page for people, an API for programs.

`create_app` makes the application, `serve` runs it. Both need the extra `serve`.
"""

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
) -> "FastAPI":
    """Build the application that serves an index.

    Args:
        index: what is searched; it stays open as long as the application is used.
        writable: whether clients with the token may add and remove items.
        token: what writers send as `Authorization: Bearer …`.
        limits: how much a client may ask for.
        hosts: names in the Host header that are answered, any by default.

    """
    _check_extra()
    from softhash.server.app import build

    return build(index, writable=writable, token=token, limits=limits, hosts=hosts)


def serve(
    index: "HammingIndex",
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    writable: bool = False,
    token: str | None = None,
) -> None:
    """Serve an index until the process gets a signal to stop (SIGINT or SIGTERM).

    Args:
        index: what is searched; open for writing where `writable`.
        host: the address to listen on; other machines reach this one only at another than the
            default.
        port: the port to listen on; 0 for a free one.
        writable: whether clients with the token may add and remove items.
        token: what writers must send; where none is given, one is made and printed.

    """
    _check_extra()
    from softhash.server.running import run

    run(index, host=host, port=port, writable=writable, token=token)


def _check_extra() -> None:
    try:
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import python_multipart  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(error.name or "fastapi", "serve") from error
