"""Exact Hamming search over packed codes.

Arrays are numpy (a `np.memmap` is read in place) or CUDA tensors; with CUDA tensors the same
functions run on the GPU and return tensors. Distances and positions come in (distance, position)
order: ties fall to the lower position.

>>> import numpy as np
>>> codes = np.array([[0b00000000], [0b00000001], [0b11111111], [0b00000010]], np.uint8)
>>> nearest(codes[:1], codes, k=3)
(array([[0, 1, 1]]), array([[0, 1, 3]]))
>>> nearest(codes[:1], codes, k=3, mask=np.array([False, True, True, False]))
(array([[1, 8]]), array([[1, 2]]))
>>> within(codes[:1], codes, radius=1)
[(array([0, 1, 1]), array([0, 1, 3]))]
"""

from softhash.hamming import _cpu
from softhash.hamming._checks import (
    Array,
    check_k,
    check_pair,
    check_radius,
    count_threads,
    on_gpu,
    packed_mask,
)
from softhash.hamming.words import count_live


def nearest(
    queries: Array, codes: Array, k: int, *, mask: Array | None = None, threads: int | None = None
) -> tuple[Array, Array]:
    """Find the ``k`` codes nearest to each query.

    Args:
        queries: packed codes (q, bytes).
        codes: packed codes (n, bytes) to search in.
        k: how many to find for each query.
        mask: (n,), True for the items that count; `pack_mask` packs one that is used often.
        threads: of the processor; all usable cores by default.

    Returns:
        Distances and positions, both (q, k), nearest first; fewer columns where fewer items count.

    """
    check_pair(queries, codes)
    check_k(k)
    if on_gpu(queries, codes):
        from softhash.hamming import _cuda_search

        return _cuda_search.nearest(queries, codes, k, mask)
    live = packed_mask(mask, len(codes))
    k = min(k, count_live(live) if mask is not None else len(codes))
    return _cpu.nearest(queries, codes, k, live, count_threads(threads))


def within(
    queries: Array,
    codes: Array,
    radius: int,
    *,
    mask: Array | None = None,
    threads: int | None = None,
) -> list[tuple[Array, Array]]:
    """Find all codes at distance ``radius`` or less of each query.

    Args:
        queries: packed codes (q, bytes).
        codes: packed codes (n, bytes) to search in.
        radius: the largest distance, 0 or more.
        mask: (n,), True for the items that count; `pack_mask` packs one that is used often.
        threads: of the processor; all usable cores by default.

    Returns:
        For each query its distances and positions, nearest first.

    """
    check_pair(queries, codes)
    check_radius(radius)
    if on_gpu(queries, codes):
        from softhash.hamming import _cuda_search

        return _cuda_search.within(queries, codes, radius, mask)
    live = packed_mask(mask, len(codes))
    return _cpu.within(queries, codes, radius, live, count_threads(threads))
