"""Rows of a file: those asked for, in the order asked for, or an error that names the file."""

import numpy as np
import pytest

from softhash.data.row_file import RowFile
from softhash.errors import InputError

SHAPE = (9, 4, 5, 3)


@pytest.fixture
def array():
    return np.random.default_rng(0).integers(0, 256, SHAPE, dtype=np.uint8)


@pytest.fixture
def file(array, tmp_path):
    np.save(tmp_path / "rows.npy", array)
    return RowFile.of(np.load(tmp_path / "rows.npy", mmap_mode="r"))


def read(file, rows):
    target = np.full((len(rows), *SHAPE[1:]), 77, np.uint8)
    file.read(np.array(rows, np.int64), target)
    return target


@pytest.mark.parametrize("rows", [[0], [8, 0, 3], [5, 5, 1, 5], list(range(9)), []])
def test_rows_come_in_the_order_that_was_asked_for(array, file, rows):
    np.testing.assert_array_equal(read(file, rows), array[np.array(rows, np.int64)])


def test_a_row_beyond_the_end_is_an_error_and_those_before_can_be_read(array, file):
    with file.path.open("r+b") as stream:
        stream.truncate(file.offset + 6 * 60 + 59)
    np.testing.assert_array_equal(read(file, [5, 2]), array[[5, 2]])
    for rows in ([6], [2, 6, 1], [8]):
        with pytest.raises(InputError, match=r"rows\.npy cannot be read: .*cut off; start again"):
            read(file, rows)


def test_a_file_that_is_gone_is_an_error(file):
    file.path.unlink()
    with pytest.raises(InputError, match=r"rows\.npy cannot be read: No such file"):
        read(file, [1])


def test_an_array_with_gaps_is_refused_instead_of_left_unfilled(file):
    with pytest.raises((TypeError, BufferError)):
        file.read(np.array([1]), np.empty((2, *SHAPE[1:]), np.uint8)[:, :, ::2][:1])
