"""Damage to a local index: torn tails are cut, everything else is named and nothing is skipped."""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

import numpy as np
import pytest
from test_local_store import fill

from softhash.errors import IndexDamagedError, InputError
from softhash.index.items import Entry
from softhash.index.local import LocalStore
from softhash.index.store import Meta

FILES = ("index.json", "items.sqlite", "codes.bin", "labels-1.bin")


@pytest.fixture
def folder(tmp_path):
    fill(tmp_path / "index")
    return tmp_path / "index"


@contextlib.contextmanager
def opened(folder, **options):
    with contextlib.closing(LocalStore.open(str(folder), **options)) as store:
        yield store


def test_torn_tail_is_cut_on_opening_for_writing(folder):
    sizes = {name: (folder / name).stat().st_size for name in ("codes.bin", "labels-1.bin")}
    for name in sizes:
        with (folder / name).open("ab") as file:
            file.write(b"half a record, and more")
    (folder / "labels-2.bin").write_bytes(b"a wider one that was not finished")
    with opened(folder) as store:
        assert len(store) == 300
        assert store.verify() == []
    with opened(folder, writable=True) as store:
        assert {name: (folder / name).stat().st_size for name in sizes} == sizes
        assert not (folder / "labels-2.bin").exists()
        assert store.verify() == []


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_truncated_file_is_named(folder, name, writable):
    os.truncate(folder / name, (folder / name).stat().st_size // 2)
    with pytest.raises(IndexDamagedError, match=name), opened(folder, writable=writable):
        pass


@pytest.mark.parametrize("writable", [False, True])
def test_text_that_is_no_text_is_damage(folder, writable):
    with contextlib.closing(sqlite3.connect(folder / "items.sqlite")) as connection:
        connection.execute("UPDATE state SET root = CAST(x'2ffe' AS TEXT)")
        connection.commit()
    with pytest.raises(IndexDamagedError, match="sqlite"), opened(folder, writable=writable):
        pass


@pytest.mark.parametrize("name", FILES)
def test_emptied_file_is_named(folder, name):
    os.truncate(folder / name, 0)
    with pytest.raises(IndexDamagedError, match=name), opened(folder):
        pass


@pytest.mark.parametrize("name", ["items.sqlite", "codes.bin", "labels-1.bin"])
def test_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(IndexDamagedError, match=name), opened(folder):
        pass


@pytest.mark.parametrize("name", ["codes.bin", "labels-1.bin"])
def test_deleted_file_is_made_again_on_opening_for_writing(folder, name):
    with opened(folder, writable=True) as store:
        store.remove([0, 100, 299])
        expected = (folder / name).read_bytes()
    (folder / name).unlink()
    with opened(folder, writable=True) as store:
        assert store.verify() == []
        assert (folder / name).read_bytes() == expected


@pytest.mark.parametrize("name", ["codes.bin", "labels-1.bin"])
def test_verify_names_the_record_that_was_overwritten(folder, name):
    with (folder / name).open("r+b") as file:
        file.seek(8 * 123)
        file.write(b"\xff")
    with opened(folder) as store:
        (line,) = store.verify()
    assert name in line
    assert "item 123 (123.jpg)" in line


def test_verify_finds_every_overwritten_byte_of_the_items(folder):
    """Not every byte of a database holds something; of those of a row none goes unnoticed."""
    data = (folder / "items.sqlite").read_bytes()
    place = data.index(b"123.jpg")
    for offset in (0, 3, 9, 15, 20):
        changed = bytearray(data)
        changed[place + offset] ^= 0x11
        (folder / "items.sqlite").write_bytes(changed)
        with opened(folder) as store:
            lines = store.verify()
        assert lines
        assert all("items.sqlite" in line for line in lines)


def test_verify_names_items_whose_row_was_changed_behind_its_back(folder):
    with contextlib.closing(sqlite3.connect(folder / "items.sqlite")) as connection:
        connection.execute("UPDATE items SET size = 5 WHERE id = 7")
        connection.execute("DELETE FROM items WHERE id = 9")
        connection.commit()
    with opened(folder) as store:
        lines = store.verify()
    assert any("items.sqlite" in line and "item 7 " in line for line in lines)
    assert any("item 9" in line for line in lines)
    assert any("299 items, but 300" in line for line in lines)


def test_verify_reports_progress(folder):
    seen = []
    with opened(folder) as store:
        store.verify(lambda done, total: seen.append((done, total)))
    assert seen[-1] == (300, 300)


def test_page_of_garbage_in_the_items_is_an_error_not_an_answer(folder):
    path = folder / "items.sqlite"
    data = bytearray(path.read_bytes())
    page = data.index(b"123.jpg") // 4096 * 4096
    data[page : page + 4096] = bytes(range(256)) * 16
    path.write_bytes(data)
    with opened(folder) as store:
        assert any("items.sqlite" in line for line in store.verify())
        with pytest.raises(IndexDamagedError, match=r"items\.sqlite"):
            list(store.scan())


@pytest.mark.parametrize("share", [0, 0.5, None])
@pytest.mark.parametrize("writable", [False, True])
def test_lost_log_is_named(folder, tmp_path, share, writable):
    with opened(folder, writable=True) as store:
        for i in range(20):
            store.add(np.zeros((1, 2), np.uint8), [Entry(f"new {i}")])
        copy = shutil.copytree(folder, tmp_path / "copy")  # as a crash would leave it
    (copy / "items.sqlite-shm").unlink()
    log = copy / "items.sqlite-wal"
    if share is None:
        log.unlink()
    else:
        os.truncate(log, int(share * log.stat().st_size))
    with pytest.raises(IndexDamagedError, match=r"items\.sqlite-wal"):
        LocalStore.open(str(copy), writable=writable)
    (copy / "confirmed").unlink()
    with opened(copy, writable=True) as store:
        assert 300 <= len(store) < 320
        assert store.verify() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "softhash index", "version": 3, "bits": 12}', "update it"),
        ('{"format": "other", "version": 1, "bits": 12}', "not 'softhash index'"),
        ('{"format": "softhash index", "version": 1, "bits": 16}', "12"),
        ('{"format": "softhash index"}', "damaged"),
        ("[]", "damaged"),
        ("[[[" * 30_000, "damaged"),
        ('{"format": "softhash index", "version": 1, "bits": 1e400}', "damaged"),
        ('{"format": "softhash index", "version": 1, "bits": 1' + "0" * 5000 + "}", "damaged"),
        ('{"format": "softhash index", "version": 1, "bits": 4096}', "damaged"),
        ('{"format": "softhash index", "version": 1, "bits": -1}', "damaged"),
        ('{"format": "softhash index", "version": true, "bits": 12}', "damaged"),
        ('{"format": "softhash index", "version": [], "bits": {}}', "damaged"),
        ('{"format": {}, "version": 1, "bits": 12}', "damaged"),
        ("\udcff", "damaged"),
    ],
)
def test_index_json_that_says_something_else_is_refused(folder, text, message):
    (folder / "index.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=f"index.*{message}"), opened(folder):
        pass


def test_what_is_no_index_is_said(tmp_path):
    (tmp_path / "file").touch()
    for name, message in (
        ("nothing", "does not exist"),
        ("file", "not a folder"),
        ("", "not an index"),
    ):
        with pytest.raises(InputError, match=message), opened(tmp_path / name):
            pass


@contextlib.contextmanager
def as_nobody():
    """Give up root's right to write everywhere."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def locked_folder():
    """Yield an index in a folder that nobody may write to."""
    above = Path(tempfile.mkdtemp())
    above.chmod(0o755)
    fill(above / "index")
    # compile before caches become unreadable; who writes leaves no -wal behind
    with opened(above / "index", writable=True) as store:
        store.search(np.zeros((1, 2), np.uint8), 1)
    for path in (above / "index").iterdir():
        path.chmod(0o444)
    (above / "index").chmod(0o555)
    yield above / "index"
    (above / "index").chmod(0o755)
    shutil.rmtree(above)


def test_read_only_folder_can_be_read(locked_folder):
    with as_nobody(), opened(locked_folder) as store:
        assert len(store) == 300
        assert len(store.search(np.zeros((1, 2), np.uint8), 7)[0]) == 7
        assert store.verify() == []
    names = {path.name for path in locked_folder.iterdir()}
    assert not names & {"items.sqlite-wal", "items.sqlite-shm"}


def test_read_only_folder_is_not_written_to(locked_folder):
    with as_nobody(), pytest.raises(InputError, match="cannot be written to"):
        LocalStore.open(str(locked_folder), writable=True)
    with as_nobody(), pytest.raises(InputError, match="Permission denied"):
        LocalStore.create(str(locked_folder / "new"), Meta(8))


@pytest.mark.skipif(os.geteuid() != 0, reason="takes two users")
def test_reader_of_a_read_only_folder_follows_somebody_who_may_write(locked_folder):
    with as_nobody():
        reader = LocalStore.open(str(locked_folder))
    with opened(locked_folder, writable=True) as writer:
        writer.add(np.zeros((1, 2), np.uint8), [Entry("new")])
        with as_nobody():
            assert len(reader) == 301
    with as_nobody():
        assert reader.find_names(["new"]) == {"new": 300}
        reader.close()
