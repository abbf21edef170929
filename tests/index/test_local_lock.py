"""The lock of a local index, and the note of confirmed changes beside it."""

import subprocess
import sys
import threading

import pytest

from softhash.errors import IndexBusyError, IndexDamagedError, InputError
from softhash.index.local._lock import CONFIRMED, LOCK, WriteLock, check_confirmed, confirmed


def test_a_second_writer_is_kept_out_until_the_first_is_done(tmp_path):
    first = WriteLock(tmp_path)
    with pytest.raises(IndexBusyError, match="written to by another process; wait until it is"):
        WriteLock(tmp_path)
    first.release()
    WriteLock(tmp_path).release()


def test_any_thread_can_release_it_and_twice_is_fine(tmp_path):
    lock = WriteLock(tmp_path)
    thread = threading.Thread(target=lock.release)
    thread.start()
    thread.join()
    lock.release()
    WriteLock(tmp_path).release()


def test_a_process_that_dies_leaves_no_lock(tmp_path):
    script = (
        "import os, sys, pathlib\n"
        "from softhash.index.local._lock import WriteLock\n"
        "lock = WriteLock(pathlib.Path(sys.argv[1]))\n"
        "lock.confirm(7)\n"
        "os._exit(3)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert done.returncode == 3
    lock = WriteLock(tmp_path)
    assert lock.at_least == confirmed(tmp_path) == 7
    lock.release()


def test_confirmed_changes_are_read_while_somebody_writes(tmp_path):
    lock = WriteLock(tmp_path)
    assert lock.at_least == confirmed(tmp_path) == 0
    for change in (1, 2, 12):
        lock.confirm(change)
        assert confirmed(tmp_path) == change
    lock.release()
    lock.confirm(13)  # a note that cannot be made does no harm
    assert confirmed(tmp_path) == 12


def test_an_index_of_an_earlier_version_has_its_note_in_the_lock(tmp_path):
    (tmp_path / LOCK).write_bytes(b"%020d\n" % 5)
    assert confirmed(tmp_path) == 5
    lock = WriteLock(tmp_path)
    assert lock.at_least == 5
    lock.confirm(6)
    lock.release()
    assert confirmed(tmp_path) == 6
    with pytest.raises(IndexDamagedError, match=r"last 2 of 6 changes.*delete confirmed"):
        check_confirmed(tmp_path, 4, confirmed(tmp_path))


def test_notes_that_are_not_numbers_count_as_none(tmp_path):
    (tmp_path / CONFIRMED).write_bytes(b"\0" * 21)
    (tmp_path / LOCK).write_bytes(b"")
    assert confirmed(tmp_path) == 0
    check_confirmed(tmp_path, 0, 0)


def test_a_folder_that_is_gone_cannot_be_written_to(tmp_path):
    with pytest.raises(InputError, match="cannot be written to"):
        WriteLock(tmp_path / "gone")
