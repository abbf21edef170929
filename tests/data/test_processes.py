"""Decoding in processes: as in threads, whatever happens to a process."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile

from softhash.data import _decoder, processes
from softhash.data.image_set import ImageSet
from softhash.data.loading import decode_into, load
from softhash.data.processes import load_in_processes, useful_processes
from softhash.errors import InputError
from softhash.model import inputs

SIZE, COUNT = (24, 20), 70  # more than two jobs

pytestmark = pytest.mark.skipif(
    not hasattr(os, "memfd_create"), reason="memory cannot be shared between processes here"
)


@pytest.fixture
def images(tmp_path):
    """Pictures of which two cannot be read, with names that a line cannot hold as they are."""
    random = np.random.default_rng(0)
    names = [f"{number:02}.jpg" for number in range(COUNT)]
    names[3], names[4] = "two\nlines.jpg", os.fsdecode(b"not \xff text.jpg")
    for name in names:
        pixels = random.integers(0, 256, (40, 50, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / name, format="JPEG")
    (tmp_path / names[5]).write_bytes(b"no picture")
    (tmp_path / names[40]).unlink()
    return ImageSet(tmp_path, tuple(names), np.zeros((COUNT, 0), np.uint8), ())


@pytest.fixture
def started(monkeypatch):
    """The processes that were started."""
    found = []

    class Watched(subprocess.Popen):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            found.append(self)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    return found


def children(process):
    """The numbers of the processes that a process started, in order."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            if stat.read_text().rpartition(")")[2].split()[1] == str(process):
                found.append(int(stat.parent.name))
    return sorted(found)


def copied(batches):
    """All that batches hold, which the next one overwrites."""
    return [(one.positions.tolist(), one.pixels.copy(), one.broken) for one in batches]


@pytest.mark.parametrize("batch_size", [9, 64, 100])
def test_processes_give_the_batches_that_threads_give(images, batch_size, started):
    given = {"batch_size": batch_size}
    found = copied(load_in_processes(images, SIZE, processes=2, **given))
    for ours, theirs in zip(found, copied(load(images, SIZE, **given)), strict=True):
        assert ours[0] == theirs[0]
        np.testing.assert_array_equal(ours[1], theirs[1])
        assert ours[2] == theirs[2]
    assert [one.position for _, _, broken in found for one in broken] == [5, 40]
    assert all(process.returncode is not None for process in started)


def test_what_exceeds_the_share_of_a_process_is_decoded_with_all_of_the_memory(images, monkeypatch):
    monkeypatch.setattr(processes, "MAX_BYTES", 2)
    found = copied(load_in_processes(images, SIZE, batch_size=COUNT, processes=2))
    expected = copied(load(images, SIZE, batch_size=COUNT))
    np.testing.assert_array_equal(found[0][1], expected[0][1])


def test_stopping_early_leaves_no_process(images, started):
    batches = load_in_processes(images, SIZE, batch_size=8, processes=2)
    next(batches)
    begun = time.monotonic()
    batches.close()
    assert time.monotonic() - begun < 5
    assert all(process.returncode is not None for process in started)


def test_a_process_that_is_killed_is_an_error_and_ends_the_others(images, started):
    many = images.select(np.arange(20_000) % COUNT)  # far more than are in the making
    batches = load_in_processes(many, SIZE, batch_size=1, processes=2)
    next(batches)
    os.kill(children(started[0].pid)[1], signal.SIGKILL)
    with pytest.raises(InputError, match="a process that decodes pictures ended") as error:
        copied(batches)
    assert "workers" in error.value.hint
    assert all(process.returncode is not None for process in started)


def test_files_of_the_working_directory_are_not_run(images, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", ["", *sys.path])  # as in a notebook
    for name in ("json", "mmap", "signal", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(tmp_path)
    batches = load_in_processes(images, SIZE, batch_size=COUNT, processes=2)
    assert len(copied(batches)[0][0]) == COUNT - 2


def test_what_libraries_print_is_no_answer(images, tmp_path, monkeypatch):
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("print('[]'); print('hello')")
    monkeypatch.setattr(sys, "path", [os.fspath(folder), *sys.path, Path("not text")])
    found = copied(load_in_processes(images, SIZE, batch_size=16, processes=2))
    for ours, theirs in zip(found, copied(load(images, SIZE, batch_size=16)), strict=True):
        np.testing.assert_array_equal(ours[1], theirs[1])


def test_an_avif_is_decoded_by_the_process_that_asks(images, monkeypatch):
    Image.new("RGB", (40, 50), (200, 100, 0)).save(images.path(7), format="AVIF")
    asked = []

    def decode_here(images, position, target):
        asked.append(int(position))
        return decode_into(images, position, target)

    monkeypatch.setattr(processes, "decode_into", decode_here)
    found = copied(load_in_processes(images, SIZE, batch_size=COUNT, processes=2))
    assert sorted(asked) == [5, 7, 40]  # and those that cannot be read
    np.testing.assert_array_equal(found[0][1], copied(load(images, SIZE, batch_size=COUNT))[0][1])


def test_threads_decode_where_processes_cannot_be_started(images, monkeypatch, started):
    def refuse(*_, **__):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(_decoder.socket, "socketpair", refuse)
    found = copied(load_in_processes(images, SIZE, batch_size=10**9, processes=2))
    assert found[0][0] == copied(load(images, SIZE, batch_size=COUNT))[0][0]
    assert started == []


def test_threads_decode_where_not_all_processes_can_be_started(
    images, tmp_path, monkeypatch, started, capfd
):
    second = (
        "calls = []\nfork = os.fork\ndef refuse():\n    calls.append(1)\n    if len(calls) == 2:"
    )
    second += "\n        raise BlockingIOError(11, 'full')\n    return fork()\nos.fork = refuse\n"
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "sitecustomize.py").write_text(f"import os\n{second}")
    monkeypatch.setattr(sys, "path", [os.fspath(tmp_path / "modules"), *sys.path])
    found = copied(load_in_processes(images, SIZE, batch_size=COUNT, processes=3))
    np.testing.assert_array_equal(found[0][1], copied(load(images, SIZE, batch_size=COUNT))[0][1])
    assert [process.returncode for process in started] == [0]
    assert capfd.readouterr() == ("", "")


def test_threads_decode_where_the_interpreter_is_none(images, monkeypatch, started):
    monkeypatch.setattr(_decoder, "_python", lambda: ["true"])
    found = copied(load_in_processes(images, SIZE, batch_size=COUNT, processes=2))
    assert found[0][0] == copied(load(images, SIZE, batch_size=COUNT))[0][0]
    assert len(started) == 1


def test_connections_wait_whatever_the_program_has_set(images):
    socket.setdefaulttimeout(0.001)
    try:
        found = copied(load_in_processes(images, SIZE, batch_size=8, processes=2))
    finally:
        socket.setdefaulttimeout(None)
    assert sum(len(positions) for positions, _, _ in found) == COUNT - 2


def test_files_wait_in_bounded_memory(images, monkeypatch):
    pulled = []

    def chunks():
        for position in range(60):
            pulled.append(position)
            yield np.array([position]), [position]

    def read(position):
        return images.path(9).read_bytes()

    monkeypatch.setattr(processes, "BYTES_WAITING", 10 * len(read(0)))
    made = processes.decode_in_processes(
        chunks(), lambda job, target: None, read, SIZE, batch_size=1, processes=2
    )
    ahead = [len(pulled) - number for number, _ in enumerate(made)]
    assert len(ahead) == 60
    assert max(ahead) == 11


def test_processes_that_ended_are_reaped_by_their_own(images):
    code = (
        "import ctypes, sys; from pathlib import Path; import numpy as np\n"
        "ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # orphans are ours, as those of init\n"
        "from softhash.data.image_set import ImageSet\n"
        "from softhash.data.processes import load_in_processes\n"
        "images = ImageSet(Path(), (sys.argv[1],) * 99, np.zeros((99, 0), np.uint8), ())\n"
        "for rounds in range(2):\n"
        "    batches = load_in_processes(images, (64, 64), batch_size=9, processes=2)\n"
        "    next(batches); batches.close()\n"
        "print('done', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, os.fspath(images.path(0))]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as parent:
        assert parent.stdout.readline() == "done\n"
        assert children(parent.pid) == []
        parent.stdin.close()


def test_what_a_program_allows_pillow_holds_in_processes(images, monkeypatch):
    whole = images.path(9).read_bytes()
    images.path(9).write_bytes(whole[: len(whole) * 2 // 3])
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    found = copied(load_in_processes(images, SIZE, batch_size=COUNT, processes=2))
    assert [one.position for one in found[0][2]] == [5, 40]


@pytest.mark.parametrize(
    ("cores", "where", "name", "value", "expected"),
    [
        (8, sys, "frozen", False, 8),
        (7, sys, "frozen", False, 0),
        (64, sys, "frozen", False, 16),
        (8, sys, "frozen", True, 0),
        (8, sys, "executable", "", 0),
    ],
)
def test_processes_are_for_many_cores_and_a_python_of_its_own(
    monkeypatch, cores, where, name, value, expected
):
    monkeypatch.setattr(processes, "usable_cores", lambda: cores)
    monkeypatch.setattr(where, name, value, raising=False)
    assert useful_processes() == expected


def test_processes_end_with_the_one_that_started_them(images):
    code = (
        "import sys; from pathlib import Path; import numpy as np\n"
        "from softhash.data.image_set import ImageSet\n"
        "from softhash.data.processes import load_in_processes\n"
        "names = [sys.argv[1]] * 100_000\n"
        "images = ImageSet(Path(), tuple(names), np.zeros((len(names), 0), np.uint8), ())\n"
        "batches = load_in_processes(images, (64, 64), batch_size=64, processes=2)\n"
        "next(batches); print(sys.argv[0], flush=True)\n"
        "for _ in batches: pass\n"
    )
    path = os.fspath(images.path(0))
    command = [sys.executable, "-c", code, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        parent.stdout.readline()
        (first,) = children(parent.pid)
        team = [first, *children(first)]
        assert len(team) == 3
        parent.kill()
    until = time.monotonic() + 20
    while any(map(_runs, team)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(_runs, team))


def _runs(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("pictures", "useful", "workers", "chosen"),
    [(COUNT, 8, None, True), (COUNT, 0, None, False), (COUNT, 8, 2, False), (69, 8, None, False)],
)
def test_processes_are_for_many_pictures(images, monkeypatch, pictures, useful, workers, chosen):
    asked = []

    def in_processes(*_, processes, **__):
        asked.append(processes)
        yield from ()

    monkeypatch.setattr(inputs, "useful_processes", lambda: useful)
    monkeypatch.setattr(inputs, "MANY_PICTURES", COUNT)
    monkeypatch.setattr(inputs, "load_in_processes", in_processes)
    some = images.select(range(pictures))
    list(inputs.pictures(some, 24, 8, workers).batches)
    assert asked == ([useful] if chosen else [])
