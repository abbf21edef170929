"""Clients of a server on bare sockets, so that they take little of the processor themselves."""

import asyncio
import json
import random
import sys
import time
from typing import NamedTuple
from urllib.parse import urlsplit

REQUESTS = 500  # different ones


class Load(NamedTuple):
    """What the clients saw: seconds of every request, and of all together."""

    seconds: list[float]
    errors: int
    wall: float

    @classmethod
    def read(cls, text: str) -> "Load":
        """Read what the program printed."""
        return cls(*json.loads(text))


def _request(code: str, host: str) -> bytes:
    fields = {"code": code, "k": "10"}
    body = "".join(
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    )
    body += "--b--\r\n"
    head = (
        f"POST /api/v1/search HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
    )
    return (head + body).encode()


async def _client(host: str, port: int, requests: list[bytes], until: float) -> tuple[list, int]:
    reader, writer = await asyncio.open_connection(host, port)
    seconds, errors = [], 0
    while time.perf_counter() < until:
        start = time.perf_counter()
        writer.write(random.choice(requests))  # noqa: S311
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        answer = await reader.readexactly(length)
        seconds.append(time.perf_counter() - start)
        errors += not head.startswith(b"HTTP/1.1 200") or answer.count(b'"id"') != 10
    writer.close()
    return seconds, errors


async def load(address: str, clients: int, seconds: float) -> Load:
    """Send requests from so many clients for so long."""
    host, port = urlsplit(address).hostname or "", urlsplit(address).port or 80
    requests = [_request(f"{random.getrandbits(64):016x}", host) for _ in range(REQUESTS)]
    start = time.perf_counter()
    each = [_client(host, port, requests, start + seconds) for _ in range(clients)]
    found = await asyncio.gather(*each)
    took = [one for part, _ in found for one in part]
    return Load(took, sum(errors for _, errors in found), time.perf_counter() - start)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(load(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))))
