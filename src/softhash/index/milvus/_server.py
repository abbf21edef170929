"""One connection to a Milvus server, whose errors come out as ours."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from softhash.errors import InputError, MissingExtraError, SofthashError, StoreUnavailableError
from softhash.index.milvus._address import Address

CONNECT_SECONDS = 5.0
# Tried again after 10, 30, 90, … ms, so that a server that is gone is given up after 4 seconds. A
# time limit instead would also cut off long searches, and pymilvus would try until it is over.
PATIENCE: dict[str, Any] = {"retry_times": 6}
_AWAY = ("UNAVAILABLE", "DEADLINE_EXCEEDED", 2)  # gRPC's, and that of pymilvus' own connecting


def pymilvus() -> Any:
    """Import the client library, and keep it from logging what we raise as errors."""
    try:
        module = import_module("pymilvus")
    except ModuleNotFoundError as error:
        if error.name == "pymilvus":
            raise MissingExtraError("pymilvus", "milvus") from error
        raise InputError(f"pymilvus is installed, but not all it needs: {error}") from error
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    return module


def connect(address: Address) -> Any:
    """Connect to the server; raise StoreUnavailableError, within seconds, where none answers."""
    library = pymilvus()
    try:
        return library.MilvusClient(
            uri=address.uri, token=address.token, timeout=CONNECT_SECONDS, dedicated=True
        )
    except Exception as error:  # gRPC and pymilvus raise what has no ancestor in common
        if "auth" in str(error).lower():
            raise _refused(address, error) from error
        raise _away(address) from error


@contextmanager
def answering(address: Address) -> Iterator[None]:
    """Turn what pymilvus and gRPC raise inside into an error of ours."""
    try:
        yield
    except SofthashError:
        raise
    except Exception as error:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if not kinds & {"MilvusException", "RpcError"}:
            raise
        code: Any = getattr(error, "code", None)
        code = code() if callable(code) else code
        if getattr(code, "name", code) in _AWAY:
            raise _away(address) from error
        raise _refused(address, error) from error


def _away(address: Address) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"no Milvus answers at {address.server}",
        f"start the server, or give another host and port: "
        f"{address.scheme}://HOST:PORT/{address.collection}",
    )


def _refused(address: Address, error: Exception) -> InputError:
    said = str(getattr(error, "message", "") or error)
    if address.secret:
        said = said.replace(address.secret, "***")
    return InputError(f"the Milvus at {address.server} refused: {' '.join(said.split())[:300]}")
