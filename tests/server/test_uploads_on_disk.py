"""An upload that was answered is on disk, its name too; one that failed is gone for good."""

import os
import stat
import sys

import numpy as np
import pytest

from softhash.index import HammingIndex
from softhash.index.pictures import EncodedPicture
from softhash.server import uploads
from softhash.server.problems import Problem

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it syncs names by itself")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    return folder


@pytest.fixture
def index(tmp_path, folder):
    with HammingIndex.create(tmp_path / "index", bits=8) as index:
        index.set_root(folder)
        yield index


@pytest.fixture
def calls(monkeypatch):
    """Record, in their order, what is synced and what has been linked, added and removed."""
    calls = []
    fsync, link, unlink = os.fsync, os.link, os.unlink

    def synced(handle):
        calls.append("sync folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "sync file")
        fsync(handle)

    def linked(source, path):
        calls.append("link")
        link(source, path)

    def unlinked(path, **options):
        if str(path).endswith(".jpg"):
            calls.append("unlink")
        unlink(path, **options)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "link", linked)
    monkeypatch.setattr(os, "unlink", unlinked)
    return calls


def send(index, name="new.jpg"):
    u, features = np.array([-1.0] * 5 + [1, -1, 1]), np.ones(3)  # the code is 5
    return uploads.add(index, name, b"a picture", ("sea",), EncodedPicture(u, features, {}))


def test_an_upload_and_its_name_are_on_disk_before_it_is_in_the_index(
    index, calls, monkeypatch, folder
):
    add = index.store.add
    monkeypatch.setattr(index.store, "add", lambda *row: calls.append("add") or add(*row))
    send(index)
    assert calls[:4] == ["sync file", "link", "sync folder", "add"]
    assert [path.name for path in folder.iterdir()] == ["new.jpg"]


def test_a_file_that_could_not_be_added_is_gone_after_a_crash_too(
    index, calls, monkeypatch, folder
):
    def broken(codes, entries):
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(index.store, "add", broken)
    with pytest.raises(RuntimeError):
        send(index)
    assert calls[-2:] == ["unlink", "sync folder"]
    assert list(folder.iterdir()) == []


def test_a_name_that_could_not_be_synced_does_not_stay(index, monkeypatch, folder):
    def failing(folder):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(uploads, "sync_folder", failing)
    with pytest.raises(Problem, match="cannot be stored: Input/output") as raised:
        send(index)
    assert raised.value.kind == "storage"
    assert list(folder.iterdir()) == []
    assert len(index) == 0


@pytest.mark.parametrize("mask", [0o077, 0o002])
def test_the_umask_decides_who_may_read_an_upload(index, folder, mask):
    before = os.umask(mask)
    try:
        send(index)
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "new.jpg").stat().st_mode) == 0o666 & ~mask


def test_an_upload_whose_name_is_taken_leaves_nothing(index, folder):
    (folder / "new.jpg").write_bytes(b"another")
    with pytest.raises(Exception, match="already"):
        send(index)
    assert [path.read_bytes() for path in folder.iterdir()] == [b"another"]


def test_a_file_that_an_interrupted_upload_left_is_taken_over(index, folder):
    """It was killed between the file and the index; the client, not answered, sends it again."""
    (folder / "new.jpg").write_bytes(b"a picture")
    assert send(index).entry.file_name == "new.jpg"
    assert [item.entry.file_name for item in index.store.items()] == ["new.jpg"]


def test_a_file_that_was_there_before_stays_when_it_cannot_be_added(index, folder, monkeypatch):
    def broken(codes, entries):
        raise RuntimeError("the disk is full")

    (folder / "new.jpg").write_bytes(b"a picture")
    monkeypatch.setattr(index.store, "add", broken)
    with pytest.raises(RuntimeError):
        send(index)
    assert (folder / "new.jpg").read_bytes() == b"a picture"
