"""Who may read and write an index and a cache of rows is up to the umask."""

import os
import stat
import sys

import numpy as np
import pytest

from softhash.data.row_cache import RowCache
from softhash.index.items import Entry
from softhash.index.local import LocalStore
from softhash.index.store import Meta

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no umask")


def modes(folder):
    """Return the modes of all folders and of all files."""
    paths = [folder, *folder.rglob("*")]
    kinds = {True: set(), False: set()}
    for path in paths:
        kinds[path.is_dir()].add(stat.S_IMODE(path.stat().st_mode))
    return kinds[True], kinds[False]


@pytest.mark.parametrize("mask", [0o077, 0o002])
def test_the_umask_decides_who_may_use_an_index_and_a_cache(tmp_path, mask):
    before = os.umask(mask)
    try:
        store = LocalStore.create(str(tmp_path / "made" / "index"), Meta(8))
        labels = tuple(f"label {i}" for i in range(70))  # more than fit: another file is made
        store.add(np.zeros((1, 1), np.uint8), [Entry("a.jpg", labels)])
        with RowCache(tmp_path / "made" / "cache", tmp_path, "sums", (2,), np.uint8) as cache:
            cache.reserve(["a.jpg"])
            assert modes(tmp_path / "made") == ({0o777 & ~mask}, {0o666 & ~mask})
        store.close()
    finally:
        os.umask(before)
