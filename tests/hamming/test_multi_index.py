"""Multi-index hashing against the scan, and the self-join against all distances."""

import numpy as np
import pytest

from softhash.errors import InputError, UsageError
from softhash.hamming import MultiIndex, multi_index, nearest, pack_mask, self_join, within
from softhash.hamming._buckets import choose_bits
from softhash.hamming.multi_index import choose_shape

SHAPES = [  # codes, bytes of each, tables, bits of a key
    (3000, 2, 2, 5),
    (3000, 3, 4, 4),
    (500, 8, None, None),
    (20_000, 12, None, None),
    (4000, 8, 3, 6),
    (70, 16, 4, 3),
    (1, 1, None, None),
]


def skewed(n, row_bytes, seed=0):
    """Codes of which some are equal, with more zeros than ones, and queries among and off them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (n, row_bytes), np.uint8)
    codes &= rng.integers(0, 256, (n, row_bytes), np.uint8)
    codes[rng.integers(0, n, n // 4)] = codes[0]
    return codes, np.concatenate([codes[:4], rng.integers(0, 256, (4, row_bytes), np.uint8)])


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


@pytest.fixture(params=["looked up", "scanned"])
def budget(request, monkeypatch):
    """Once no query is given up, once all of them are."""
    share = 1e-9 if request.param == "looked up" else 1e9
    monkeypatch.setattr(multi_index, "SCAN_SHARE", share)


@pytest.mark.usefixtures("budget")
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("n", "row_bytes", "tables", "key_bits"), SHAPES)
def test_results_are_those_of_a_scan_to_the_last_tie(n, row_bytes, tables, key_bits, masked):
    codes, queries = skewed(n, row_bytes)
    mask = np.random.default_rng(1).random(n) < 0.4 if masked and n > 1 else None
    index = MultiIndex.build(codes, tables=tables, key_bits=key_bits)
    for k in (1, 7, 100, 5000):
        found = index.nearest(queries, k, mask=mask, threads=2)
        assert_same([found], [nearest(queries, codes, k, mask=mask)])
    for radius in (0, 1, 3, 6, 200):
        found = index.within(queries, radius, mask=mask)
        wanted = within(queries, codes, radius, mask=mask)
        assert_same(found, wanted)
        for k in (1, 50):
            found = index.within(queries, radius, k=k, mask=mask)
            assert_same(found, [(distances[:k], places[:k]) for distances, places in wanted])


def test_an_index_is_put_together_from_its_arrays():
    codes, queries = skewed(700, 8)
    arrays = MultiIndex.build(codes).arrays
    found = MultiIndex.of_arrays(codes, {name: one.copy() for name, one in arrays.items()})
    assert_same([found.nearest(queries, 9)], [nearest(queries, codes, 9)])


def test_a_packed_mask_will_do_and_one_that_keeps_nothing_finds_nothing():
    codes, queries = skewed(300, 4)
    index, mask = MultiIndex.build(codes), np.arange(300) % 3 == 0
    assert_same([index.nearest(queries, 5, mask=pack_mask(mask))],
                [nearest(queries, codes, 5, mask=mask)])  # fmt: skip
    nothing = np.zeros(300, bool)
    assert index.nearest(queries, 5, mask=nothing)[0].shape == (8, 0)
    assert all(len(found[0]) == 0 for found in index.within(queries, 2, mask=nothing))


def test_a_near_neighbour_is_found_without_a_scan(monkeypatch):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (50_000, 8), np.uint8)
    index = MultiIndex.build(codes)
    query = codes[77:78] ^ np.array([1, 0, 128, 0, 0, 2, 0, 0], np.uint8)
    monkeypatch.setattr(multi_index, "SCAN_SHARE", 1)
    monkeypatch.setattr(multi_index.search, "nearest", None)
    monkeypatch.setattr(multi_index.search, "within", None)
    assert index.nearest(query, 1)[1].tolist() == [[77]]
    assert index.within(query, 3)[0][1].tolist() == [77]
    assert index.within(query, 2)[0][1].tolist() == []


def test_keys_are_of_bits_that_differ():
    rng = np.random.default_rng(0)
    bits = np.repeat(rng.integers(0, 2, (2000, 16), np.uint8), 2, axis=1)  # each bit twice
    bits = np.concatenate(
        [bits, np.zeros((2000, 32), np.uint8)], axis=1
    )  # and bits that say nothing
    chosen = choose_bits(np.packbits(bits, axis=1), tables=2, key_bits=16)
    for key in chosen.tolist():
        assert sorted(bit // 2 for bit in key) == list(range(16))


@pytest.mark.parametrize(("tables", "key_bits"), [(0, None), (5, 16), (1, 27), (3, 0)])
def test_a_shape_that_does_not_fit_is_refused(tables, key_bits):
    with pytest.raises(UsageError, match="do not fit"):
        choose_shape(1000, 64, tables, key_bits)


def test_what_cannot_be_searched_is_refused():
    index = MultiIndex.build(np.zeros((9, 8), np.uint8))
    with pytest.raises(InputError):
        index.nearest(np.zeros((1, 4), np.uint8), 1)
    with pytest.raises(UsageError):
        index.nearest(np.zeros((1, 8), np.uint8), 0)
    with pytest.raises(UsageError):
        index.within(np.zeros((1, 8), np.uint8), -1)


def all_pairs(codes, radius):
    apart = np.bitwise_count(codes[:, np.newaxis] ^ codes).sum(axis=2, dtype=np.int64)
    first, second = np.nonzero(np.triu(apart <= radius, 1))
    return list(zip(first.tolist(), second.tolist(), apart[first, second].tolist(), strict=True))


def joined(pieces):
    return [pair for piece in pieces for pair in zip(*(p.tolist() for p in piece), strict=True)]


@pytest.mark.parametrize(
    ("row_bytes", "radius"), [(2, 0), (2, 2), (8, 3), (8, 20), (16, 30), (1, 99)]
)
def test_a_self_join_has_every_pair_once_in_order(row_bytes, radius):
    codes, _ = skewed(700, row_bytes)
    assert joined(self_join(codes, radius, threads=2)) == all_pairs(codes, radius)


def test_pieces_of_a_self_join_are_bounded(monkeypatch):
    monkeypatch.setattr("softhash.hamming.pairs.MAX_PAIRS", 50)
    codes, _ = skewed(900, 4)
    pieces = list(self_join(codes, 4, threads=2))
    most = max(np.bincount(np.concatenate([piece.first for piece in pieces])))
    assert max(len(piece.first) for piece in pieces) < 50 + most
    assert joined(pieces) == all_pairs(codes, 4)


def test_a_self_join_may_take_the_nearest_partners_alone():
    codes, _ = skewed(500, 3)
    expected = []
    for first in range(500):
        partners = sorted((d, j) for i, j, d in all_pairs(codes, 5) if i == first)[:2]
        expected += sorted((first, j, d) for d, j in partners)
    assert joined(self_join(MultiIndex.build(codes), 5, k=2)) == expected


def test_a_self_join_refuses_what_makes_no_sense():
    with pytest.raises(UsageError):
        self_join(np.zeros((3, 8), np.uint8), -1)
    with pytest.raises(UsageError):
        self_join(np.zeros((3, 8), np.uint8), 1, k=0)
