"""One connection to a Milvus server; errors of pymilvus become errors of softhash."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from softhash.errors import InputError, MissingExtraError, SofthashError, StoreUnavailableError
from softhash.index.milvus._address import Address

CONNECT_SECONDS = 5.0
# pymilvus tries again after 10, 30, 90, … ms, 4 seconds in all. A time limit instead would also cut
# off long searches.
RETRIES: dict[str, Any] = {"retry_times": 6}
_UNAVAILABLE = ("UNAVAILABLE", "DEADLINE_EXCEEDED", 2)  # codes of gRPC, and one of pymilvus


def pymilvus() -> Any:
    """Import the client library, and turn off its log of errors: they are raised here."""
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
    except Exception as error:  # errors of gRPC and pymilvus have no base class in common
        if "auth" in str(error).lower():
            raise _refused(address, error) from error
        raise _unavailable(address) from error


@contextmanager
def answering(address: Address) -> Iterator[None]:
    """Turn errors of pymilvus and gRPC that are raised inside into errors of softhash."""
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
        if getattr(code, "name", code) in _UNAVAILABLE:
            raise _unavailable(address) from error
        raise _refused(address, error) from error


def _unavailable(address: Address) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"no Milvus answers at {address.server}",
        f"start the server, or give another host and port: "
        f"{address.scheme}://HOST:PORT/{address.collection}",
    )


def _refused(address: Address, error: Exception) -> InputError:
    reason = str(getattr(error, "message", "") or error)
    if address.secret:
        reason = reason.replace(address.secret, "***")
    return InputError(f"the Milvus at {address.server} refused: {' '.join(reason.split())[:300]}")
