"""``softhash serve`` as a person runs it."""

import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest
from live import read_answer, start_of_upload
from serving import is_problem, jpeg

from softhash.errors import MissingExtraError
from softhash.index import HammingIndex
from softhash.model.hasher import Hasher
from softhash.server import create_app

COMMAND = (sys.executable, "-m", "softhash", "serve")


@contextmanager
def started(*arguments, program=COMMAND):
    """Start the command, and give its process, its address and what it said until it listened."""
    process = subprocess.Popen(
        [*program, *map(str, arguments), "--port", "0"], stderr=subprocess.PIPE, text=True
    )
    try:
        said = ""
        while "listening on" not in said:
            line = process.stderr.readline()
            assert line, f"it ended: {said}"
            said += line
        address = re.search(r"http://\S+", said)[0]
        yield process, address, said
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def place(index):
    return index.store.location


def failed(*arguments):
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=60
    )
    assert done.stderr.count("\n") == 1, done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_running_requests_end_before_the_server_does(place, number):
    picture = jpeg()
    tail = b"\r\n--b--\r\n"
    start = start_of_upload(0)
    length = len(start.partition(b"\r\n\r\n")[2]) + len(picture) + len(tail)
    with started(place) as (process, address, _):
        port = int(address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(start_of_upload(length) + picture[:100])
            assert httpx.get(f"{address}/api/v1/health").status_code == 200
            process.send_signal(number)
            while True:  # until it takes no one else
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                except OSError:
                    break
                time.sleep(0.01)
            connection.sendall(picture[100:] + tail)
            answer = read_answer(connection)
        assert answer.startswith(b"HTTP/1.1 200"), answer
        assert process.wait(20) == 0
        assert "Traceback" not in process.stderr.read()


def test_torch_stays_outside_and_other_hosts_too(place):
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: sys.stderr.write(f'torch {\"torch\" in sys.modules}\\n'))\n"
        "from softhash.cli import main\n"
        "sys.argv[0] = 'softhash'\n"
        "main()\n"
    )
    program = (sys.executable, "-c", code, "serve")
    allowed = "--allow-host", "Photos.example"
    with started(place, *allowed, program=program) as (process, address, _):
        files = {"image": jpeg()}
        answer = httpx.post(f"{address}/api/v1/search", files=files)
        assert answer.status_code == 200
        assert len(answer.json()["hits"]) == 10
        assert httpx.get(f"{address}/api/v1/report").status_code == 200
        is_problem(httpx.get(f"{address}/", headers={"Host": "evil.example"}), 421)
        for name in ("localhost", "photos.example", "192.168.1.5"):
            assert httpx.get(f"{address}/", headers={"Host": name}).status_code == 200
        process.terminate()
        assert process.wait(20) == 0
        assert "torch False" in process.stderr.read()


def test_a_token_is_made_where_none_is_given(hasher, tmp_path, drawn):
    from softhash.data.image_set import ImageSet

    with HammingIndex.create(tmp_path / "index", hasher) as made:
        made.add(ImageSet.read(drawn), device="cpu")
    code, said = failed(tmp_path / "index", "--writable", "--token", "a")
    assert (code, "fewer than 16" in said) == (2, True)
    with started(tmp_path / "index", "--writable") as (process, address, said):
        token = re.search(r"token for writing: (\S+)", said + process.stderr.readline())[1]
        assert len(token) >= 20
        url = f"{address}/api/v1/items/3"
        is_problem(httpx.delete(url), 401)
        assert httpx.delete(url, headers={"Authorization": f"Bearer {token}"}).status_code == 204
        assert httpx.get(f"{address}/api/v1/health").json()["items"] == 39


def test_what_cannot_be_served_is_one_line(place, tmp_path, tiny_model, tmp_path_factory):
    assert failed(tmp_path / "nowhere")[0] == 1
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = failed(place, "--port", port)
        assert (code, "--port" in said) == (2, True)
    code, said = failed(place, "--port", 99999)
    assert (code, "99999" in said) == (2, True)


def test_another_model_is_refused(place, tmp_path, tiny_backbone):
    other = Hasher("tiny", bits=12, seed=4)
    other.save(tmp_path / "other")
    code, said = failed(place, "-m", tmp_path / "other")
    assert code == 1
    assert "another model" in said


def test_many_read_while_one_writes_and_everybody_reads_what_was_written(writer):
    seen = []

    def read():
        while len(seen) < 12:
            answer = writer.post("/api/v1/search", data={"code": "000", "k": 50})
            assert answer.status_code == 200
        return True

    def write():
        for i in range(12):
            files = {"image": (f"new-{i}.png", jpeg(30 + i, 30, format="PNG"))}
            id = writer.post("/api/v1/items", files=files).json()["id"]
            hits = writer.post("/api/v1/search", data={"code": "000", "k": 50}).json()["hits"]
            assert id in [hit["id"] for hit in hits]
            if i % 2:
                assert writer.delete(f"/api/v1/items/{id}").status_code == 204
            seen.append(id)
        return True

    with ThreadPoolExecutor(4) as threads:
        done = [threads.submit(write), *(threads.submit(read) for _ in range(3))]
        assert all(one.result() for one in done)
    assert writer.get("/api/v1/health").json()["items"] == 6 + 6


def test_a_missing_extra_is_named(index, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(MissingExtraError, match=r"softhash\[serve\]"):
        create_app(index)


def test_answers_do_not_wait_for_the_network():
    """Without the option a body that follows its head in a second packet comes 40 ms later."""
    from softhash.server.running import _listen

    listening = _listen("127.0.0.1", 0)
    with listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
