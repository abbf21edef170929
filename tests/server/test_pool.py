"""Work in threads: bounded, refused when there is too much, and never in each other's way."""

import asyncio
import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import pytest
from serving import is_problem, jpeg, open_client

from softhash.server import Limits
from softhash.server import service as service_module
from softhash.server.pool import Pool
from softhash.server.problems import Problem


def test_what_does_not_fit_is_refused_and_room_comes_back():
    async def scenario():
        pool, gate = Pool("testing", 1, 1, 10), threading.Event()
        running = asyncio.create_task(pool.run(gate.wait))
        waiting = asyncio.create_task(pool.run(lambda: "done"))
        await asyncio.sleep(0)
        with pytest.raises(Problem) as refused:
            await pool.run(lambda: "too much")
        assert (refused.value.status_code, refused.value.headers) == (503, {"Retry-After": "1"})
        gate.set()
        assert (await running, await waiting) == (True, "done")
        assert await pool.run(lambda: "again") == "again"
        pool.close()

    asyncio.run(scenario())


def test_work_that_takes_too_long_is_given_up_but_keeps_its_thread():
    async def scenario():
        pool, gate = Pool("testing", 1, 0, 0.05), threading.Event()
        with pytest.raises(Problem) as slow:
            await pool.run(gate.wait)
        assert (slow.value.status_code, slow.value.kind) == (503, "slow")
        with pytest.raises(Problem) as busy:
            await pool.run(lambda: None)
        assert busy.value.kind == "busy"
        gate.set()
        while pool._room._value == 0:
            await asyncio.sleep(0.001)
        assert await pool.run(lambda: "free") == "free"
        pool.close()

    asyncio.run(scenario())


def test_an_error_of_the_work_itself_is_not_taken_for_a_late_end():
    async def scenario():
        pool = Pool("testing", 1, 0, 5)

        def late():
            raise TimeoutError("of its own")

        with pytest.raises(TimeoutError, match="of its own"):
            await pool.run(late)
        pool.close()

    asyncio.run(scenario())


@pytest.fixture
def stuck(monkeypatch):
    """Decoding that waits, for pictures of one size, until the test lets it go on."""
    gate, inside = threading.Event(), threading.Semaphore(0)
    honest = service_module.open_image

    def waits(data, **options):
        if len(data) == len(SLOW):
            inside.release()
            gate.wait(30)
        return honest(data, **options)

    monkeypatch.setattr(service_module, "open_image", waits)
    yield gate, inside
    gate.set()


SLOW = jpeg(77, 55)


def test_a_slow_picture_stops_nobody_else_and_a_full_pool_says_so(index, stuck):
    gate, inside = stuck
    limits = Limits(workers=2, waiting=1, work_seconds=20)
    with open_client(index, limits=limits) as client, ThreadPoolExecutor(4) as threads:

        def send(picture):
            return client.post("/api/v1/encode", files={"image": picture})

        slow = [threads.submit(send, SLOW)]
        inside.acquire(timeout=10)
        assert send(jpeg()).status_code == 200  # the other thread is free
        slow.append(threads.submit(send, SLOW))
        inside.acquire(timeout=10)
        assert client.post("/api/v1/search", data={"code": "abc"}).status_code == 200
        assert client.get("/api/v1/health").status_code == 200
        assert not any(one.done() for one in slow)  # answered beside them, not after them
        two = [threads.submit(send, jpeg()) for _ in range(2)]  # there is room for one to wait
        done, waiting = wait(two, timeout=10, return_when=FIRST_COMPLETED)
        (refused,) = (one.result() for one in done)
        told = is_problem(refused, 503, "busy")
        assert refused.headers["retry-after"]
        assert told["hint"]
        gate.set()
        assert {one.result().status_code for one in [*slow, *waiting]} == {200}


def test_decoding_has_a_time_limit(index, stuck):
    with open_client(index, limits=Limits(work_seconds=0.2)) as client:
        is_problem(client.post("/api/v1/encode", files={"image": SLOW}), 503, "slow")
        assert client.get("/api/v1/health").status_code == 200


def test_searches_survive_removals_in_between(writer, writable, monkeypatch):
    honest, calls = writable.store.get, []

    def vanishing(ids):
        calls.append(ids)
        if len(calls) == 1:
            writable.remove(ids[0])
        return honest(ids)

    monkeypatch.setattr(writable.store, "get", vanishing)
    answer = writer.post("/api/v1/search", data={"code": "000", "k": 3})
    assert answer.status_code == 200
    assert len(answer.json()["hits"]) == 3
    assert calls[0][0] not in [hit["id"] for hit in answer.json()["hits"]]
