"""A real server on a socket, in a thread of this process."""

import socket
import threading
from contextlib import contextmanager

import httpx
import pytest
import uvicorn

from softhash.server import body_limits, connections, create_app
from softhash.server.limits import DEFAULT_LIMITS
from softhash.server.running import configure


@contextmanager
def impatient():
    """Have servers close refused connections soon, though clients may still send."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (body_limits, connections):
            patch.setattr(module, "LINGER_SECONDS", 0.1)
        yield


@contextmanager
def serving(index, *, limits=DEFAULT_LIMITS, **options):
    """Serve an index, and give the address and a client."""
    server = uvicorn.Server(configure(create_app(index, limits=limits, **options), limits))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        address = listening.getsockname()
        try:
            url = f"http://127.0.0.1:{address[1]}"
            with httpx.Client(base_url=url, timeout=30, trust_env=False) as client:
                yield address, client
        finally:
            server.should_exit = True
            thread.join(30)


def start_of_upload(length, path="/api/v1/encode"):
    """The head of a request with a picture, and the first bytes of its body."""
    part = b'--b\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n'
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
    )
    return head.encode() + part


def read_answer(connection):
    """Read until the server closes the connection."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)
