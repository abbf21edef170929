"""Reading an index where not one byte can be written, as on a full disk."""

import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from softhash.errors import InputError
from softhash.index.expressions import build_where
from softhash.index.items import Entry
from softhash.index.local import LocalStore
from softhash.index.store import Meta

resource = pytest.importorskip("resource", reason="Windows has no limit on the size of files")


@contextmanager
def nothing_can_be_written():
    """Let every file stay as long as it is; a write that would make it longer fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # Python ignores the signal
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def full_disk(folder):
    """Mount a small disk on a folder, and yield a function that fills it."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")

    def fill():
        with (folder / "rest").open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(4096)):
                pass
        assert os.statvfs(folder).f_bavail == 0

    try:
        yield fill
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def make(folder):
    store = LocalStore.create(str(folder), Meta(8))
    entries = [Entry(f"{i}.jpg", ("sea",) if i % 2 else ()) for i in range(9)]
    store.add(np.arange(9, dtype=np.uint8)[:, np.newaxis], entries)
    return store


def check_reading(folder):
    """Open, search, filter, list and verify."""
    store = LocalStore.open(str(folder))
    query = np.array([[4]], np.uint8)
    assert [near.id for near in store.search(query, 3)[0]] == [4, 0, 5]
    assert [near.id for near in store.search(query, 2, where=build_where(("sea",)))[0]] == [5, 1]
    assert [item.file_name for item in store.items(limit=2)] == ["0.jpg", "1.jpg"]
    assert len(list(store.scan())) == len(store) == 9
    assert store.verify() == []
    store.close()


def test_an_index_is_read_where_nothing_can_be_written(tmp_path):
    make(tmp_path / "index").close()
    with nothing_can_be_written():
        check_reading(tmp_path / "index")


def test_an_index_is_read_on_a_full_disk(tmp_path):
    with full_disk(tmp_path / "disk") as fill:
        folder = tmp_path / "disk" / "index"
        make(folder).close()
        fill()
        check_reading(folder)
        with pytest.raises(InputError, match="is the disk full"):
            LocalStore.open(str(folder), writable=True)
        check_reading(folder)


def test_what_is_written_to_an_index_is_read_on_a_full_disk(tmp_path):
    with full_disk(tmp_path / "disk") as fill:
        writer = make(tmp_path / "disk" / "index")
        fill()
        check_reading(tmp_path / "disk" / "index")
        writer.close()


def test_a_reader_on_a_full_disk_sees_what_is_written_when_there_is_room_again(tmp_path):
    with full_disk(tmp_path / "disk") as fill:
        folder = tmp_path / "disk" / "index"
        make(folder).close()
        fill()
        reader = LocalStore.open(str(folder))
        assert len(reader) == 9
        (tmp_path / "disk" / "rest").unlink()
        writer = LocalStore.open(str(folder), writable=True)
        writer.add(np.array([[200]], np.uint8), [Entry("new.jpg")])
        assert len(reader) == 10
        assert reader.search(np.array([[200]], np.uint8), 1)[0][0].id == 9
        reader.close()
        writer.close()


@pytest.mark.slow
def test_a_command_searches_where_nothing_can_be_written(tmp_path):
    make(tmp_path / "index").close()
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
        "from softhash.cli import main; sys.argv[0] = 'softhash'; main()"
    )
    command = [sys.executable, "-c", limited, "search", "--code", "04", "-k", "1", "--json"]
    done = subprocess.run(
        [*command, "-i", str(tmp_path / "index")],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert '"4.jpg"' in done.stdout
