"""A writer killed at any moment, a full disk: what was confirmed is there, and nothing by halves.

Step n does the same in every run, so that what must be in the index follows from how many steps
were confirmed: those, or one more when the kill came between its commit and its confirmation.
"""

import contextlib
import itertools
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import time

import numpy as np
import pytest

from softhash.errors import InputError
from softhash.index.items import Entry
from softhash.index.local import LocalStore
from softhash.index.store import Meta

BATCH = 20
BITS = 48

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["softhash.index.local"])


def batch(step, of, count):
    """Make the codes and entries that a step writes under the names of step `of`."""
    codes = np.random.default_rng([step, of]).integers(0, 256, (count, BITS // 8), dtype=np.uint8)
    labels = (f"label {step // 5}", "all")
    return codes, [Entry(f"{of}/{i}", labels, size=step) for i in range(count)]


def act(store, step):
    """Do a step: mostly adding, sometimes replacing, removing or revising what earlier ones did."""
    kind = step % 8
    if kind == 5:
        store.upsert(*batch(step, step - 2, BATCH // 2))
    elif kind == 6:
        names = [f"{step - 2}/{i}" for i in range(5)]
        store.remove(list(store.find_names(names).values()))
    elif kind == 7:
        names = store.find_names([f"{step - 5}/{i}" for i in range(4)])
        store.revise({id: Entry(name, ("revised",), size=step) for name, id in names.items()})
    else:
        store.add(*batch(step, step, BATCH))


class Model:
    """What must be in the index: a dict, told the same steps."""

    def __init__(self):
        self.items, self.steps = {}, 0

    def find_names(self, names):
        return {name: name for name in names if name in self.items}

    def add(self, codes, entries):
        self.items |= {
            entry.file_name: (bytes(code), entry)
            for code, entry in zip(codes, entries, strict=True)
        }

    upsert = add

    def remove(self, names):
        for name in names:
            del self.items[name]

    def revise(self, entries):
        self.items |= {name: (self.items[name][0], entry) for name, entry in entries.items()}

    def follow(self, steps):
        for step in range(self.steps, steps):
            act(self, step)
        self.steps = steps


def write_steps(folder, first, confirmed):
    """Write until killed."""
    store = LocalStore.open(folder, writable=True)
    for step in itertools.count(first):
        act(store, step)
        confirmed.send_bytes(str(step + 1).encode())


def contents(store):
    return {item.entry.file_name: (item.code, item.entry) for item in store.items(limit=10**6)}


def run_and_kill(folder, first, dice, steps):
    """Start a writer, kill it some time after it confirmed some steps; return what it confirmed."""
    receive, send = processes.Pipe(duplex=False)
    writer = processes.Process(target=write_steps, args=(str(folder), first, send))
    writer.start()
    send.close()
    confirmed = first
    for _ in range(dice.randrange(steps)):
        confirmed = int(receive.recv_bytes())
    time.sleep(dice.random() * 0.02)  # any moment will do
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    with contextlib.suppress(EOFError):
        while True:
            confirmed = int(receive.recv_bytes())
    return confirmed


def check(folder, model, confirmed, **options):
    """Compare an index with the model, which is taken to the step that the index shows."""
    with contextlib.closing(LocalStore.open(str(folder), **options)) as store:
        model.follow(confirmed)
        found = contents(store)
        if found != model.items:
            model.follow(confirmed + 1)
        assert found == model.items
        assert store.verify() == []
        name = next(iter(found), None)
        if name is not None:
            code = np.frombuffer(found[name][0], np.uint8)[np.newaxis]
            assert store.search(code, 1)[0][0].distance == 0
    return model.steps


def kill_often(folder, kills, steps=8):
    LocalStore.create(str(folder), Meta(BITS)).close()
    dice, model, first = random.Random(kills), Model(), 0
    for _ in range(kills):
        confirmed = run_and_kill(folder, first, dice, steps)
        check(folder, model, confirmed)  # a reader comes before anybody has repaired anything
        first = check(folder, model, model.steps, writable=True)
    return model


def test_killed_writer_loses_nothing_confirmed(tmp_path):
    model = kill_often(tmp_path / "index", kills=15)
    assert len(model.items) > 15 * BATCH


@pytest.mark.slow
def test_writer_killed_thirty_times_loses_nothing_confirmed(tmp_path):
    model = kill_often(tmp_path / "index", kills=30, steps=24)
    assert len(model.items) > 2_500


def fill_up(folder, limit, answer):
    """Write until there is no room; then the index must still answer, and not have grown."""
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    store = LocalStore.open(folder, writable=True)
    for step in itertools.count():
        try:
            store.add(*batch(step, step, 500))
        except InputError as error:
            answer.send((step, str(error), len(store), store.verify()))
            with contextlib.suppress(InputError):
                store.add(*batch(step, step, 500))
            break
    store.close()


def fill_and_check(folder, limit=0):
    LocalStore.create(str(folder), Meta(BITS)).close()
    receive, send = processes.Pipe(duplex=False)
    writer = processes.Process(target=fill_up, args=(str(folder), limit, send))
    writer.start()
    send.close()
    steps, message, count, wrong = receive.recv()
    writer.join()
    assert writer.exitcode == 0
    assert "cannot w" in message
    assert (count, wrong) == (steps * 500, [])
    return steps


@pytest.mark.parametrize("limit", [300_000, 1_000_000, 3_000_000])
def test_full_disk_loses_nothing_confirmed(tmp_path, limit):
    folder = tmp_path / "index"
    steps = fill_and_check(folder, limit)
    with contextlib.closing(LocalStore.open(str(folder), writable=True)) as store:
        assert len(store) == 500 * steps  # and there is room now
        store.add(*batch(steps, steps, 500))
        assert len(store) == 500 * (steps + 1)
        assert store.verify() == []


@pytest.fixture
def small_disk(tmp_path):
    """Mount a file system of 4 MB, where that is allowed."""
    if os.geteuid() or not shutil.which("mount"):
        pytest.skip("only root can mount a small file system")
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(tmp_path)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def test_really_full_disk_loses_nothing_confirmed(small_disk):
    folder = small_disk / "index"
    steps = fill_and_check(folder)
    assert steps > 2
    with contextlib.closing(LocalStore.open(str(folder))) as store:
        assert len(store) == 500 * steps
        assert store.verify() == []


class FailingOnce:
    """A connection whose next commit fails after the database did its work, or before."""

    def __init__(self, connection):
        self._connection, self.failed = connection, False

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def execute(self, query, *values):
        if query == "COMMIT" and not self.failed:
            self.failed = True
            raise sqlite3.OperationalError("disk I/O error")
        return self._connection.execute(query, *values)


@pytest.mark.parametrize("labels", [1, 70])  # 70 do not fit into the first file of label records
def test_failed_commit_adds_nothing_and_the_next_one_works(tmp_path, labels):
    store = LocalStore.create(str(tmp_path / "index"), Meta(BITS))
    store.add(*batch(0, 0, 10))
    session = store._writer._session
    session.connection = FailingOnce(session.connection)
    codes, entries = batch(1, 1, labels)
    entries = [entry._replace(labels=(f"{i}",)) for i, entry in enumerate(entries)]
    with pytest.raises(InputError, match="I/O error"):
        store.add(codes, entries)
    assert len(store) == 10
    assert store.verify() == []
    assert store.add(codes, entries) == list(range(10, 10 + labels))
    assert store.verify() == []
    assert len(list((tmp_path / "index").glob("labels-*.bin"))) == 1
    store.close()
