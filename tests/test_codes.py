import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from softhash.codes import check_packed, pack, row_bytes, unpack
from softhash.errors import InputError, UsageError


@given(
    hnp.arrays(
        np.float32,
        st.tuples(st.integers(0, 5), st.integers(1, 200)),
        elements=st.floats(-2, 2, width=32),
    )
)
def test_unpack_gives_back_the_signs(u):
    bits = unpack(pack(u), bits=u.shape[1])
    assert np.array_equal(bits, [[int(value > 0) for value in row] for row in u.tolist()] or bits)


@pytest.mark.parametrize("bits", [1, 7, 8, 12, 36, 48, 64, 100, 1024])
def test_pack_takes_a_byte_for_eight_bits(bits):
    codes = pack(np.ones((3, bits)))
    assert codes.shape == (3, row_bytes(bits)) == (3, -(-bits // 8))
    assert np.bitwise_count(codes).sum() == 3 * bits


def test_pack_puts_zero_at_zero():
    assert pack([[0.0] * 8]).item() == 0
    assert pack([[-0.0, 1e-30] * 4]).item() == 0b01010101


def test_pack_refuses_nan_and_names_the_row():
    with pytest.raises(InputError, match="NaN, first in row 2"):
        pack([[1.0], [2.0], [np.nan]])


@pytest.mark.parametrize("bits", [0, -1, 1025])
def test_bits_outside_the_range_are_refused(bits):
    with pytest.raises(UsageError, match=f"not {bits}"):
        row_bytes(bits)


def test_pack_refuses_a_vector():
    with pytest.raises(InputError, match="shape"):
        pack([1.0, 2.0])


def test_check_packed_names_the_bits_that_would_fit():
    with pytest.raises(InputError, match=r"6 bytes per row, but 64 bits need 8; they fit 41 to 48"):
        check_packed(np.zeros((2, 6), np.uint8), 64)


def test_check_packed_refuses_bits_in_the_padding():
    with pytest.raises(InputError, match="after bit 12"):
        check_packed(np.array([[0, 0], [0, 8]], np.uint8), 12)
    check_packed(np.array([[0, 0], [0, 16]], np.uint8), 12)


def test_check_packed_refuses_other_types():
    with pytest.raises(InputError, match="int64"):
        check_packed(np.zeros((2, 6), np.int64), 48)
