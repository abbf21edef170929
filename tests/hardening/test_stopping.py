"""A server that is to stop while a picture is in work: it ends in time, and nothing is lost."""

import signal
import sys
import threading
import time

import httpx
import pytest

from softhash.index import HammingIndex

from .samples import encoded, picture
from .served import TOKEN, served, write_served

pytestmark = pytest.mark.slow

STUCK = """
import sys, time
from softhash.cli import main
from softhash.server import Limits, service, start

honest = service.open_image
def stuck(data, **options):
    if len(data) == {size}:
        time.sleep(300)
    return honest(data, **options)

service.open_image = stuck
start.serve.__kwdefaults__["limits"] = Limits(stop_seconds=2, workers=2)
sys.argv[0] = "softhash"
main()
"""


def test_sigterm_ends_a_server_whose_threads_are_stuck(tmp_path):
    index, slow = write_served(tmp_path), encoded(picture(7, 99), "PNG")
    command = (sys.executable, "-c", STUCK.format(size=len(slow)))
    with served(index, command) as server:
        headers = {"Authorization": f"Bearer {TOKEN}"}

        def send(data, name):
            files = {"image": (name, data)}
            return httpx.post(
                f"{server.url}/api/v1/items", files=files, headers=headers, timeout=30
            )

        def hang(name):
            statuses.append(send(slow, name).status_code)

        statuses = []
        added = send(encoded(picture(99), "PNG"), "new.png")
        assert added.status_code == 201
        hanging = [threading.Thread(target=hang, args=(f"{name}.png",)) for name in "abcd"]
        for thread in hanging:
            thread.start()
        time.sleep(0.5)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 0
        assert time.monotonic() - started < 2 + 2
        for thread in hanging:
            thread.join()
        assert statuses == [503] * 4
        said = server.process.stderr.read()
        assert "Traceback" not in said, said
    with HammingIndex.open(index) as opened:
        assert opened.get(added.json()["id"]).file_name == "new.png"
        assert not opened.store.find_names(["a.png"])
