from contextlib import suppress

import numpy as np
import pytest

from softhash import InputError, SofthashError, UsageError, pack
from softhash.data.arrays import read_array, read_codes, read_labels

U = np.random.default_rng(0).normal(size=(9, 12))


@pytest.fixture
def save(tmp_path):
    def save_array(array):
        np.save(tmp_path / "array.npy", array, allow_pickle=True)
        return tmp_path / "array.npy"

    return save_array


@pytest.mark.parametrize(
    "array",
    [
        pack(U),
        U > 0,
        (U > 0).astype(np.uint8),
        np.sign(U),
        np.sign(U).astype(np.int8),
        np.where(U > 0, 1.0, 0.0).astype(np.float16),
    ],
    ids=["packed", "bool", "0/1", "±1 float", "±1 int8", "0/1 half"],
)
def test_codes_are_told_apart(save, array):
    assert np.array_equal(read_codes(save(array), bits=12), pack(U))


def test_one_bit_codes_are_told_apart_by_value(save):
    bits = np.array([[1], [0], [1]], np.uint8)
    assert np.array_equal(read_codes(save(bits), bits=1), pack(bits))
    assert np.array_equal(read_codes(save(pack(bits)), bits=1), pack(bits))


def test_layout_overrules_the_guess(save):
    path = save(np.ones((2, 8), np.uint8))  # 8 bits of 1, or 64 bits packed
    assert read_codes(path, bits=8).shape == (2, 1)
    assert read_codes(path, bits=64).shape == (2, 8)
    with pytest.raises(InputError, match="8 bytes per row, but 8 bits need 1"):
        read_codes(path, bits=8, layout="packed")
    with pytest.raises(UsageError, match="unknown layout 'pakced'; did you mean 'packed'"):
        read_codes(path, bits=8, layout="pakced")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (U, r"holds -?\d.* in row 0, column 0; unpacked codes are 0 and 1, or -1 and 1"),
        (np.full((2, 12), np.nan), "holds nan in row 0, column 0"),
        (np.tile([-1, 0, 1], (2, 4)), "holds -1, 0 and 1"),
        (np.zeros((0, 12)), "holds no codes"),
        (np.zeros(12), r"shape \(12,\); codes are a matrix"),
        (np.zeros((3, 11)), "11 columns of float64, but 12 bits need 2 columns of uint8"),
        (np.zeros((3, 12), "U1"), "not numbers"),
        (np.zeros((3, 12), complex), "not numbers"),
        (pack(np.ones((2, 16))), "bits set after bit 12"),
    ],
)
def test_wrong_codes_are_named(save, array, message):
    with pytest.raises(InputError, match=message):
        read_codes(save(array), bits=12)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([[0, 2]]), "holds 2 in row 0, column 1"),
        (np.array([[0.0], [np.nan]]), "holds nan in row 1, column 0"),
        (np.zeros(3), "labels are a matrix"),
        (np.zeros((3, 0)), "holds no labels"),
    ],
)
def test_wrong_labels_are_named(save, array, message):
    with pytest.raises(InputError, match=message):
        read_labels(save(array))


def test_labels_may_be_bool_or_float(save):
    labels = np.array([[1, 0], [0, 1]], np.uint8)
    for kind in (bool, float, np.int64):
        read = read_labels(save(labels.astype(kind)))
        assert read.dtype == np.uint8
        assert np.array_equal(read, labels)


def test_files_that_are_no_arrays_are_named(tmp_path, save):
    with pytest.raises(InputError, match="does not exist"):
        read_array(tmp_path / "absent.npy")
    with pytest.raises(InputError, match="folder"):
        read_array(tmp_path)
    with pytest.raises(InputError, match="has Python objects"):
        read_array(save(np.array([{"a": 1}], dtype=object)))
    np.savez(tmp_path / "many.npz", a=U)
    with pytest.raises(InputError, match=r"\.npz"):
        read_array(tmp_path / "many.npz")
    for content in (b"", b"hello", b"\x93NUMPY", b"\x80\x04K\x01."):
        (tmp_path / "file.npy").write_bytes(content)
        with pytest.raises(InputError, match=r"not a readable \.npy"):
            read_array(tmp_path / "file.npy")


def test_mutated_files_raise_only_our_errors(tmp_path):
    """A few thousand files with bytes changed, cut or added."""
    rng = np.random.default_rng(1)
    np.save(tmp_path / "good.npy", pack(U))
    good = (tmp_path / "good.npy").read_bytes()
    path = tmp_path / "bad.npy"
    for _ in range(2000):
        data = bytearray(good)
        for _ in range(rng.integers(1, 4)):
            data[rng.integers(0, len(data))] = rng.integers(0, 256)
        path.write_bytes(bytes(data[: rng.integers(0, len(data) + 1)]))
        with suppress(SofthashError):
            read_codes(path, bits=12)
