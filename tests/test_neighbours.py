"""What is written under another name first: permissions, sweeping, and what a kill leaves."""

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from softhash.errors import AlreadyExistsError, InputError
from softhash.files import neighbour, replace_folder, sweep, take_lock, write_parts, write_whole
from softhash.files.neighbours import _sweep_once
from softhash.model.folder import check_free, read_config, write

LEFT = ".model.softhash-0123456789abcdef"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes and no umask")


@pytest.fixture(autouse=True)
def _as_a_new_process():
    _sweep_once.cache_clear()


@pytest.fixture
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def leave(folder, *contents, name=LEFT):
    """Make what a process that was killed leaves."""
    left = folder / name
    left.mkdir()
    (left / "lock").touch()
    for content in contents:
        (left / content).mkdir()
        (left / content / "config.json").write_text(content)
    return left


@POSIX
@pytest.mark.parametrize("umask", [0o077, 0o027, 0o002], indirect=True)
def test_the_umask_decides_who_may_read_and_write(tmp_path, umask):
    for _ in range(2):  # written, and written over
        write_whole(tmp_path / "codes.npy", b"0", force=True)
        write(tmp_path / "model", {"config.json": b"{}"}, force=True)
    assert mode(tmp_path / "codes.npy") == 0o666 & ~umask
    assert mode(tmp_path / "model") == 0o777 & ~umask
    assert mode(tmp_path / "model" / "config.json") == 0o666 & ~umask


@POSIX
@pytest.mark.parametrize("umask", [0o022], indirect=True)
def test_what_is_replaced_takes_the_mode_of_the_umask_and_not_that_of_before(tmp_path, umask):
    write_whole(tmp_path / "codes.npy", b"0")
    (tmp_path / "codes.npy").chmod(0o600)
    write_whole(tmp_path / "codes.npy", b"1", force=True)
    assert mode(tmp_path / "codes.npy") == 0o644


def test_nothing_is_left_of_a_neighbour(tmp_path):
    with neighbour(tmp_path / "report.json") as new:
        new.write_text("half")
    write_parts(tmp_path / "report.json", [b"wh", b"ole"])
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    assert (tmp_path / "report.json").read_bytes() == b"whole"


def test_a_neighbour_says_what_it_belongs_to_and_two_have_two_names(tmp_path):
    with neighbour(tmp_path / "a.npy") as one, neighbour(tmp_path / "a.npy") as other:
        assert one != other
        assert {path.name[:15] for path in tmp_path.iterdir()} == {".a.npy.softhash"}


def test_the_next_write_sweeps_what_a_kill_left(tmp_path):
    leave(tmp_path, "new")
    leave(tmp_path, name=".photos.index.softhash-00000000000000ff")
    write_whole(tmp_path / "other.json", "{}")
    assert [path.name for path in tmp_path.iterdir()] == ["other.json"]


def test_a_folder_is_swept_once_by_a_process(tmp_path):
    write_whole(tmp_path / "one", "")
    left = leave(tmp_path, "new")
    write_whole(tmp_path / "two", "")
    assert left.exists()


def test_what_is_in_use_is_not_swept(tmp_path):
    with neighbour(tmp_path / "model") as new:
        new.mkdir()
        sweep(tmp_path)
        assert new.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_names_of_others_are_not_swept(tmp_path):
    names = [".model.bak", ".model.softhash-x", "model.softhash-0123456789abcdef", ".softhash-0"]
    for name in names:
        leave(tmp_path, "old", name=name)
    (tmp_path / LEFT).write_text("a file of that name")
    sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*names, LEFT}


@POSIX
def test_links_and_folders_of_other_users_are_not_swept(tmp_path, monkeypatch):
    outside = leave(tmp_path, "old", name="outside")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / LEFT).symlink_to(outside)
    sweep(inside)
    assert (outside / "old").exists()
    left = leave(tmp_path, "old")
    monkeypatch.setattr(os, "geteuid", lambda: left.stat().st_uid + 1)
    sweep(tmp_path)
    assert left.exists()
    assert not (tmp_path / "model").exists()


def test_where_nothing_can_be_locked_files_are_written_and_nothing_is_swept(tmp_path, monkeypatch):
    left = leave(tmp_path, "new")

    def unsupported(path):
        raise NotImplementedError

    monkeypatch.setattr("softhash.files.neighbours.take_lock", unsupported)
    write_whole(tmp_path / "one", "1")
    assert (tmp_path / "one").read_text() == "1"
    assert {path.name for path in tmp_path.iterdir()} == {"one", left.name}


def test_a_sweep_that_comes_between_a_folder_and_its_lock_costs_another_name(tmp_path, monkeypatch):
    seen = []

    def swept_first(path):
        seen.append(path.parent)
        if len(seen) == 1:  # it is removed
            sweep(tmp_path)
        if len(seen) == 2:  # the sweep has locked it just now
            return None
        return take_lock(path)

    monkeypatch.setattr("softhash.files.neighbours._sweep_once", lambda folder: None)
    monkeypatch.setattr(
        "softhash.files.neighbours.take_lock",
        lambda path: take_lock(path) if seen and path.parent == seen[0] else swept_first(path),
    )
    with neighbour(tmp_path / "model") as new:
        assert new.parent not in seen[:2]
        assert new.parent.is_dir()


def test_many_writers_and_sweepers_lose_nothing(tmp_path):
    failed = []

    def work(number):
        try:
            for round in range(20):
                sweep(tmp_path)
                write_parts(tmp_path / f"{number}", [b"%d" % round])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        f"{n}": b"19" for n in range(4)
    }


@pytest.mark.parametrize("at_once", [True, False])
def test_a_folder_takes_the_place_of_another(tmp_path, monkeypatch, at_once):
    if not at_once:
        monkeypatch.setattr("softhash.files.neighbours.exchange", lambda *names: False)
    for content in (b"old", b"new"):
        with neighbour(tmp_path / "model") as new:
            new.mkdir()
            (new / "file").write_bytes(content)
            replace_folder(new, tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model" / "file").read_bytes() == b"new"


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="no such call elsewhere")
def test_the_name_of_a_model_is_never_without_one(tmp_path, monkeypatch):
    def forbidden(*names):
        raise AssertionError(names)

    write(tmp_path / "model", {"config.json": b"old"})
    monkeypatch.setattr(Path, "rename", forbidden)
    write(tmp_path / "model", {"config.json": b"new"}, force=True)
    assert (tmp_path / "model" / "config.json").read_bytes() == b"new"


def test_a_model_that_had_stepped_aside_comes_back(tmp_path):
    leave(tmp_path, "old", "new")
    with pytest.raises(AlreadyExistsError):  # training asks before it begins
        check_free(tmp_path / "model", force=False)
    assert (tmp_path / "model" / "config.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_model_that_had_stepped_aside_is_found_by_who_reads_it(tmp_path):
    leave(tmp_path, "old", "new")
    with pytest.raises(ValueError, match=r"lacks model\.safetensors"):  # found, if not a whole one
        read_config(tmp_path / "model")
    assert (tmp_path / "model" / "config.json").read_text() == "old"


def test_a_model_that_was_replaced_stays_replaced(tmp_path):
    write(tmp_path / "model", {"config.json": b"new"})
    leave(tmp_path, "old")
    sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model" / "config.json").read_bytes() == b"new"


def test_nobody_brings_back_what_a_live_process_is_about_to_replace(tmp_path, monkeypatch):
    write(tmp_path / "model", {"config.json": b"old"})
    rename = Path.rename

    def looked_at(path, target):
        rename(path, target)
        if target.name == "old":
            sweep(tmp_path)  # as another process that looks for the model would
            assert not (tmp_path / "model").exists()

    monkeypatch.setattr("softhash.files.neighbours.exchange", lambda *names: False)
    monkeypatch.setattr(Path, "rename", looked_at)
    write(tmp_path / "model", {"config.json": b"new"}, force=True)
    assert (tmp_path / "model" / "config.json").read_bytes() == b"new"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc names what a handle belongs to")
def test_a_rename_is_followed_by_a_sync_of_its_folder(tmp_path, monkeypatch):
    calls = []
    fsync, rename = os.fsync, os.replace

    def synced(handle):
        calls.append(os.path.realpath(f"/proc/self/fd/{handle}"))
        fsync(handle)

    def renamed(*names):
        calls.append("rename")
        rename(*names)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    write_whole(tmp_path / "report.json", "{}")
    assert calls[1:] == ["rename", str(tmp_path)]
    assert calls[0].endswith("/new")


@POSIX
def test_a_folder_that_cannot_be_synced_at_all_is_written_to(tmp_path, monkeypatch):
    def unsupported(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "fsync", unsupported)
    write_whole(tmp_path / "report.json", "{}")
    assert (tmp_path / "report.json").exists()


def test_a_lock_that_fails_for_want_of_room_leaves_nothing(tmp_path, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("softhash.files.neighbours.take_lock", full)
    with pytest.raises(InputError, match="No space left"):
        write_whole(tmp_path / "one", "1")
    assert list(tmp_path.iterdir()) == []
