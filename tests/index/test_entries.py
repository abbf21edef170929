"""What an index keeps of a file: times that 64 bits of nanoseconds cannot hold."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

from softhash.data.image_set import ImageSet
from softhash.data.row_cache import RowCache, Stamp
from softhash.files import modified_ns
from softhash.index.entries import file_status, file_statuses, read_entry
from softhash.index.local import LocalStore
from softhash.index.store import Meta

SECOND = 10**9
YEAR_2300, YEAR_1600 = 10_413_792_000 * SECOND, -11_676_096_000 * SECOND


@pytest.mark.parametrize("now", [0, 1_700_000_000 * SECOND, 2**63 - 1, -(2**63)])
def test_a_time_within_64_bits_is_kept_as_it_is(now):
    assert modified_ns(SimpleNamespace(st_mtime_ns=now)) == now


def test_other_times_fit_and_are_told_apart():
    times = [YEAR_2300, YEAR_2300 + 1, YEAR_1600, YEAR_1600 - 1, 0]
    found = [modified_ns(SimpleNamespace(st_mtime_ns=time)) for time in times]
    assert len(set(found)) == len(times)
    assert np.array(found, np.int64).tolist() == found


@pytest.fixture
def dated(tmp_path):
    path = tmp_path / "late.jpg"
    path.write_bytes(b"a picture")
    os.utime(path, ns=(YEAR_2300, YEAR_2300))
    if path.stat().st_mtime_ns != YEAR_2300:
        pytest.skip("this file system has no such date")
    return path


def test_a_file_dated_after_2262_is_stored_and_found_unchanged(dated, tmp_path):
    images = ImageSet(tmp_path, ("late.jpg",), np.zeros((1, 0), np.uint8), ())
    status = file_status(dated)
    entry = read_entry(dated, "late.jpg", (), status)
    store = LocalStore.create(str(tmp_path / "index"), Meta(8))
    store.add(np.zeros((1, 1), np.uint8), [entry])
    (kept,) = (entry for _, entry in store.scan())
    store.close()
    assert (kept.size, kept.modified) == status == tuple(file_statuses(images)[0])
    assert kept.sha256


def test_the_row_of_a_file_dated_after_2262_is_cached(dated, tmp_path):
    with RowCache(tmp_path / "cache", tmp_path, "sums", (2,), np.uint8) as cache:
        cache.reserve(["late.jpg"])
        cache.put(["late.jpg"], [Stamp.of(dated)], np.ones((1, 2), np.uint8))
        assert cache.stamps() == {"late.jpg": Stamp.of(dated)}


def test_a_file_that_cannot_be_read_again_has_neither_size_nor_time(tmp_path):
    """So that the next update sees that it is another, and encodes it again."""
    entry = read_entry(tmp_path, "a folder, which no hash is of", ("sea",), (5, 7))
    assert (entry.size, entry.modified, entry.sha256) == (0, 0, "")
