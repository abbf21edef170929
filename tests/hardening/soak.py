"""A server at full speed, with hostile requests among the others: ``… .soak SECONDS``.

Clients search, upload, remove, filter and look at pictures; others send what means harm. It ends
with a line of JSON: requests, statuses, and memory, files and threads at rest after a tenth of the
time and at the end. The exit code is 1 where a request was answered with a server error other than
503, where one was broken off, or where memory grew by more than a tenth.
"""

import argparse
import contextlib
import json
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from .hostile_uploads import FORMS, PICTURES
from .samples import LABELS, encoded, picture
from .served import TOKEN, Served, served, write_served

MOST_GROWTH = 0.10
CLIENTS = 6
ATTACKERS = 2
REST = 7.0  # seconds, in which connections that are idle are closed
FLOOD = b"A: " + b"a" * 50_000
RAW = (
    b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n" + FLOOD,
    b"GET /?" + b"a" * 50_000,
    b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n" * 100,
    b"\0" * 1_000,
    b"POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /",
)


class Sample(NamedTuple):
    """Memory in bytes, open files and threads of the server."""

    memory: int
    files: int
    threads: int


class Tally:
    """Statuses of all responses, by threads at once, until the time is over.

    Args:
        seconds: for which clients are to send.

    """

    def __init__(self, seconds: float) -> None:
        self.statuses: Counter[int] = Counter()
        self.errors: Counter[str] = Counter()
        self._deadline, self._lock = time.monotonic() + seconds, threading.Lock()

    @property
    def running(self) -> bool:
        """Whether there is time left."""
        return time.monotonic() < self._deadline

    def send(
        self, client: httpx.Client, method: str, path: str, **content: Any
    ) -> httpx.Response | None:
        """Send a request, and count its status.

        Args:
            client: that sends it.
            method: of the request.
            path: of the request.
            **content: what httpx sends with it.

        """
        try:
            response = client.request(method, path, **content)
        except httpx.HTTPError as error:
            with self._lock:
                self.errors[type(error).__name__] += 1
            return None
        with self._lock:
            self.statuses[response.status_code] += 1
        return response


def visit(server: Served, tally: Tally, seed: int) -> None:
    """Be a client who means well."""
    chance = random.Random(seed)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    own: list[int] = []
    with httpx.Client(base_url=f"{server.url}/api/v1", headers=headers, timeout=60) as client:
        while tally.running:
            number = chance.randrange(1 << 20)
            data = encoded(picture(number, chance.choice((24, 64, 200))), "PNG")
            code, label = f"{number:05x}", chance.choice(LABELS)
            filtered = {"code": code, "label": label, "not_label": chance.choice(LABELS)}
            for _ in range(5):
                tally.send(client, "POST", "/search", data={"code": code, "k": 100})
                tally.send(client, "POST", "/search", data=filtered)
                tally.send(client, "GET", f"/items/{chance.randrange(30)}/similar")
            tally.send(client, "POST", "/search", files={"image": data})
            tally.send(client, "GET", "/items", params={"label": label})
            tally.send(client, "GET", f"/items/{chance.randrange(24)}/image?width=160")
            tally.send(client, "GET", "/index")
            files = {"image": (f"{seed}-{number}-{len(own)}.png", data)}
            added = tally.send(client, "POST", "/items", files=files, data={"label": label})
            if added is not None and added.status_code == 201:
                own.append(added.json()["id"])
            if len(own) > 10:
                tally.send(client, "DELETE", f"/items/{own.pop(0)}")


def attack(server: Served, tally: Tally, seed: int) -> None:
    """Be a client who means harm."""
    pictures = all_pictures()
    chance = random.Random(seed)
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=60) as client:
        while tally.running:
            kind, body = FORMS[chance.choice(list(FORMS))]()
            path = "".join(chance.choices("abc/.%", k=20))
            method, wrong = chance.choice(("PUT", "BREW", "TRACE")), f"Bearer {path}"
            tally.send(client, "POST", "/search", content=body, headers={"Content-Type": kind})
            tally.send(client, "POST", "/encode", files={"image": chance.choice(pictures)})
            tally.send(client, "GET", "/items", params={"label": f"label {chance.random()}"})
            tally.send(client, method, f"/x{path}")
            tally.send(client, "DELETE", "/items/1", headers={"Authorization": wrong})
            throw(server, chance.choice(RAW), leave=chance.random() < 0.5)


@cache
def all_pictures() -> list[bytes]:
    """Return the hostile pictures."""
    return [make() for make in PICTURES.values()]


def throw(server: Served, data: bytes, *, leave: bool) -> None:
    """Send raw bytes; leave at once, or wait for a response."""
    with (
        contextlib.suppress(OSError),
        socket.create_connection(server.address, timeout=1) as connection,
    ):
        connection.sendall(data)
        while not leave and connection.recv(1 << 16):
            pass


def strain(server: Served, seconds: float) -> tuple[Tally, list[Sample]]:
    """Run clients and attackers for a time; return what was counted, and samples."""
    tally, samples = Tally(seconds), []
    threads = [
        threading.Thread(target=visit if seed < CLIENTS else attack, args=(server, tally, seed))
        for seed in range(CLIENTS + ATTACKERS)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(1)
        samples.append(Sample(server.memory(), server.files(), server.threads()))
    return tally, samples


def at_rest(server: Served) -> Sample:
    """Return what is in use when the last response was sent a while ago."""
    time.sleep(REST)
    return Sample(server.memory(), server.files(), server.threads())


def soak(server: Served, seconds: float) -> dict[str, Any]:
    """Strain a server for a tenth of the time, and for the rest; compare both at rest.

    Pictures take much memory while they are decoded, so that samples in between say little.
    """
    first, _ = strain(server, seconds / 10)
    early = at_rest(server)
    tally, samples = strain(server, seconds * 9 / 10)
    late = at_rest(server)
    statuses = first.statuses + tally.statuses
    requests = statuses.total()
    return {
        "requests": requests,
        "per_second": round(requests / seconds, 1),
        "statuses": dict(sorted(statuses.items())),
        "server_errors": sum(
            n for status, n in statuses.items() if status >= 500 and status != 503
        ),
        "broken_off": dict(first.errors + tally.errors),
        "growth": round(late.memory / early.memory - 1, 4),
        "early": early._asdict(),
        "late": late._asdict(),
        "most": Sample(*map(max, zip(*samples, strict=True)))._asdict(),
    }


def is_sound(found: dict[str, Any]) -> bool:
    """Return whether nothing failed, and memory did not grow."""
    return not (found["server_errors"] or found["broken_off"] or found["growth"] > MOST_GROWTH)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardening.soak", description=__doc__)
    parser.add_argument("seconds", type=float)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder, served(write_served(Path(folder))) as server:
        found = soak(server, seconds)
    print(json.dumps(found))  # noqa: T201
    return int(not is_sound(found))


if __name__ == "__main__":
    sys.exit(main())
