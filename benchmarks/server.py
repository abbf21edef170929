"""A server of a million items: many clients that ask by code, one that asks by picture.

The server runs in a process of its own, as `softhash serve` starts it, and so do the clients.
"""

import http.client
import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from benchmarks._server_clients import Load
from benchmarks._timing import Row, best_times, row
from benchmarks.decode import photo
from softhash.data.decoding import open_image
from softhash.index import Entry, HammingIndex
from softhash.model.hasher import Hasher

ITEMS = 1_000_000
AT_ONCE = 100_000
CLIENTS = 16
SECONDS = 10
PICTURES = 100
LABELS = ("boat", "bridge", "car", "cloud", "house", "sea", "sky", "sun", "tree")


def rows() -> list[Row]:
    """Measure and return the lines of the table."""
    with tempfile.TemporaryDirectory() as folder:
        hasher = Hasher("efficientnet_lite0", bits=64)
        hasher.save(Path(folder, "model"))
        hasher = Hasher.load(Path(folder, "model"))
        place = _filled(Path(folder, "index"), hasher)
        with _serving(place) as address:
            return [*_by_code(address, place), *_by_picture(address, hasher)]


def _filled(place: Path, hasher: Hasher) -> Path:
    rng = np.random.default_rng(0)
    with HammingIndex.create(place, hasher) as index:
        for start in range(0, ITEMS, AT_ONCE):
            codes = rng.integers(0, 256, (AT_ONCE, 8), dtype=np.uint8)
            chosen = rng.random((AT_ONCE, len(LABELS))) < 0.3
            entries = [
                Entry(f"{start + i}.jpg", tuple(np.array(LABELS)[mask].tolist()))
                for i, mask in enumerate(chosen)
            ]
            index.add_codes(codes, entries)
    return place


@contextmanager
def _serving(place: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "softhash", "serve", str(place), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        if process.stderr is None:
            raise RuntimeError("the server has no output")
        found = re.search(r"http://\S+", process.stderr.readline())
        if found is None:
            raise RuntimeError("the server did not start")
        yield found[0]
    finally:
        process.terminate()
        process.wait()


def _by_code(address: str, place: Path) -> list[Row]:
    """Load the server, and time the same searches without one."""
    command = [sys.executable, "-m", "benchmarks._server_clients", address, str(CLIENTS)]
    done = subprocess.run([*command, str(SECONDS)], check=True, capture_output=True, text=True)
    load = Load.read(done.stdout)
    took = np.array(load.seconds) * 1000
    case = f"{ITEMS // 1_000_000}M items by code, {CLIENTS} clients"
    middle, late = (float(np.quantile(took, share)) for share in (0.5, 0.99))
    print(
        f"{case}: {len(took) / load.wall:,.0f} requests/s, p50 {middle:.1f} ms, p99 {late:.1f} ms, "
        f"{load.errors} errors"
    )
    if load.errors:
        raise RuntimeError(f"{load.errors} requests failed")
    with HammingIndex.open(place) as index:
        bare = best_times({"search": lambda: index.search(code=bytes(8), k=10)}, 300)["search"]
    each = 1000 * load.wall / len(took)
    return [
        row("server", f"{case}: bare search / request", 1000 * bare, each, "ms", None),
        row("server", f"{case}: p99 / p50", late, middle, "ms", None),
    ]


def _by_picture(address: str, hasher: Hasher) -> list[Row]:
    """Take turns: a request with a picture, and the bare forward pass on its pixels."""
    file = io.BytesIO()
    photo(500, 375, np.random.default_rng(0)).save(file, "JPEG", quality=90)
    data = file.getvalue()
    pixels = np.asarray(open_image(data, size=hasher.size))[np.newaxis]
    engine = hasher._state.engine("cpu")
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    head = b'--b\r\nContent-Disposition: form-data; name="image"; filename="a.jpg"\r\n\r\n'
    body = head + data + b"\r\n--b--\r\n"
    form = {"Content-Type": "multipart/form-data; boundary=b"}

    def request() -> None:
        connection.request("POST", "/api/v1/search", body, form)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"a picture was answered with {answer.status}")

    times = best_times({"request": request, "pass": lambda: engine(pixels)}, PICTURES)
    ours, least = 1000 * times["request"], 1000 * times["pass"]
    print(f"a picture: {ours:.1f} ms, of which {1 - least / ours:.0%} are not the forward pass")
    return [row("server", "500×375 JPEG: forward pass / request", least, ours, "ms", 0.75)]


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show(rows())
