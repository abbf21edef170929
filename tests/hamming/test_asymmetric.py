"""Asymmetric distances, against sums bit by bit."""

import numpy as np
import pytest

from softhash.codes import pack, unpack
from softhash.errors import InputError
from softhash.hamming.asymmetric import asymmetric_distances
from softhash.hamming.rescoring import reranked


def by_hand(u, codes):
    """Sum what each bit that differs weighs, one after the other."""
    found = []
    for bits in unpack(codes, len(u)):
        distance = 0.0
        for value, bit in zip(u, bits, strict=True):
            if (value > 0) != bool(bit):
                distance += abs(float(value))
        found.append(distance)
    return found


@pytest.mark.parametrize("bits", [1, 7, 8, 12, 48, 64, 131, 1024])
def test_distances_are_sums_over_the_bits_that_differ(bits):
    rng = np.random.default_rng(bits)
    u = rng.normal(size=(3, bits)).astype(np.float32)
    u[1, ::3] = 0.0  # a bit that is neither costs nothing
    codes = pack(rng.normal(size=(40, bits)))
    found = asymmetric_distances(u, codes)
    assert found == pytest.approx(np.array([by_hand(one, codes) for one in u]))
    assert (asymmetric_distances(u[0], codes) == found[0]).all()
    signs = 2.0 * unpack(codes, bits) - 1
    norms = np.abs(u.astype(float)).sum(axis=1, keepdims=True)
    assert found == pytest.approx((norms - u.astype(float) @ signs.T) / 2)


def test_equal_weights_give_the_hamming_distance():
    rng = np.random.default_rng(0)
    u, codes = np.sign(rng.normal(size=48)), pack(rng.normal(size=(500, 48)))
    hamming = np.bitwise_count(codes ^ pack(u[np.newaxis])).sum(axis=1)
    assert (asymmetric_distances(u, codes) == hamming).all()


def test_equal_codes_are_at_equal_distances_and_stay_in_order():
    rng = np.random.default_rng(1)
    few = pack(rng.normal(size=(5, 131)))
    which = rng.integers(0, 5, 5000)
    u = rng.normal(size=131)
    order, distances = reranked(asymmetric_distances(u, few[which]))
    assert len(set(distances.tolist())) == 5
    expected = sorted(range(5000), key=lambda i: (asymmetric_distances(u, few)[which[i]], i))
    assert order.tolist() == expected


def test_nothing_is_ranked_as_nothing():
    none = np.empty((0, 2), np.uint8)
    assert asymmetric_distances(np.ones(12), none).shape == (0,)
    assert asymmetric_distances(np.ones((3, 12)), none).shape == (3, 0)
    assert asymmetric_distances(np.ones((0, 12)), pack(np.ones((4, 12)))).shape == (0, 4)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_outputs_that_are_no_numbers_are_refused(bad):
    with pytest.raises(InputError, match="did training diverge"):
        asymmetric_distances([1.0, bad], pack([[1, 1]]))


def test_shapes_that_do_not_fit_are_named():
    with pytest.raises(InputError, match=r"shape \(1, 1, 2\)"):
        asymmetric_distances(np.ones((1, 1, 2)), pack([[1, 1]]))
    with pytest.raises(InputError, match="1 bytes per row, but 12 bits need 2"):
        asymmetric_distances(np.ones(12), pack([[1, 1]]))
