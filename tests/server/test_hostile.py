"""Clients that mean harm: refused with a problem, and the server goes on."""

import io
import select
import socket
import struct
import threading
import time
import zipfile
import zlib

import pytest
from live import read_answer, serving, start_of_upload
from PIL import Image
from serving import is_problem, jpeg, open_client

from softhash.server import Limits

PATHS = "/api/v1/encode", "/api/v1/items", "/api/v1/no-such"
SMALL = Limits(body_bytes=300_000, body_seconds=0.6, pixels=1_000_000)


def bomb_png(side=20_000):
    """A PNG of a few hundred kilobytes that decodes to hundreds of megabytes."""

    def chunk(kind, data):
        crc = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + crc

    packer = zlib.compressobj(9)
    row = bytes(side // 8 + 1)
    pixels = b"".join(packer.compress(row) for _ in range(side)) + packer.flush()
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def lying_gif():
    """A GIF whose header claims 65,535 × 65,535 pixels."""
    return b"GIF89a\xff\xff\xff\xff\x80\x00\x00" + b"\x00" * 6 + b"\x2c" + b"\x00" * 30


def text_bomb_png():
    """A PNG with a text chunk that unpacks to 100 MB."""
    data = b"Comment\x00\x00" + zlib.compress(b"a" * 100_000_000, 9)
    chunk = struct.pack(">I", len(data)) + b"zTXt" + data
    chunk += struct.pack(">I", zlib.crc32(b"zTXt" + data))
    whole = jpeg(8, 8, format="PNG")
    return whole[:33] + chunk + whole[33:]


HOSTILE = {
    "bomb": bomb_png,
    "huge header": lying_gif,
    "empty": lambda: b"",
    "html": lambda: b"<!doctype html><script>alert(1)</script>",
    "svg": lambda: b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "pdf": lambda: b"%PDF-1.7\n%%EOF",
    "postscript": lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage",
    "zip": lambda: zipped(),
    "cut short": lambda: jpeg(400, 300)[:900],
    "noise": lambda: bytes(range(256)) * 50,
    "header alone": lambda: b"\xff\xd8\xff\xe0",
    "path": lambda: b"/etc/passwd",
}


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("index.html", "<script>alert(1)</script>")
    return file.getvalue()


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_harmless_picture_is_refused(client, name):
    picture = HOSTILE[name]()
    for path in ("/api/v1/encode", "/api/v1/search"):
        started = time.monotonic()
        is_problem(client.post(path, files={"image": ("a.jpg", picture, "image/jpeg")}), 422)
        assert time.monotonic() - started < 5
    assert client.get("/api/v1/health").status_code == 200


def test_a_text_bomb_does_no_harm(client):
    answer = client.post("/api/v1/encode", files={"image": text_bomb_png()})
    assert answer.status_code in (200, 422)
    assert client.get("/api/v1/health").status_code == 200


def test_what_hides_behind_a_picture_is_not_served(writer):
    hidden = b"<script>alert(1)</script>" + zipped()
    picture = jpeg(200, 100, comment=b"<script>alert(2)</script>") + hidden
    item = writer.post("/api/v1/items", files={"image": ("a.jpg", picture)}).json()
    served = writer.get(item["image"])
    assert served.headers["content-type"] == "image/jpeg"
    assert served.headers["x-content-type-options"] == "nosniff"
    assert b"script" not in served.content
    assert Image.open(io.BytesIO(served.content)).size == (200, 100)


@pytest.mark.parametrize("text", ["' OR 1=1 --", '"; DROP TABLE items; --', "%", "_", "\0", "🦊"])
def test_labels_are_names_and_nothing_else(client, text):
    assert client.get("/api/v1/items", params={"label": text}).json()["items"] == []
    assert len(client.get("/api/v1/items", params={"not_label": text}).json()["items"]) == 40
    for filter in ("label", "not_label"):
        answer = client.post("/api/v1/search", data={"code": "abc", filter: text})
        assert "unknown label" in is_problem(answer, 422, "invalid")["detail"]


@pytest.mark.parametrize(
    "field",
    [
        {"k": "1000000000"},
        {"k": "-1"},
        {"k": "1e3"},
        {"k": "NaN"},
        {"offset": "-1"},
        {"offset": "99999999999999999999"},
        {"max_distance": "-1"},
        {"max_distance": "5000"},
        {"label": ["sky"] * 51},
        {"code": "f" * 100_000},
        {"model": "x" * 65},
        {"surprise": "1"},
    ],
)
def test_numbers_and_texts_out_of_bounds_are_refused(client, field):
    is_problem(client.post("/api/v1/search", data={"code": "abc", **field}), 422)


def test_many_bodies_at_once_are_bounded(index):
    """What is in work counts until it is answered."""
    tight = Limits(bodies_bytes=150_000, workers=1)
    with serving(index, limits=tight) as (address, client):
        with socket.create_connection(address, timeout=10) as connection:
            connection.sendall(start_of_upload(200_000) + bytes(120_000))
            time.sleep(0.1)
            answer = client.post("/api/v1/encode", files={"image": bytes(60_000)})
            is_problem(answer, 503, "busy")
            assert answer.headers["retry-after"]
        time.sleep(0.1)  # the upload that was broken off is forgotten
        is_problem(client.post("/api/v1/encode", files={"image": bytes(60_000)}), 422)


def test_pixels_beyond_the_limit_are_refused(index):
    with open_client(index, limits=SMALL) as client:
        picture = jpeg(1001, 1000)
        told = is_problem(client.post("/api/v1/encode", files={"image": picture}), 422)
        assert "1,000,000" in told["detail"]


def test_a_long_body_is_refused_by_its_announcement(index):
    with serving(index) as (address, client):
        with socket.create_connection(address, timeout=10) as connection:
            started = time.monotonic()
            connection.sendall(start_of_upload(100_000_000))
            head = connection.recv(65536)  # though 100 MB never come
            assert head.startswith(b"HTTP/1.1 413")
            assert time.monotonic() - started < 1.5
        answer = client.post("/api/v1/encode", files={"image": bytes(100_000_000)})
        is_problem(answer, 413, "too-large")
        assert client.get("/api/v1/health").status_code == 200


def test_a_long_body_without_an_announcement_is_refused_while_it_comes(index):
    sent = 0

    def chunks():
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n'
        for _ in range(10_000):
            sent += 100_000
            yield bytes(100_000)

    with serving(index, limits=SMALL) as (_, client):
        headers = {"Content-Type": "multipart/form-data; boundary=b"}
        answer = client.post("/api/v1/encode", content=chunks(), headers=headers)
        is_problem(answer, 413, "too-large")
        assert client.get("/api/v1/health").status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_a_slow_body_is_given_up(index, path):
    with serving(index, limits=SMALL) as (address, client):
        started = time.monotonic()
        with socket.create_connection(address, timeout=10) as connection:
            connection.sendall(start_of_upload(200_000, path))
            stop = threading.Event()

            def trickle():
                while not stop.wait(0.05):
                    try:
                        connection.sendall(b"x")
                    except OSError:
                        return

            dripping = threading.Thread(target=trickle)
            dripping.start()
            try:
                answer = read_answer(connection)
            except ConnectionResetError:
                answer = b""
            finally:
                stop.set()
                dripping.join()
        assert time.monotonic() - started < 6  # the server hung up, not the client
        if path == "/api/v1/encode":
            assert answer.startswith(b"HTTP/1.1 408"), answer
            assert b"slow-upload" in answer
        assert client.get("/api/v1/health").status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_slow_uploads_do_not_delay_others(index, path):
    patient = Limits(body_seconds=600)  # whoever had to wait for them would be given up first
    with serving(index, limits=patient) as (address, client):
        slow = [socket.create_connection(address, timeout=10) for _ in range(50)]
        try:
            for connection in slow:
                connection.sendall(start_of_upload(200_000, path))
            assert client.get("/api/v1/health").status_code == 200
            for _ in range(3):
                answer = client.post("/api/v1/encode", files={"image": jpeg()})
                assert answer.status_code == 200
            if path == "/api/v1/encode":  # they are all being waited for
                assert not select.select(slow, [], [], 0)[0]
        finally:
            for connection in slow:
                connection.close()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--b",
        b"--b\r\n",
        b"--b--\r\n",
        b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n",
        b"no boundary at all",
        b'--b\r\nContent-Disposition: form-data; name="id"; filename="\xff"\r\n\r\nx\r\n--b--\r\n',
    ],
)
def test_broken_forms_are_refused(client, body):
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    answer = client.post("/api/v1/search", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    is_problem(answer, answer.status_code)
    headers = {"Content-Type": "multipart/form-data"}
    is_problem(client.post("/api/v1/search", content=body, headers=headers), 400)


def test_errors_of_our_own_are_problems_and_tell_nothing(index, monkeypatch, caplog):
    with open_client(index) as client:
        monkeypatch.setattr(index.store, "labels", lambda: 1 / 0)
        told = is_problem(client.get("/api/v1/index"), 500, "defect")
        assert "division" not in str(told)
        assert "division" in caplog.text
        assert client.get("/api/v1/health").status_code == 200
        assert 'status="500"' in client.get("/metrics").text
