"""A server of a million items: many clients that ask by code, one that asks by picture.

The server runs in a process of its own, as `softhash serve` starts it, and so do the clients. The
pictures are sent to a second server too, of fewer items, whose model is the one that comes along:
it names likely labels, and judges how sure each hit is.
"""

import http.client
import io
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from benchmarks._server_clients import Load
from benchmarks._timing import Row, best_times, row
from benchmarks.decode import photo
from softhash.data.decoding import open_image
from softhash.index import Entry, HammingIndex
from softhash.index.likely import keep_likely
from softhash.model.default_model import default_model
from softhash.model.hasher import Hasher
from softhash.model.label_classifier import KEPT_WORDS, LikelyRows

ITEMS = 1_000_000
AT_ONCE = 100_000
CLIENTS = 16
SECONDS = 10
PICTURES = 200  # requests,
DIFFERENT = 16  # of so many pictures;
WARMED_UP = 16  # the first do not count for the median
LABELS = ("boat", "bridge", "car", "cloud", "house", "sea", "sky", "sun", "tree")


def rows() -> list[Row]:
    """Measure and return the lines of the table."""
    with tempfile.TemporaryDirectory() as folder:
        hasher = Hasher("efficientnet_lite0", bits=64)
        hasher.save(Path(folder, "model"))
        hasher = Hasher.load(Path(folder, "model"))
        place = _filled(Path(folder, "index"), hasher, ITEMS)
        with _serving(place) as address:
            lines = [*_by_code(address, place), *_by_picture(address, hasher, "64 bits")]
        shipped = Hasher.load(default_model())
        place = _filled(Path(folder, "labelled"), shipped, AT_ONCE)
        with _serving(place) as address:
            return [*lines, *_by_picture(address, shipped, "the model that comes along")]


def _filled(place: Path, hasher: Hasher, items: int) -> Path:
    """Make an index of random codes, with labels, and likely ones where the model names any."""
    rng = np.random.default_rng(0)
    with HammingIndex.create(place, hasher) as index:
        likely = keep_likely(index.store)
        for start in range(0, items, AT_ONCE):
            codes = rng.integers(0, 256, (AT_ONCE, hasher.bits // 8), dtype=np.uint8)
            chosen = rng.random((AT_ONCE, len(LABELS))) < 0.3
            entries = [
                Entry(
                    f"{start + i}.jpg", tuple(np.array(LABELS)[mask].tolist()), sha256=f"{i:064x}"
                )
                for i, mask in enumerate(chosen)
            ]
            ids = index.add_codes(codes, entries)
            if likely is not None:
                words = rng.integers(0, len(likely.kept.words), (AT_ONCE, KEPT_WORDS), np.uint16)
                odds = rng.integers(1, 256, (AT_ONCE, KEPT_WORDS), np.uint8)
                contents = [entry.sha256 for entry in entries]
                likely.kept.put(ids, contents, LikelyRows(words, np.sort(odds)[:, ::-1]))
    return place


@contextmanager
def _serving(place: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "softhash", "serve", str(place), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        if process.stderr is None:
            raise RuntimeError("the server has no output")
        found = (re.search(r"http://\S+", line) for line in process.stderr)
        address = next(filter(None, found), None)  # kernels may be compiled first, which is said
        if address is None:
            raise RuntimeError("the server did not start")
        yield address[0]
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


def _by_picture(address: str, hasher: Hasher, case: str) -> list[Row]:
    """Take turns: a request with a picture, and the bare forward pass on its pixels.

    Every picture is another one, so that nothing of the last is of use.
    """
    rng = np.random.default_rng(0)
    files = [_jpeg(rng) for _ in range(DIFFERENT)]
    pixels = [np.asarray(open_image(file, size=hasher.size))[np.newaxis] for file in files]
    engine = hasher._state.engine("cpu")
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    turns = {"request": cycle(files), "pass": cycle(pixels)}
    seconds: dict[str, list[float]] = {"request": [], "pass": []}
    for _ in range(PICTURES):
        for name, work in (("request", partial(_ask, connection)), ("pass", engine)):
            given = next(turns[name])
            start = time.perf_counter()
            work(given)
            seconds[name].append(1000 * (time.perf_counter() - start))
    for name, of in (("best", np.min), ("median", np.median)):
        least, ours = (float(of(seconds[one][WARMED_UP:])) for one in ("pass", "request"))
        print(
            f"a picture, {case}, {name}: {ours:.1f} ms, the forward pass alone {least:.1f} ms: "
            f"{1 - least / ours:.0%} are not the forward pass"
        )
    least, ours = (min(seconds[one]) for one in ("pass", "request"))
    line = f"500×375 JPEG, {case}: forward pass / request"
    return [row("server", line, least, ours, "ms", 0.75)]


def _jpeg(rng: np.random.Generator) -> bytes:
    file = io.BytesIO()
    photo(500, 375, rng).save(file, "JPEG", quality=90)
    return file.getvalue()


def _ask(connection: http.client.HTTPConnection, data: bytes) -> None:
    head = b'--b\r\nContent-Disposition: form-data; name="image"; filename="a.jpg"\r\n\r\n'
    form = {"Content-Type": "multipart/form-data; boundary=b"}
    connection.request("POST", "/api/v1/search", head + data + b"\r\n--b--\r\n", form)
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise RuntimeError(f"a picture was answered with {answer.status}")


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show(rows())
