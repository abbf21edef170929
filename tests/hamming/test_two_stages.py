"""Search in two stages, against the order of its definition by sorting everything."""

import numpy as np
import pytest

from softhash.hamming import nearest, pack_mask
from softhash.hamming.two_stages import CANDIDATES, choose_limit, nearest_in_two_stages


def clustered(n, words, seed=0):
    """Codes around a few centres, so that near codes are near in their first bits too."""
    rng = np.random.default_rng(seed)
    centres = rng.random((12, 64 * words)) < 0.5
    flipped = rng.random((n + 5, 64 * words)) < rng.uniform(0.02, 0.4, (n + 5, 1))
    bits = centres[rng.integers(0, 12, n + 5)] ^ flipped
    codes = np.packbits(bits, axis=1).view(np.uint64)
    return np.ascontiguousarray(codes[:n]), codes[n:]


def counted(words):
    return np.bitwise_count(words).sum(axis=1, dtype=np.int64)


def expected_order(query, codes, limit, mask):
    """Candidates by (distance, position), then all others by (distance, position)."""
    distances = counted(codes ^ query)
    behind = np.bitwise_count(codes[:, 0] ^ query[0]) > limit
    order = np.lexsort((np.arange(len(codes)), distances, behind))
    return [(int(distances[i]), int(i)) for i in order if mask is None or mask[i]]


def pairs(found):
    return list(zip(*(part.tolist() for part in found), strict=True))


@pytest.mark.parametrize("words", [2, 4])
@pytest.mark.parametrize("n", [3000, 4096, 4159])
@pytest.mark.parametrize("masked", [False, True])
def test_candidates_come_first_and_all_others_follow(words, n, masked):
    codes, queries = clustered(n, words)
    first = codes[:, 0].copy()
    mask = np.random.default_rng(1).random(n) < 0.7 if masked else None
    packed = None if mask is None else pack_mask(mask)
    staged = 0
    for query in queries:
        limit = choose_limit(query, first, packed)
        staged += limit is not None
        order = expected_order(query, codes, 64 if limit is None else limit, mask)
        for k in (1, 20, 700, n):
            found = nearest_in_two_stages(query, codes, first, k, packed)
            assert pairs(found) == order[:k]
    assert staged


def test_there_are_no_more_candidates_than_wanted():
    codes, queries = clustered(9000, 2)
    for query in queries:
        limit = choose_limit(query, codes[:, 0].copy(), None)
        distances = np.bitwise_count(codes[:, 0] ^ query[0])
        most = CANDIDATES * len(codes) ** 0.5
        assert (distances <= limit).sum() <= most < (distances <= limit + 1).sum()


def test_where_many_first_bits_are_equal_the_search_is_exact():
    codes, queries = clustered(5000, 4)
    codes[1000:, 0] = codes[0, 0]
    first = codes[:, 0].copy()
    query = codes[0]
    assert choose_limit(query, first, None) is None
    found = nearest_in_two_stages(query, codes, first, 50)
    exact = nearest(query[np.newaxis].view(np.uint8), codes.view(np.uint8), 50)
    np.testing.assert_array_equal(found, [part[0] for part in exact])
    assert len(queries)


def test_most_of_the_nearest_are_found_where_first_bits_are_a_code():
    codes, queries = clustered(20_000, 4)
    first, found = codes[:, 0].copy(), 0
    for query in queries:
        exact = nearest(query[np.newaxis].view(np.uint8), codes.view(np.uint8), 20)[1][0]
        places = nearest_in_two_stages(query, codes, first, 20)[1]
        found += len(set(places) & set(exact))
    assert found >= 0.95 * 20 * len(queries)
