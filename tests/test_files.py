"""Files that appear whole, folders that are renamed, locks, and the cache folder."""

import os
import sys
from pathlib import Path

import pytest

from softhash.errors import InputError
from softhash.files import (
    WRITING,
    cache_folder,
    hash_file,
    rename_folder,
    sync_data,
    sync_folder,
    take_lock,
    write_at,
    write_whole,
)


def test_hash_file_is_the_sha256_of_the_content(tmp_path):
    (tmp_path / "abc").write_bytes(b"abc")
    assert hash_file(tmp_path / "abc") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2
    )
    assert hash_file(tmp_path / "none") is None


def test_write_whole_keeps_an_existing_file_unless_forced(tmp_path):
    path = tmp_path / "report.json"
    write_whole(path, "one")
    with pytest.raises(InputError, match="force=True"):
        write_whole(path, "two")
    assert path.read_text() == "one"
    write_whole(path, b"two", force=True)
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_write_whole_names_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot write"):
        write_whole(tmp_path / "missing" / "report.json", "one")


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    write_whole(path, "old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="No space left"):
        write_whole(path, "new", force=True)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system has its own folder")
def test_the_cache_folder_is_where_xdg_has_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_folder() == tmp_path / "cache" / "softhash"
    for unset in ("", None):
        if unset is None:
            monkeypatch.delenv("XDG_CACHE_HOME")
        else:
            monkeypatch.setenv("XDG_CACHE_HOME", unset)
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        assert cache_folder() == tmp_path / "home" / ".cache" / "softhash"


def test_a_folder_takes_the_place_of_an_empty_one_but_of_no_other(tmp_path):
    for name in ("new", "other", "empty", "full"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    (tmp_path / "empty" / "file").unlink()
    rename_folder(tmp_path / "new", tmp_path / "empty")
    assert (tmp_path / "empty" / "file").read_text() == "new"
    with pytest.raises(OSError, match="full"):
        rename_folder(tmp_path / "other", tmp_path / "full")
    assert (tmp_path / "full" / "file").read_text() == "full"


@pytest.mark.parametrize("platform", [sys.platform, "win32"])
def test_bytes_are_written_at_their_offset(tmp_path, monkeypatch, platform):
    path = tmp_path / "records.bin"
    path.write_bytes(b"0123456789")
    monkeypatch.setattr(sys, "platform", platform)  # Windows cannot write without moving
    handle = os.open(path, WRITING)
    try:
        write_at(handle, b"ab", 4)
        write_at(handle, b"\r\n", 9)
        sync_data(handle)
    finally:
        os.close(handle)
    assert path.read_bytes() == b"0123ab678\r\n"


def test_a_folder_of_windows_is_not_synced(tmp_path, monkeypatch):
    sync_folder(tmp_path)
    with pytest.raises(FileNotFoundError):
        sync_folder(tmp_path / "gone")
    monkeypatch.setattr(sys, "platform", "win32")
    sync_folder(tmp_path / "gone")  # nothing is opened


def test_a_file_is_locked_once_and_stays(tmp_path):
    lock = take_lock(tmp_path / "lock")
    assert lock is not None
    assert take_lock(tmp_path / "lock") is None
    lock.release()
    again = take_lock(tmp_path / "lock")
    assert again is not None
    again.release()
    assert (tmp_path / "lock").exists()


def test_a_lock_makes_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        take_lock(tmp_path / "gone" / "lock")
    assert list(Path(tmp_path).iterdir()) == []
