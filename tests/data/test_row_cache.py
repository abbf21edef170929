"""A cache that somebody else has had his hands in."""

import os
import sqlite3
import sys

import numpy as np
import pytest

from softhash.data.image_set import ImageSet
from softhash.data.row_cache import Computed, RowCache, fill
from softhash.errors import InputError

NAMES = ("a.jpg", "b.jpg", "c.jpg")


@pytest.fixture
def compute(tmp_path):
    """Bring a cache of three files up to date; return what was computed, and all rows."""
    root = tmp_path / "photos"
    root.mkdir()
    for name in NAMES:
        (root / name).write_text(name)
    images = ImageSet(root, NAMES, np.zeros((3, 0), np.uint8), ())

    def run():
        done = []

        def numbers(order):
            done.extend(order)
            yield Computed(np.array(order, int), np.array([[i, i + 10] for i in order]), ())

        with RowCache(tmp_path / "cache", root, "numbers", (2,), np.int64) as store:
            where, _ = fill(store, images, numbers)
            return done, np.array(store.array()[where]).tolist(), store.path

    return run


ROWS = [[0, 10], [1, 11], [2, 12]]


def test_a_cache_is_used_as_it_was_left(compute):
    assert compute()[:2] == ([0, 1, 2], ROWS)
    assert compute()[:2] == ([], ROWS)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE pictures SET row = 0",
        "UPDATE pictures SET row = -row",
        "UPDATE pictures SET row = 'x' WHERE row = 1",
        "UPDATE pictures SET row = 1.5 WHERE row = 1",
        "DELETE FROM pictures WHERE row = 0",
        "UPDATE pictures SET name = CAST(name AS TEXT)",
        "DROP TABLE pictures",
        "ALTER TABLE pictures DROP COLUMN bytes",
    ],
)
def test_an_index_that_does_not_fit_its_rows_is_made_anew(statement, compute):
    path = compute()[2]
    with sqlite3.connect(path.with_suffix(".sqlite")) as index:
        index.execute(statement)
    index.close()
    assert compute()[:2] == ([0, 1, 2], ROWS)


@pytest.mark.parametrize("header", [b"-" * 9000, b"(" * 9000, b"{'shape': (-1, 2)}", b"\xff"])
def test_a_header_that_is_not_ours_means_that_nothing_is_stored(header, compute):
    path = compute()[2]
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    path.write_bytes(data + path.read_bytes()[len(data) :])
    assert compute()[:2] == ([0, 1, 2], ROWS)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize("suffix", [".npy", ".sqlite", ".lock"])
def test_a_cache_that_others_can_write_is_refused(suffix, compute, tmp_path, monkeypatch):
    file = compute()[2].with_suffix(suffix)
    file.chmod(0o666)
    with pytest.raises(InputError, match="you alone"):
        compute()
    file.chmod(0o644)
    if os.geteuid() == 0:
        os.chown(file, 4321, -1)
        with pytest.raises(InputError, match="you alone"):
            compute()
        os.chown(file, 0, -1)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="you alone"):
        compute()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_cache_made_without_a_umask_is_used_again(compute):
    before = os.umask(0)
    try:
        compute()
        assert compute()[0] == []
    finally:
        os.umask(before)
