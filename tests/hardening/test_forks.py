"""An index across a fork: what was opened before it works after it, in both processes."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
]

BEGIN = """
import multiprocessing, os, signal, sys, threading
import numpy as np
from softhash import _threads
from softhash.errors import IndexBusyError, SofthashError, UsageError
from softhash.hamming import _cpu
from softhash.index.expressions import build_where
from softhash.index.items import Entry
from softhash.index.local import LocalStore
from softhash.index.store import Meta

# several threads search small indexes
_cpu.WORDS_PER_THREAD, _threads.usable_cores = 64, lambda: 3
codes = np.random.default_rng(0).integers(0, 256, (3000, 8), np.uint8)
writer = LocalStore.create(sys.argv[1], Meta(64))
writer.add(codes, [Entry(f"{i}.jpg", ("sea",) if i % 9 else ("sky",)) for i in range(3000)])
reader = LocalStore.open(sys.argv[1])

def answers(store=reader):
    near = store.search(codes[:2], 5), store.search(codes[:1], 3, where=build_where(("sky",)))
    return near, store.get([one.id for one in near[0][0]]), len(store), store.labels()

def in_child(work):
    \"\"\"Return what work returns in a child: True, or else the test fails.\"\"\"
    child = os.fork()
    if not child:
        signal.alarm(20)
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0

expected = answers()
"""


def _run(tmp_path, script):
    code = BEGIN + textwrap.dedent(script) + "\nprint('done')"
    arguments = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]
    done = subprocess.run(
        [*arguments, tmp_path / "index"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_a_forked_child_searches_and_so_does_its_parent(tmp_path):
    _run(
        tmp_path,
        """
        assert in_child(lambda: answers() == expected)
        assert in_child(lambda: in_child(lambda: answers() == expected) and answers() == expected)
        writer.remove([0])
        assert in_child(lambda: len(reader) == 2999)
        assert len(reader) == 2999
        expected = answers()

        def ask(_):
            return answers() == expected

        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map_async(ask, range(4)).get(timeout=30) == [True] * 4
        """,
    )


def test_a_child_that_was_forked_while_threads_search_searches(tmp_path):
    _run(
        tmp_path,
        """
        stop = threading.Event()

        def keep_asking():
            while not stop.is_set():
                assert answers() == expected

        def keep_writing():
            while not stop.is_set():
                writer.set_root("anywhere")

        threads = [threading.Thread(target=one) for one in [keep_asking] * 2 + [keep_writing]]
        for thread in threads:
            thread.start()
        assert all(in_child(lambda: answers() == expected) for _ in range(15))
        stop.set()
        for thread in threads:
            thread.join()
        """,
    )


def test_a_child_cannot_write_and_the_lock_stays_with_its_parent(tmp_path):
    _run(
        tmp_path,
        """
        def cannot_write():
            try:
                writer.remove([0])
            except UsageError as error:
                assert "opened for writing by the process that this one was forked" in str(error)
                return answers(writer) == expected  # it reads
            return False

        def is_busy():
            try:
                LocalStore.open(sys.argv[1], writable=True)
            except IndexBusyError:
                return True
            return False

        assert in_child(cannot_write)
        assert in_child(lambda: writer.close() or is_busy())
        assert in_child(is_busy)
        assert writer.remove([0]) == 1
        assert len(reader) == 2999
        writer.close()
        assert in_child(lambda: not is_busy())
        """,
    )


def test_a_child_reads_a_database_whose_log_another_process_cleared(tmp_path):
    _run(
        tmp_path,
        """
        ready, go = os.pipe(), os.pipe()
        child = os.fork()
        if not child:
            signal.alarm(20)
            before = len(reader)
            os.write(ready[1], b".")
            os.read(go[0], 1)  # the parent has written, and closed the last connection but ours
            os._exit(0 if (before, len(reader)) == (3000, 2990) else 1)
        os.read(ready[0], 1)
        writer.remove(range(10))
        writer.close()
        reader.close()
        LocalStore.open(sys.argv[1], writable=True).close()
        os.write(go[1], b".")
        assert os.waitpid(child, 0)[1] == 0
        """,
    )


def test_a_child_encodes_with_the_model_of_its_parent_and_ends(tiny_model):
    script = """
    import os, signal, sys
    import numpy as np
    from softhash.model.hasher import Hasher

    hasher = Hasher.load(sys.argv[1])
    picture = np.arange(3072, dtype=np.uint8).reshape(32, 32, 3)
    expected = hasher.encode(picture, device="cpu").tolist()
    child = os.fork()
    if not child:
        signal.alarm(20)
        sys.exit(hasher.encode(picture, device="cpu").tolist() != expected)
    assert os.waitpid(child, 0)[1] == 0
    assert hasher.encode(picture, device="cpu").tolist() == expected
    """
    arguments = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(script)]
    done = subprocess.run([*arguments, tiny_model], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
